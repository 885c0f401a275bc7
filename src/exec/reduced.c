/*
 * reduced.c
 *		What counts, sums, averages, minima and maxima need to know of a group's values.
 *
 * One pass over a column serves all aggregates of it.  Results are those of PostgreSQL's functions, to the bit: floats
 * are added in the same order, by the formula of float8_accum (Youngs and Cramer), with the same overflow errors.
 * Calling those functions was rejected here: five aggregates of a column take six times as long.
 */
#include "postgres.h"

#include "utils/float.h"

#include "compat.h"
#include "exec/reduced.h"
#include "exec/reduced_interval.h"
#include "exec/reduced_numeric.h"
#include "exec/reduced_rows.h"
#include "exec/reduced_squares.h"

static pg_attribute_always_inline void
add_integer(reduced_state *to, int64 value)
{
	if (to->count++ == 0)
	{
		to->integers = (reduced_integers) {value, value, value};
		return;
	}
	to->integers.sum += value;
	to->integers.min = Min(to->integers.min, value);
	to->integers.max = Max(to->integers.max, value);
}

/* A sum that nobody wants, beside a minimum for instance, may overflow. */
static void
check_overflow(float8 sum, float8 before, float8 value, bool wanted)
{
	if (unlikely(isinf(sum)) && wanted && !isinf(before) && !isinf(value))
		float_overflow_error();
}

static pg_attribute_always_inline void
add_square(reduced_state *to, float8 before, float8 value)
{
	float8		count = (float8) to->count;
	float8		difference = value * count - to->reals.sum;

	to->reals.squares += difference * difference / (count * (count - 1));
	if (unlikely(isinf(to->reals.sum) || isinf(to->reals.squares)))
	{
		if (!isinf(before) && !isinf(value))
			float_overflow_error();
		to->reals.squares = get_float8_nan();
	}
}

static pg_attribute_always_inline void
add_float8(reduced_state *to, float8 value, bool spread, bool sums)
{
	float8		before = to->reals.sum;

	if (to->count++ == 0)
	{
		to->reals = (reduced_reals) {value, value, value, isnan(value) || isinf(value) ? get_float8_nan() : 0, 0};
		return;
	}
	to->reals.sum += value;
	if (spread)
		add_square(to, before, value);
	else
		check_overflow(to->reals.sum, before, value, sums);
	/* of equal values the last one counts */
	if (!float8_lt(to->reals.min, value))
		to->reals.min = value;
	if (!float8_gt(to->reals.max, value))
		to->reals.max = value;
}

static pg_attribute_always_inline void
add_float4(reduced_state *to, float4 value, bool spread, bool sums)
{
	float4		sum = to->count == 0 ? value : to->reals.narrow_sum + value;

	check_overflow(sum, to->count == 0 ? value : to->reals.narrow_sum, value, sums);
	add_float8(to, value, spread, sums);
	to->reals.narrow_sum = sum;
}

/* ---- loops */

#define ADD_ROW(to, value) ((void) sizeof(value), (to)->count++)
#define ADD_FLOAT4(to, value) add_float4(to, value, false, values->sums)
#define ADD_FLOAT8(to, value) add_float8(to, value, false, values->sums)
#define ADD_SPREAD4(to, value) add_float4(to, value, true, values->sums)
#define ADD_SPREAD8(to, value) add_float8(to, value, true, values->sums)

/* Both add the values of counted rows, which lie in cells of that type. */
#define TO_ONE(add, cell_type) \
	do { \
		for (uint64 i = begin; i < end; i++) \
		{ \
			uint64		row = row_groups_row(numbers, i); \
			\
			if (counts(&counted, row)) \
				add(&state, ((const cell_type *) cells)[row]); \
		} \
	} while (0)

#define TO_EACH(add, cell_type) \
	do { \
		for (uint64 row = 0; row < rows->num_rows; row++) \
		{ \
			if (row + ROWS_AHEAD < rows->num_rows) \
				fetch_ahead(&to[groups[row + ROWS_AHEAD]]); \
			if (counts(&counted, row)) \
				add(&to[groups[row]], ((const cell_type *) cells)[row]); \
		} \
	} while (0)

/* The kind of values and their width; rows are counted without looking at values. */
static int
kind_and_width(const reduced_values *values, const chunk *rows)
{
	if (values->kind == REDUCED_COUNT || values->column < 0)
		return REDUCED_COUNT << 8;
	return values->kind << 8 | rows->columns[values->column].type->width;
}

/* What is added. */
#define FOR_TYPE(loop) \
	switch (kind) \
	{ \
		case REDUCED_COUNT << 8: \
			loop(ADD_ROW, char); \
			break; \
		case REDUCED_INTEGER << 8 | 1: \
			loop(add_integer, uint8); \
			break; \
		case REDUCED_INTEGER << 8 | 2: \
			loop(add_integer, int16); \
			break; \
		case REDUCED_INTEGER << 8 | 4: \
			loop(add_integer, int32); \
			break; \
		case REDUCED_INTEGER << 8 | 8: \
			loop(add_integer, int64); \
			break; \
		case REDUCED_REAL << 8 | 4: \
			loop(ADD_FLOAT4, float4); \
			break; \
		case REDUCED_REAL << 8 | 8: \
			loop(ADD_FLOAT8, float8); \
			break; \
		case REDUCED_SPREAD << 8 | 4: \
			loop(ADD_SPREAD4, float4); \
			break; \
		case REDUCED_SPREAD << 8 | 8: \
			loop(ADD_SPREAD8, float8); \
			break; \
		default: \
			elog(ERROR, "no reduction of a column of that width"); \
	}

