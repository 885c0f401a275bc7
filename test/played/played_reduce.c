/*
 * played_reduce.c
 *		Counts, sums and extremes of a group's values, in a loop that does what src/exec/reduced.c does.
 */
#include "played/played_group_run.h"

#include <math.h>
#include <string.h>

static uint64_t
bits_of_double(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? MGPU_F64_NAN : bits;
}

static uint64_t
bits_of_float(float value)
{
	uint32_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? MGPU_F32_NAN : bits;
}

static double
double_of(uint64_t code, uint32_t width)
{
	uint64_t	bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, width);
	uint32_t	narrow_bits = (uint32_t) bits;
	double		value;
	float		narrow;

	memcpy(&value, &bits, sizeof(value));
	memcpy(&narrow, &narrow_bits, sizeof(narrow));
	return width == 4 ? (double) narrow : value;
}

typedef struct played_sums
{
	double		sum;
	double		squares;
	float		narrow_sum;
	bool		overflows;
} played_sums;

static bool
is_overflow(double sum, double before, double value)
{
	return isinf(sum) && !isinf(before) && !isinf(value);
}

static void
add_square(played_sums *sums, double before, double value, uint64_t num_values)
{
	double		count = (double) num_values;
	double		difference = value * count - sums->sum;

	sums->squares += difference * difference / (count * (count - 1));
	if (!isinf(sums->sum) && !isinf(sums->squares))
		return;
	sums->overflows |= !isinf(before) && !isinf(value);
	sums->squares = NAN;
}

/* num_values: with this one. */
static void
add_real(played_sums *sums, double value, uint64_t num_values, bool narrow, bool spread)
{
	double		before = sums->sum;
	float		narrow_sum = sums->narrow_sum + (float) value;

	if (num_values == 1)
	{
		*sums = (played_sums) {.sum = value,.squares = isnan(value) || isinf(value) ? NAN : 0,
		.narrow_sum = narrow ? (float) value : 0};
		return;
	}
	if (narrow)
	{
		sums->overflows |= is_overflow(narrow_sum, sums->narrow_sum, value);
		sums->narrow_sum = narrow_sum;
	}
	sums->sum += value;
	if (spread)
		add_square(sums, before, value, num_values);
	else
		sums->overflows |= is_overflow(sums->sum, before, value);
}

static void
write_reals(const played_range *range, const played_sums *sums, bool spread, uint64_t *words)
{
	words[0] = range->count;
	words[1] = bits_of_double(sums->sum);
	words[2] = spread ? bits_of_double(sums->squares) : 0;
	words[3] = bits_of_float(sums->narrow_sum);
	words[4] = range->least;
	words[5] = range->greatest;
}

/* The least and greatest value of several columns. */
static void
find_extremes(const played_group *group, uint32_t head, uint64_t begin, uint64_t end, uint64_t *words)
{
	uint32_t	num_cells = group->spec.columns[head].num_cells;
	uint64_t	places[2] = {begin, begin};

	words[0] = 0;
	memset(words + 1, 0xFF, num_cells * sizeof(uint64_t));
	memset(words + 1 + num_cells, 0, num_cells * sizeof(uint64_t));
	for (uint64_t i = begin; i < end; i++)
	{
		if (played_is_null(played_row_at(group, i), head))
			continue;
		if (words[0] == 0 || mgpu_played_compare_cells(group, head, i, places[0]) < 0)
			places[0] = i;
		if (words[0] == 0 || mgpu_played_compare_cells(group, head, i, places[1]) > 0)
			places[1] = i;
		words[0]++;
	}
	for (uint32_t i = 0; words[0] > 0 && i < 2 * num_cells; i++)
		words[1 + i] = played_row_at(group, places[i / num_cells])->codes[head + i % num_cells];
}

