/*
 * agg_reduce.c
 *		count, sum, avg, min, max, stddev, variance, bool_and and bool_or of numbers (reduced.h).
 *
 * Results are those of PostgreSQL's functions: sums of int2 and int4 are int8, of int8 numeric.  Spreads of floats are a quotient: a
 * call of their functions, with an array of three numbers for each group, took a third of the time of many groups.
 */
#include "postgres.h"

#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "exec/reduced.h"
#include "exec/reduced_numeric.h"
#include "query/reductions.h"

typedef struct reduce_aggregate
{
	group_aggregate base;
	const known_reduction *known;
	reduced_column *reduced;	/* its own, or that of an earlier aggregate */
} reduce_aggregate;

/* ---- results */

/* A minimum or maximum, as the argument's type. */
static Datum
number_datum(const group_input *input, const reduced_column *from, int64 value)
{
	switch (input->rows->columns[from->values.column].type->width)
	{
		case 2:
			return Int16GetDatum((int16) value);
		case 4:
			return Int32GetDatum((int32) value);
		default:
			return Int64GetDatum(value);
	}
}

/* What PostgreSQL's functions make of count, sum and squares.  Their sum starts at 0, which makes 0 of -0. */
static Datum
finish_spread(reduction reduction, const reduced_state *state, bool *is_null)
{
	float8		count = (float8) state->count;
	bool		is_sample = reduction == REDUCE_STDDEV_SAMP || reduction == REDUCE_VAR_SAMP;
	float8		variance;

	if (reduction == REDUCE_FLOAT_AVG)
		return Float8GetDatum((state->reals.sum + 0.0) / count);
	*is_null = is_sample && state->count == 1;
	if (*is_null)
		return (Datum) 0;
	variance = state->reals.squares / (is_sample ? count - 1.0 : count);
	return Float8GetDatum(reduction == REDUCE_STDDEV_SAMP || reduction == REDUCE_STDDEV_POP ? sqrt(variance) : variance);
}

static Datum
result_of(const reduce_aggregate *aggregate, const reduced_state *state, bool *is_null)
{
	const group_input *input = aggregate->base.input;

	switch (aggregate->known->reduction)
	{
		case REDUCE_SUM:
			return Int64GetDatum((int64) state->integers.sum);
		case REDUCE_NUMERIC_SUM:
			return reduced_integer_to_numeric(state->integers.sum);
		case REDUCE_AVG:
			return DirectFunctionCall2(numeric_div, reduced_integer_to_numeric(state->integers.sum), reduced_integer_to_numeric(state->count));
		case REDUCE_MIN:
			return number_datum(input, aggregate->reduced, state->integers.min);
		case REDUCE_MAX:
			return number_datum(input, aggregate->reduced, state->integers.max);
		case REDUCE_BOOL_MIN:
			return BoolGetDatum(state->integers.min != 0);
		case REDUCE_BOOL_MAX:
			return BoolGetDatum(state->integers.max != 0);
		case REDUCE_FLOAT4_SUM:
			return Float4GetDatum(state->reals.narrow_sum);
		case REDUCE_FLOAT4_MIN:
			return Float4GetDatum((float4) state->reals.min);
		case REDUCE_FLOAT4_MAX:
			return Float4GetDatum((float4) state->reals.max);
		case REDUCE_FLOAT8_SUM:
			return Float8GetDatum(state->reals.sum);
		case REDUCE_FLOAT8_MIN:
			return Float8GetDatum(state->reals.min);
		case REDUCE_FLOAT8_MAX:
			return Float8GetDatum(state->reals.max);
		case REDUCE_COUNT:
			return Int64GetDatum(state->count);
		default:
			return finish_spread(aggregate->known->reduction, state, is_null);
	}
}

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
	const reduced_state *state = state_of(aggregate->reduced, base->input, group);

	*is_null = state->count == 0 && aggregate->known->reduction != REDUCE_COUNT;
	if (*is_null)
		return (Datum) 0;
	return aggregate->known->kind >= REDUCED_NUMERIC_SUM ? reduced_numeric_result(aggregate->known->reduction, state) :
		result_of(aggregate, state, is_null);
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
	return &aggregate->base;
}