/* Add neighbouring int4 that all count: a third of the time that one by one takes, since their sum fits in 64 bits. */
static void
add_int4(const reduced_values *values, const int32 *cells, uint64 num_cells, reduced_state *to)
{
	reduced_state all = {.count = num_cells};
	int64		sum = 0;
	int32		min = PG_INT32_MAX;
	int32		max = PG_INT32_MIN;

	for (uint64 i = 0; i < num_cells; i++)
	{
		sum += cells[i];
		min = Min(min, cells[i]);
		max = Max(max, cells[i]);
	}
	all.integers = (reduced_integers) {min, max, sum};
	reduced_combine(values, &all, 1, NULL, to);
}

void
reduced_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end,
				 reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const char *cells = values->column < 0 ? NULL : rows->columns[values->column].cells;
	int			kind = kind_and_width(values, rows);

	/* a copy, so that loops keep it in registers */
	reduced_state state = *to;

	if (values->kind == REDUCED_SQUARES)
		reduced_squares_add_rows(values, rows, numbers, begin, end, &state);
	else if (values->kind == REDUCED_INTERVAL)
		reduced_interval_add_rows(values, rows, numbers, begin, end, &state);
	else if (values->kind >= REDUCED_NUMERIC_SUM)
		reduced_numeric_add_rows(values, rows, numbers, begin, end, &state);
	else if (counted.filter || counted.values)
		FOR_TYPE(TO_ONE)
	else if (kind == REDUCED_COUNT << 8)
		state.count += end - begin;
	else if (kind == (REDUCED_INTEGER << 8 | 4) && numbers->numbers == NULL)
		add_int4(values, (const int32 *) cells + begin, end - begin, &state);
	else
		FOR_TYPE(TO_ONE)
	*to = state;
}

void
reduced_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const char *cells = values->column < 0 ? NULL : rows->columns[values->column].cells;
	int			kind = kind_and_width(values, rows);

	if (values->kind == REDUCED_SQUARES)
		reduced_squares_add_each(values, rows, groups, to);
	else if (values->kind == REDUCED_INTERVAL)
		reduced_interval_add_each(values, rows, groups, to);
	else if (values->kind >= REDUCED_NUMERIC_SUM)
		reduced_numeric_add_each(values, rows, groups, to);
	else
		FOR_TYPE(TO_EACH)
}

/* ---- states of workers */

static void
combine_integers(reduced_integers *to, const reduced_integers *from)
{
	to->sum += from->sum;
	to->min = Min(to->min, from->min);
	to->max = Max(to->max, from->max);
}

/* As float8_combine does it. */
static void
combine_squares(reduced_state *to, const reduced_state *from)
{
	float8		to_count = (float8) to->count;
	float8		from_count = (float8) from->count;
	float8		difference = to->reals.sum / to_count - from->reals.sum / from_count;
	float8		squares = to->reals.squares + from->reals.squares +
		to_count * from_count * difference * difference / (to_count + from_count);

	check_overflow(squares, to->reals.squares, from->reals.squares, true);
	to->reals.squares = squares;
}

static void
combine_reals(reduced_state *to, const reduced_state *from, bool spread, bool sums)
{
	float8		sum = to->reals.sum + from->reals.sum;
	float4		narrow_sum;

	if (spread)
		combine_squares(to, from);
	check_overflow(sum, to->reals.sum, from->reals.sum, spread || sums);
	to->reals.sum = sum;
	narrow_sum = to->reals.narrow_sum + from->reals.narrow_sum;
	check_overflow(narrow_sum, to->reals.narrow_sum, from->reals.narrow_sum, sums);
	to->reals.narrow_sum = narrow_sum;
	if (float8_lt(from->reals.min, to->reals.min))
		to->reals.min = from->reals.min;
	if (float8_gt(from->reals.max, to->reals.max))
		to->reals.max = from->reals.max;
}

void
reduced_combine(const reduced_values *values, const reduced_state *states, uint64 num_states, const uint32 *groups,
				reduced_state *to)
{
	for (uint64 i = 0; i < num_states; i++)
	{
		reduced_state *state = &to[groups ? groups[i] : 0];

		if (states[i].count == 0)
			continue;
		if (state->count == 0)
		{
			*state = states[i];
			continue;
		}
		if (values->kind == REDUCED_INTEGER)
			combine_integers(&state->integers, &states[i].integers);
		else if (values->kind != REDUCED_COUNT)
			combine_reals(state, &states[i], values->kind == REDUCED_SPREAD, values->sums);
		state->count += states[i].count;
	}
}
