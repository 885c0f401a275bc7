/*
 * sorted_aggregate.h
 *		Internals of aggregates of sorted values, for agg_sorted.c and agg_sorted_device.c.
 */
#ifndef MGPU_EXEC_SORTED_AGGREGATE_H
#define MGPU_EXEC_SORTED_AGGREGATE_H

#include "agg/batch.h"
#include "exec/aggregate.h"

typedef struct sorted_aggregate
{
	group_aggregate base;
	sort_spec	spec;
	const column_type *type;	/* of the values */
	agg_batch  *batch;
	struct sorted_aggregate *leader;	/* an earlier aggregate whose batch serves this one too, or NULL */
	agg_percentile asked;		/* see sorted_percentile */
	ExprState  *fraction;		/* NULL: known, or no percentile */
	ExprContext *context;		/* to evaluate it in */
	const device_query *answer; /* NULL: values are sorted here */
	int			sort;			/* of the answer, as is the next */
	int			percentile;		/* -1: none */
} sorted_aggregate;

/* The percentile that is asked for. */
extern const agg_percentile *sorted_percentile(sorted_aggregate *aggregate);

/* agg_sorted_device.c: as in group_aggregate.  The last one: false if the batch has the result. */
extern void sorted_take_device(group_aggregate *base, const device_query *query, int number);
extern bool sorted_device_result(sorted_aggregate *aggregate, uint32 group, Datum *result, bool *is_null);

#endif							/* MGPU_EXEC_SORTED_AGGREGATE_H */
