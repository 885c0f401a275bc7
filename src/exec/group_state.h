/*
 * group_state.h
 *		A running MgpuGroup node, for the files that implement it.
 */
#ifndef MGPU_EXEC_GROUP_STATE_H
#define MGPU_EXEC_GROUP_STATE_H

#include "exec/aggregate.h"
#include "exec/group_fold.h"
#include "exec/node.h"

/* An entry of the scan tuple: an aggregate, or else a column of the group's first row. */
typedef struct group_output
{
	group_aggregate *aggregate; /* NULL: none */
	int			column;
} group_output;

typedef struct group_state
{
	node_state	node;			/* its rows are those at hand, or groups that take their place */
	group_method method;
	group_keys	keys;
	group_fold *fold;			/* NULL: groups are found by sorting, once all rows are there */
	chunk	   *others;			/* rows that the fold has no memory for */
	const chunk *shown;			/* GROUP_PARTIAL: groups to return, with their states */
	uint64		next_shown;		/* the first that is in no pack yet */
	ExprContext *state_context; /* of transition states of one group */
	group_input input;			/* its context has all memory derived from the current rows */
	device_query *device;		/* what a GPU was asked, which has computed all groups; NULL: it has not */
	uint32		next_group;		/* next group of input to return */
	int			num_outputs;
	group_output *outputs;
	List	   *aggregates;
	List	   *values;			/* of groups, for mode() and aggregates with DISTINCT (group_values.c) */
	List	   *tests;			/* of conditions that leave out groups of an answer (group_having.c) */

	/* for EXPLAIN */
	int64		num_groups;		/* since the last rescan that read rows */
	const char *key_form;
	const char *executor;		/* of the sort of keys; set together with the next two */
	const char *algorithm;
	int			num_threads;
} group_state;

/*
 * Have a GPU read and group the rows (group_device.c).  False: it cannot, or the CPU is expected to be faster; nothing has
 * been read.  The groups come some at a time: as many as there is memory for.
 */
extern bool group_device_run(group_state *state, uint64 expected_rows);
extern bool group_device_next(group_state *state);
extern void group_device_forget(group_state *state);

/* Add the keys of an answer's groups at hand to rows with the columns of the node's; not those that are fetched in the end. */
extern void group_device_put_keys(const device_query *query, chunk *rows);

/*
 * Find the different values of groups that aggregates want beside what a job has found; false: that cannot be, or they need too much memory.
 * Then, have the aggregates take those of the groups at hand.
 */
extern bool group_values_find(group_state *state, uint64 expected_rows);
extern void group_values_number(const group_state *state);
extern void group_values_forget(group_state *state);
extern int64 group_values_count(const group_state *state);

/* Look for such conditions; leave out groups at hand that fail one for sure. */
extern void group_having_start(group_state *state);
extern void group_having_cut(group_state *state);

/*
 * Grouping sets (group_sets.c).  A query of the groups that this set has of those of another, whose node has run already; NULL: there is none.
 * Have others find the answer of this node's own, until it is forgotten.
 */
extern device_query *group_sets_merge(const group_state *state);
extern void group_sets_share(const group_state *state);
extern void group_sets_withdraw(const group_state *state);

/* Put the next pack of groups with their states into the scan slot (group_partial.c).  NULL: there are no more. */
extern TupleTableSlot *group_partial_next(group_state *state);

/* A chunk for such packs, in context: the columns of like, and the states of aggregates. */
extern chunk *group_partial_rows(MemoryContext context, const chunk *like, List *aggregates);

/* For EXPLAIN (group_explain.c). */
extern void group_explain(node_state *node, List *ancestors, struct ExplainState *es);
extern void group_explain_run(node_state *node, struct ExplainState *es);

#endif							/* MGPU_EXEC_GROUP_STATE_H */
