/*
 * aggregate.h
 *		An aggregate that MgpuGroup runs.
 */
#ifndef MGPU_EXEC_AGGREGATE_H
#define MGPU_EXEC_AGGREGATE_H

#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

#include "agg/call.h"
#include "batch/row_order.h"
#include "exec/device_query.h"
#include "exec/reduced.h"
#include "query/aggregate_ways.h"

/* An aggregate of a running node. */
typedef struct group_aggregate group_aggregate;

/* Called once all rows are in groups: input->groups.  May be NULL. */
typedef void (*group_prepare_fn) (group_aggregate *aggregate, group_input *input);

/* A group's result, in the current context, or in memory that stays until the next group's. */
typedef Datum (*group_result_fn) (group_aggregate *aggregate, uint32 group, bool *is_null);

/*
 * For aggregates that need no row twice: forget all groups, and add rows, row i to group groups[i] of num_groups so
 * far.  The last of these takes the rows that have no group, and is forgotten.  groups is NULL where there is one group,
 * rows where there are none to add.  States are allocated in context.
 * If states is not NULL, it holds the states of rows that are groups of a worker, each of GROUP_STATE_BYTES.
 */
typedef void (*group_fold_start_fn) (group_aggregate *aggregate);
typedef void (*group_fold_fn) (group_aggregate *aggregate, MemoryContext context, const chunk *rows,
							   const uint32 *groups, uint32 num_groups, const char *states);

/* The states of all groups, once rows have been added. */
typedef const char *(*group_states_fn) (const group_aggregate *aggregate);

/*
 * For aggregates that a GPU can compute: ask for what the result needs, or return false; and take the answer, of all
 * groups, in place of prepare.
 */
typedef bool (*group_ask_device_fn) (group_aggregate *aggregate, device_query *query);
typedef void (*group_take_device_fn) (group_aggregate *aggregate, const device_query *query, group_input *input);

struct group_aggregate
{
	const Aggref *aggref;
	group_plan	plan;
	int			filter;			/* column that is NULL where a row does not count, or -1 */
	int			num_args;
	int		   *columns;		/* of each argument, or -1: a constant */
	row_order	order;			/* GROUP_WAY_ARRAY, GROUP_WAY_FEED */
	group_prepare_fn prepare;
	group_result_fn result;
	group_fold_start_fn fold_start; /* NULL: rows have to be there all at once, as for prepare */
	group_fold_fn fold;
	group_states_fn states;
	group_ask_device_fn ask_device; /* NULL: no GPU can */
	group_take_device_fn take_device;
	bool		has_states;		/* for those that fold: of its own, not those of an earlier aggregate */
	group_input *input;			/* set by prepare, with the next */
	const row_groups *rows;
};

/* What the creators below share. */
typedef struct group_aggregate_source
{
	const Aggref *aggref;
	group_plan	plan;
	List	   *columns;		/* the filter's column or -1, then those of the arguments */
	chunk	   *rows;
	PlanState  *node;
	ExprContext *state_context; /* of transition states; the node resets it for each group */
	List	   *earlier;		/* aggregates of the same node, to share work with */
} group_aggregate_source;

/*
 * Make an aggregate of a running node, in the current context.  ereport(ERROR) unless the user may
 * run the aggregate and its owner may run its functions.
 */
extern group_aggregate *group_aggregate_start(const group_aggregate_source *source);

/* The ways make theirs; the first member of bytes of theirs is a group_aggregate. */
extern group_aggregate *group_aggregate_create(const group_aggregate_source *source, Size bytes);
extern group_aggregate *group_reduce_create(const group_aggregate_source *source);
extern group_aggregate *group_sorted_create(const group_aggregate_source *source);
extern group_aggregate *group_array_create(const group_aggregate_source *source);
extern group_aggregate *group_feed_create(const group_aggregate_source *source);

/* The order that an aggregate's ORDER BY or DISTINCT asks for.  Constants do not count. */
extern row_order group_order_of(const Aggref *aggref, const int *columns);

#endif							/* MGPU_EXEC_AGGREGATE_H */
