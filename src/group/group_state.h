/*
 * group_state.h
 *		A running MgpuGroup node, for the files that implement it.
 */
#ifndef MGPU_GROUP_GROUP_STATE_H
#define MGPU_GROUP_GROUP_STATE_H

#include "columns/spill.h"
#include "group/aggregate.h"
#include "group/group_fold.h"
#include "group/group_node.h"
#include "plan/keys.h"
#include "plan/row_source.h"
#include "plan/rows.h"

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
	bool		on_device;		/* by a GPU, which has computed all groups */
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
	int64		copied_pages;	/* for a GPU */
} group_state;

/*
 * Read the rows of the next groups: of the child at first, of a partition later (group_read.c).  False: there are
 * none.
 */
extern bool group_read(group_state *state);

/*
 * Have a GPU read and group the rows (group_device.c).  False: it cannot, or the CPU is expected to be faster; nothing has
 * been read.
 */
extern bool group_device_run(group_state *state, uint64 expected_rows);

/* Put the next pack of groups with their states into the scan slot (group_partial.c).  NULL: there are no more. */
extern TupleTableSlot *group_partial_next(group_state *state);

/* A chunk for such packs, in context: the columns of like, and the states of aggregates. */
extern chunk *group_partial_rows(MemoryContext context, const chunk *like, List *aggregates);

/* ExplainCustomScan (group_explain.c). */
extern void group_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_GROUP_GROUP_STATE_H */
