/*
 * sorted_aggregate.h
 *		Internals of aggregates of sorted values, for agg_sorted.c and agg_sorted_device.c.
 */
#ifndef MGPU_EXEC_SORTED_AGGREGATE_H
#define MGPU_EXEC_SORTED_AGGREGATE_H

#include "exec/aggregate.h"

typedef struct sorted_aggregate
{
	group_aggregate base;
	agg_call   *call;
	agg_batch  *batch;
	struct sorted_aggregate *leader;	/* an earlier aggregate whose batch serves this one too, or NULL */
	ExprState  *fraction_expr;	/* of a percentile, else NULL, as is the next */
	ExprContext *fraction_context;
	chunk	   *fraction;		/* one row; NULL until it is asked for */
	const device_query *answer; /* NULL: values are sorted here */
	int			sort;			/* of the answer, as is the next */
	int			percentile;		/* -1: none */
} sorted_aggregate;

/* A percentile's fraction as one row (agg_sorted.c). */
extern chunk *sorted_fraction(sorted_aggregate *aggregate);

/* agg_sorted_device.c: as in group_aggregate.  The last one: false if the batch has the result. */
extern void sorted_take_device(group_aggregate *base, const device_query *query, int number);
extern bool sorted_device_result(sorted_aggregate *aggregate, uint32 group, Datum *result, bool *is_null);

#endif							/* MGPU_EXEC_SORTED_AGGREGATE_H */
