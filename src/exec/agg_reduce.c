/*
 * agg_reduce.c
 *		count, sum, avg, min, max, stddev, variance, bool_and and bool_or of numbers (reduced.h).
 */
#include "postgres.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "exec/reduced.h"
#include "query/reductions.h"

typedef struct reduce_aggregate
{
	group_aggregate base;
	const known_reduction *known;
	reduced_column *reduced;	/* its own, or that of an earlier aggregate */
} reduce_aggregate;

static const reduced_state *
state_of(reduced_column *reduced, const group_input *input, uint32 group)
{
	if (reduced->states)
		return &reduced->states[group];
	if (reduced->turn == input->turn)
		return &reduced->state;
	reduced->turn = input->turn;
	if (reduced->answer)
		reduced_take(reduced, group);
	else
	{
		memset(&reduced->state, 0, sizeof(reduced_state));
		reduced_add_rows(&reduced->values, input->rows, &input->groups, input->groups.starts[group],
						 input->groups.starts[group + 1], &reduced->state);
	}
	return &reduced->state;
}

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	const reduce_aggregate *aggregate = (const reduce_aggregate *) base;
	int			column = aggregate->reduced->values.column;

	return reduced_result(aggregate->known->reduction, state_of(aggregate->reduced, base->input, group),
						  column < 0 ? 0 : base->input->rows->columns[column].type->width, is_null);
}

static void
prepare(group_aggregate *base)
{
	((reduce_aggregate *) base)->reduced->answer = NULL;
}

/* ---- what a GPU computes */

static void
take_device(group_aggregate *base, const device_query *query, int number)
{
	const reduce_aggregate *aggregate = (const reduce_aggregate *) base;
	reduced_column *reduced = aggregate->reduced;

	/* of aggregates that share it, one that asks for the most */
	if (reduced->answer == NULL || aggregate->known->kind == reduced->values.kind)
		reduced->output = number;
	reduced->answer = query;
}

static bool
estimate(group_aggregate *base, uint32 group, double *number)
{
	const reduce_aggregate *aggregate = (const reduce_aggregate *) base;

	return reduced_estimate(aggregate->known->reduction, state_of(aggregate->reduced, base->input, group), number);
}

/* ---- what it is made of */

/* Whether one state can have both.  It has no room for a sum of numerics and their extremes. */
static bool
may_share(reduced_kind a, reduced_kind b)
{
	return a == b || Min(a, b) == REDUCED_COUNT || Max(a, b) < REDUCED_NUMERIC_SUM;
}

static reduced_column *
find_reduced(List *earlier, const group_aggregate *aggregate, reduced_kind kind)
{
	ListCell   *cell;

	foreach(cell, earlier)
	{
		const reduce_aggregate *other = lfirst(cell);

		if (other->base.plan.way == GROUP_WAY_REDUCE && other->reduced->values.column == aggregate->columns[0] &&
			other->reduced->values.filter == aggregate->filter && may_share(other->reduced->values.kind, kind))
			return other->reduced;
	}
	return NULL;
}

reduced_column *
group_reduced_column(const group_aggregate *aggregate)
{
	return ((const reduce_aggregate *) aggregate)->reduced;
}

group_aggregate *
group_reduce_create(const group_aggregate_source *source)
{
	reduce_aggregate *aggregate = (reduce_aggregate *) group_aggregate_create(source, sizeof(reduce_aggregate));

	aggregate->known = known_reduction_of(source->aggref->aggfnoid);
	aggregate->reduced = find_reduced(source->earlier, &aggregate->base, aggregate->known->kind);
	if (aggregate->reduced == NULL)
	{
		aggregate->reduced = palloc0(sizeof(reduced_column));
		aggregate->reduced->values.column = aggregate->base.columns[0];	/* -1: rows are counted */
		aggregate->reduced->values.filter = aggregate->base.filter;
		aggregate->reduced->values.context = source->state_context->ecxt_per_tuple_memory;
	}
	aggregate->reduced->values.kind = Max(aggregate->reduced->values.kind, aggregate->known->kind);
	aggregate->reduced->values.sums |= aggregate->known->reduction == REDUCE_FLOAT4_SUM ||
		aggregate->known->reduction == REDUCE_FLOAT8_SUM;
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	aggregate->base.take_device = take_device;
	aggregate->base.estimate = estimate;
	return &aggregate->base;
}