/* Sums of pairs: of x, y and their products, by the formulas of float8_regr_accum. */
static bool
add_pairs(const played_group *group, uint32_t head, uint64_t begin, uint64_t end, uint64_t *words)
{
	double		count = 0;
	double		sums[5] = {0};
	bool		overflows = false;

	for (uint64_t i = begin; i < end; i++)
	{
		const played_row *row = played_row_at(group, i);
		double		y = double_of(row->codes[head], 8);
		double		x = double_of(row->codes[head + 1], 8);
		double		before[2] = {sums[0], sums[2]};

		if (played_is_null(row, head))
			continue;
		count++;
		sums[0] += x;
		sums[2] += y;
		if (count == 1)
		{
			sums[1] = isfinite(x) ? 0 : NAN;
			sums[3] = isfinite(y) ? 0 : NAN;
			sums[4] = sums[1] + sums[3];
			continue;
		}
		sums[1] += (x * count - sums[0]) * (x * count - sums[0]) * (1.0 / (count * (count - 1)));
		sums[3] += (y * count - sums[2]) * (y * count - sums[2]) * (1.0 / (count * (count - 1)));
		sums[4] += (x * count - sums[0]) * (y * count - sums[2]) * (1.0 / (count * (count - 1)));
		overflows |= (isinf(sums[0]) || isinf(sums[1])) && !isinf(before[0]) && !isinf(x);
		overflows |= (isinf(sums[2]) || isinf(sums[3])) && !isinf(before[1]) && !isinf(y);
		overflows |= isinf(sums[4]) && !isinf(before[0]) && !isinf(x) && !isinf(before[1]) && !isinf(y);
		for (int sum = 1; sum < 5; sum += sum == 1 ? 2 : 1)
			sums[sum] = isinf(sums[sum]) ? NAN : sums[sum];
	}
	words[0] = (uint64_t) count;
	for (int sum = 0; sum < 5; sum++)
		words[1 + sum] = bits_of_double(sums[sum]);
	return overflows;
}

static void
reduce_numbers(played_group *group, uint32_t number, uint64_t begin, uint64_t end, uint64_t *words)
{
	const mgpu_group_column *column = &group->spec.columns[number];
	bool		is_integer = column->reduction == MGPU_REDUCE_INTEGER || column->reduction == MGPU_REDUCE_BITS;
	bool		spread = column->reduction == MGPU_REDUCE_SPREAD;
	played_range range = PLAYED_NO_VALUES;
	played_sums sums = {0};
	uint64_t	low = 0;
	uint64_t	high = 0;

	for (uint64_t i = begin; i < end; i++)
	{
		const played_row *row = played_row_at(group, i);
		uint64_t	code = row->codes[number];

		if (played_is_null(row, number))
			continue;
		played_add_code(&range, code);
		if (is_integer)
		{
			low += mgpu_integer_low(code, column->kind);
			high += (uint64_t) mgpu_integer_high(code, column->kind);
		}
		else if (column->reduction != MGPU_REDUCE_COUNT)
			add_real(&sums, double_of(code, column->width), range.count, column->width == 4, spread);
	}
	group->overflows |= sums.overflows;
	if (column->reduction == MGPU_REDUCE_COUNT)
		words[0] = range.count;
	else if (is_integer)
		memcpy(words, (uint64_t[]) {range.count, low, high, range.least, range.greatest}, 5 * sizeof(uint64_t));
	else
		write_reals(&range, &sums, spread, words);
}

/* Behind the words of a number. */
static void
find_bits(const played_group *group, uint32_t number, uint64_t begin, uint64_t end, uint64_t *words)
{
	words[0] = 0;
	words[1] = UINT64_MAX;
	for (uint64_t i = begin; i < end; i++)
	{
		uint64_t	bits = mgpu_column_bits(played_row_at(group, i)->codes[number], MGPU_KEY_SIGNED, 8);

		if (played_is_null(played_row_at(group, i), number))
			continue;
		words[0] |= bits;
		words[1] &= bits;
	}
}

void
mgpu_played_reduce(played_group *group, uint32_t number, uint64_t begin, uint64_t end, uint64_t *words)
{
	switch (group->spec.columns[number].reduction)
	{
		case MGPU_REDUCE_EXTREMES:
			find_extremes(group, number, begin, end, words);
			break;
		case MGPU_REDUCE_PAIRS:
			group->overflows |= add_pairs(group, number, begin, end, words);
			break;
		case MGPU_REDUCE_BITS:
			find_bits(group, number, begin, end, words + 5);
			reduce_numbers(group, number, begin, end, words);
			break;
		default:
			reduce_numbers(group, number, begin, end, words);
	}
}
