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

/* Called once all rows are in groups: input->groups. */
typedef void (*group_prepare_fn) (group_aggregate *aggregate);

/* A group's result, in the current context, or in memory that stays until the next group's. */
typedef Datum (*group_result_fn) (group_aggregate *aggregate, uint32 group, bool *is_null);

/*
 * For aggregates that a GPU can compute: take the answer, of all groups, in place of prepare.  number: of the aggregate in the
 * job.
 */
typedef void (*group_take_device_fn) (group_aggregate *aggregate, const device_query *query, int number);

/* Take the values of groups that a job has found, in place of the node's rows. */
typedef void (*group_take_values_fn) (group_aggregate *aggregate, group_input *values);

/* Of a group that a GPU has computed, the result as a number, but for the last digits.  false: it is none, or NULL. */
typedef bool (*group_estimate_fn) (group_aggregate *aggregate, uint32 group, double *number);

struct group_aggregate
{
	const Aggref *aggref;
	group_plan	plan;
	int			filter;			/* column that is NULL where a row does not count, or -1 */
	int		   *columns;		/* of each argument, or -1: a constant; -1 behind the last one */
	row_order	order;			/* GROUP_WAY_ARRAY, GROUP_WAY_FEED */
	group_prepare_fn prepare;	/* group_prepare_rows unless a way has its own */
	group_result_fn result;
	group_take_device_fn take_device;	/* NULL: no GPU can */
	group_take_values_fn take_values;	/* of those that are fed values (query/aggregate_ways.h) */
	group_estimate_fn estimate; /* NULL: not known */
	group_input *input;			/* the node's */
	const row_groups *rows;		/* those that count, in their order; set by group_prepare_rows */
};

/* What the creators below share. */
typedef struct group_aggregate_source
{
	const Aggref *aggref;
	group_plan	plan;
	bool		wants_first;	/* of an array, its first element alone */
	List	   *columns;		/* the filter's column or -1, then those of the arguments */
	chunk	   *rows;
	group_input *input;
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

/* The fractions of a percentile: agg_percentile_fractions. */
extern int	group_sorted_fractions(group_aggregate *aggregate, double *fractions, int most);

extern group_aggregate *group_array_create(const group_aggregate_source *source);
extern group_aggregate *group_feed_create(const group_aggregate_source *source);

/* The transition state that a job has found of a group, in the current context (agg_feed_device.c). */
extern Datum group_feed_state(const device_query *query, const table_output *output, const Aggref *aggref, uint32 group, bool *is_null);

/* Find the rows of each group that count, and put them in order. */
extern void group_prepare_rows(group_aggregate *aggregate);

/* What an aggregate of GROUP_WAY_REDUCE is computed from.  Aggregates of the same values share it. */
extern reduced_column *group_reduced_column(const group_aggregate *aggregate);

/* The order that an aggregate's ORDER BY or DISTINCT asks for.  Constants do not count. */
extern row_order group_order_of(const Aggref *aggref, const int *columns);

#endif							/* MGPU_EXEC_AGGREGATE_H */
