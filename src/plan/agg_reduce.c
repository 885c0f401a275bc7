/*
 * agg_reduce.c
 *		count, sum, avg, min and max, computed from a column of integers.
 *
 * One pass over a group's rows serves all aggregates of a column.  Results are those of
 * PostgreSQL's functions: sums of int2 and int4 are int8, others numeric.  Calling the transition
 * functions was rejected here: five aggregates of a column take six times as long.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"

#include "compat.h"
#include "plan/aggregate.h"

typedef enum reduction
{
	REDUCE_COUNT_ROWS,
	REDUCE_COUNT,
	REDUCE_SUM,					/* as int8 */
	REDUCE_NUMERIC_SUM,
	REDUCE_AVG,
	REDUCE_MIN,
	REDUCE_MAX
} reduction;

typedef struct known_reduction
{
	Oid			aggregate;
	reduction	reduction;
} known_reduction;

/* Types of 2, 4 or 8 bytes that order as signed numbers. */
static const known_reduction known_reductions[] = {
	{F_COUNT_, REDUCE_COUNT_ROWS},
	{F_COUNT_ANY, REDUCE_COUNT},
	{F_SUM_INT2, REDUCE_SUM}, {F_SUM_INT4, REDUCE_SUM}, {F_SUM_INT8, REDUCE_NUMERIC_SUM},
	{F_AVG_INT2, REDUCE_AVG}, {F_AVG_INT4, REDUCE_AVG}, {F_AVG_INT8, REDUCE_AVG},
	{F_MIN_INT2, REDUCE_MIN}, {F_MIN_INT4, REDUCE_MIN}, {F_MIN_INT8, REDUCE_MIN},
	{F_MIN_DATE, REDUCE_MIN}, {F_MIN_TIME, REDUCE_MIN}, {F_MIN_MONEY, REDUCE_MIN},
	{F_MIN_TIMESTAMP, REDUCE_MIN}, {F_MIN_TIMESTAMPTZ, REDUCE_MIN},
	{F_MAX_INT2, REDUCE_MAX}, {F_MAX_INT4, REDUCE_MAX}, {F_MAX_INT8, REDUCE_MAX},
	{F_MAX_DATE, REDUCE_MAX}, {F_MAX_TIME, REDUCE_MAX}, {F_MAX_MONEY, REDUCE_MAX},
	{F_MAX_TIMESTAMP, REDUCE_MAX}, {F_MAX_TIMESTAMPTZ, REDUCE_MAX}
};

/* What is known of a column's values in one group. */
typedef struct reduced
{
	int			column;			/* -1: rows are counted */
	int			filter;
	int64		group;			/* -1: none yet */
	int64		count;
	int128	sum;
	int64		min;
	int64		max;
} reduced;

typedef struct reduce_aggregate
{
	group_aggregate base;
	reduction	reduction;
	reduced    *reduced;		/* its own, or that of an earlier aggregate */
} reduce_aggregate;

static const known_reduction *
find(Oid aggregate)
{
	for (size_t i = 0; i < lengthof(known_reductions); i++)
		if (known_reductions[i].aggregate == aggregate)
			return &known_reductions[i];
	return NULL;
}

bool
group_reduce_knows(Oid aggregate)
{
	return find(aggregate) != NULL;
}

/* ---- one group */

/* Rows of a group that count: those with a value in the filter's column and in their own. */
typedef struct counted_rows
{
	const column *filter;		/* NULL: no NULLs there */
	const column *values;		/* NULL: no NULLs there */
	const uint32 *numbers;		/* NULL: rows are numbers */
	uint64		begin;
	uint64		end;
} counted_rows;

static inline bool
counts(const counted_rows *rows, uint64 row)
{
	return !(rows->filter && column_is_null(rows->filter, row)) && !(rows->values && column_is_null(rows->values, row));
}

#define REDUCE(type) \
	do { \
		for (uint64 i = rows->begin; i < rows->end; i++) \
		{ \
			uint64		row = rows->numbers ? rows->numbers[i] : i; \
			type		value = ((const type *) cells)[row]; \
			\
			if (!counts(rows, row)) \
				continue; \
			result.count++; \
			result.sum += value; \
			result.min = Min(result.min, value); \
			result.max = Max(result.max, value); \
		} \
	} while (0)

