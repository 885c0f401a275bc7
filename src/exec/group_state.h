/*
 * group_state.h
 *		A running MgpuGroup node, for the files that implement it.
 */
#ifndef MGPU_EXEC_GROUP_STATE_H
#define MGPU_EXEC_GROUP_STATE_H

#include "batch/group_keys.h"
#include "batch/rows.h"
#include "batch/spill.h"
#include "exec/aggregate.h"
#include "exec/group_fold.h"
#include "query/query.h"
#include "scan/row_source.h"

/* An entry of the scan tuple: an aggregate, or else a column of the group's first row. */
typedef struct group_output
{
	group_aggregate *aggregate; /* NULL: none */
	int			column;
} group_output;

typedef struct group_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	group_method method;
	group_keys	keys;
	chunk	   *rows;
	row_source *source;			/* unless the child returns packs */
	Size		row_bytes;		/* most memory that a row takes, but for its values of variable width */
	group_fold *fold;			/* NULL: groups are found by sorting, once all rows are there */
	chunk	   *others;			/* rows that the fold has no memory for */
	const chunk *shown;			/* GROUP_PARTIAL: groups to return, with their states */
	spill		spill;
	ExprContext *state_context; /* of transition states of one group */
	group_input input;			/* its context has all memory derived from the current rows */
	bool		collected;		/* all rows of the child have been read */
	device_query *device;		/* what a GPU was asked, which has computed all groups; NULL: it has not */
	uint32		next_group;		/* next group of input to return */
	int			num_outputs;
	group_output *outputs;
	List	   *aggregates;

	/* for EXPLAIN */
	int64		num_groups;		/* this and the next since the last rescan that read rows */
	Size		most_bytes;
	const char *key_form;
	const char *executor;		/* of the sort of keys; set together with the next two */
	const char *algorithm;
	int			num_threads;
} group_state;

/*
 * Read the rows of the next groups: of the child at first, of a partition later (group_read.c).  False: there are
 * none.
 */
extern bool group_read(group_state *state);

/*
 * Have a GPU read and group the rows (group_device.c).  False: it cannot, or the CPU is expected to be faster; nothing has
 * been read.  The groups come some at a time: as many as there is memory for.
 */
extern bool group_device_run(group_state *state, uint64 expected_rows);
extern bool group_device_next(group_state *state);
extern void group_device_forget(group_state *state);

/* Put the next pack of groups with their states into the scan slot (group_partial.c).  NULL: there are no more. */
extern TupleTableSlot *group_partial_next(group_state *state);

/* A chunk for such packs, in context: the columns of like, and the states of aggregates. */
extern chunk *group_partial_rows(MemoryContext context, const chunk *like, List *aggregates);

/* ExplainCustomScan (group_explain.c). */
extern void group_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_EXEC_GROUP_STATE_H */