static void
reduce_rows(reduced *to, const counted_rows *rows, const char *cells, uint32 width)
{
	/* a copy, so that the loop keeps it in registers */
	reduced		result = *to;

	if (cells == NULL || (width != 2 && width != 4 && width != 8))
	{
		if (rows->filter == NULL && rows->values == NULL)
			result.count = rows->end - rows->begin;
		else
			for (uint64 i = rows->begin; i < rows->end; i++)
				result.count += counts(rows, rows->numbers ? rows->numbers[i] : i);
	}
	else if (width == 2)
		REDUCE(int16);
	else if (width == 4)
		REDUCE(int32);
	else
		REDUCE(int64);
	*to = result;
}

static const column *
column_with_nulls(const group_input *input, int number)
{
	const column *col = number < 0 ? NULL : &input->rows->columns[number];

	return col && col->nulls ? col : NULL;
}

static void
reduce_group(reduced *to, const group_input *input, uint32 group)
{
	const column *values = to->column < 0 ? NULL : &input->rows->columns[to->column];
	const row_groups *groups = &input->groups;
	counted_rows rows = {column_with_nulls(input, to->filter), column_with_nulls(input, to->column), groups->numbers,
		groups->starts[group], groups->starts[group + 1]};

	to->group = group;
	to->count = 0;
	to->sum = 0;
	to->min = PG_INT64_MAX;
	to->max = PG_INT64_MIN;
	reduce_rows(to, &rows, values ? values->cells : NULL, values ? values->type->width : 0);
}

/* ---- results */

static Datum
wide_to_numeric(int128 value)
{
	char		digits[48];
	char	   *next = digits + sizeof(digits);
	uint128 rest = value < 0 ? -(uint128) value : (uint128) value;

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64) value));
	*--next = '\0';
	for (; rest > 0; rest /= 10)
		*--next = '0' + (int) (rest % 10);
	if (value < 0)
		*--next = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(next), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* A minimum or maximum, as the argument's type. */
static Datum
number_datum(const group_input *input, const reduced *from, int64 value)
{
	switch (input->rows->columns[from->column].type->width)
	{
		case 2:
			return Int16GetDatum((int16) value);
		case 4:
			return Int32GetDatum((int32) value);
		default:
			return Int64GetDatum(value);
	}
}

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	const reduce_aggregate *aggregate = (const reduce_aggregate *) base;
	reduced    *from = aggregate->reduced;

	if (from->group != group)
		reduce_group(from, base->input, group);
	*is_null = false;
	if (aggregate->reduction <= REDUCE_COUNT)
		return Int64GetDatum(from->count);
	*is_null = from->count == 0;
	if (*is_null)
		return (Datum) 0;
	switch (aggregate->reduction)
	{
		case REDUCE_SUM:
			return Int64GetDatum((int64) from->sum);
		case REDUCE_NUMERIC_SUM:
			return wide_to_numeric(from->sum);
		case REDUCE_AVG:
			return DirectFunctionCall2(numeric_div, wide_to_numeric(from->sum), wide_to_numeric(from->count));
		case REDUCE_MIN:
			return number_datum(base->input, from, from->min);
		default:
			return number_datum(base->input, from, from->max);
	}
}

static void
prepare(group_aggregate *base, group_input *input)
{
	base->input = input;
	((reduce_aggregate *) base)->reduced->group = -1;
}

static reduced *
find_reduced(List *earlier, int column, int filter)
{
	ListCell   *cell;

	foreach(cell, earlier)
	{
		const reduce_aggregate *other = lfirst(cell);

		if (other->base.plan.way == GROUP_WAY_REDUCE && other->reduced->column == column && other->reduced->filter == filter)
			return other->reduced;
	}
	return NULL;
}

group_aggregate *
group_reduce_create(const group_aggregate_source *source)
{
	reduce_aggregate *aggregate = (reduce_aggregate *) group_aggregate_create(source, sizeof(reduce_aggregate));
	int			column;

	aggregate->reduction = find(source->aggref->aggfnoid)->reduction;
	/* only a count has no column for its argument, a constant */
	if (aggregate->base.num_args > 0 && aggregate->base.columns[0] < 0)
		aggregate->reduction = REDUCE_COUNT_ROWS;
	column = aggregate->reduction == REDUCE_COUNT_ROWS ? -1 : aggregate->base.columns[0];
	aggregate->reduced = find_reduced(source->earlier, column, aggregate->base.filter);
	if (aggregate->reduced == NULL)
	{
		aggregate->reduced = palloc0(sizeof(reduced));
		aggregate->reduced->column = column;
		aggregate->reduced->filter = aggregate->base.filter;
	}
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	return &aggregate->base;
}
