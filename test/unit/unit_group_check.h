/*
 * unit_group_check.h
 *		Checks what a run made of a case of unit_group.h: by a loop over the rows that were written, which knows values, not codes.
 */
#ifndef MGPU_UNIT_GROUP_CHECK_H
#define MGPU_UNIT_GROUP_CHECK_H

#include <math.h>

#include "core/load_bits.h"
#include "unit.h"
#include "unit_group.h"

/* --------------------------------------------------------------- reference */

static inline double
real_of(uint64_t bits, uint32_t width)
{
	uint32_t	narrow_bits = (uint32_t) bits;
	double		real;
	float		narrow;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&narrow, &narrow_bits, sizeof(narrow));
	return width == 4 ? narrow : real;
}

static inline int64_t
integer_of(uint64_t bits, const mgpu_group_column *column)
{
	if (column->kind == MGPU_KEY_UNSIGNED)
		return (int64_t) bits;
	return column->width == 2 ? (int16_t) bits : column->width == 4 ? (int32_t) bits : (int64_t) bits;
}

/* As PostgreSQL compares values: NaN is the greatest. */
static inline int
compare(const mgpu_group_column *column, uint64_t a, uint64_t b)
{
	double		real_a = real_of(a, column->width);
	double		real_b = real_of(b, column->width);
	int64_t		integer_a = integer_of(a, column);
	int64_t		integer_b = integer_of(b, column);

	if (column->kind == MGPU_KEY_UNSIGNED)
		return (a > b) - (a < b);
	if (column->kind == MGPU_KEY_SIGNED)
		return (integer_a > integer_b) - (integer_a < integer_b);
	if (isnan(real_a) || isnan(real_b))
		return (isnan(real_a) != 0) - (isnan(real_b) != 0);
	return (real_a > real_b) - (real_a < real_b);
}

static inline uint64_t
bits_of_code(const mgpu_group_column *column, uint64_t code)
{
	uint64_t	bits = mgpu_column_bits(code, column->kind, column->width);

	return column->width == 8 ? bits : bits & ((UINT64_C(1) << column->width * 8) - 1);
}

/* Whether the tests keep a row.  *is_fault: one of them cannot be computed, and none before drops the row; or a column of it. */
static inline bool
judge(const group_case *job, const group_row *row, bool *is_fault)
{
	bool		kept = true;

	*is_fault = false;
	for (uint32_t i = 0; kept && i < job->num_filters; i++)
	{
		const group_filter *filter = &job->filters[i];
		const mgpu_group_column *column = &job->spec.columns[filter->column];
		bool		is_null = (row->nulls >> filter->column & 1) != 0;
		int			order = is_null ? 0 : compare(column, row->bits[filter->column], filter->bits);

		*is_fault |= (row->faults >> filter->column & 1) != 0;
		if (*is_fault)
			return false;
		if (filter->outcomes == 0)
			kept = is_null == filter->keeps_null;
		else
			kept = !is_null && (filter->outcomes >> (order + 1) & 1) != 0;
	}
	*is_fault |= kept && row->faults != 0;
	return kept;
}

static inline bool
is_kept(const group_case *job, const group_row *row)
{
	bool		is_fault;

	return judge(job, row, &is_fault);
}

/* Whether the job has to end with a fault. */
static inline bool
has_fault(const group_case *job)
{
	bool		found = false;

	for (uint64_t i = 0; i < job->num_rows; i++)
	{
		bool		is_fault;

		(void) judge(job, &job->rows[i], &is_fault);
		found |= is_fault;
	}
	return found;
}

static inline bool
is_of_group(const mgpu_group_spec *spec, const group_row *row, const uint64_t *record)
{
	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		const mgpu_group_column *column = &spec->columns[spec->keys[i]];
		bool		is_null = (row->nulls >> spec->keys[i] & 1) != 0;

		if (is_null != ((record[1] >> i & 1) != 0) ||
			(!is_null && compare(column, row->bits[spec->keys[i]], bits_of_code(column, record[2 + i])) != 0))
			return false;
	}
	return true;
}

/* The rows of one group, in order. */
static group_row **members;
static uint64_t num_members;

static inline bool
same_real(uint64_t word, double real, uint32_t width)
{
	return isnan(real) ? isnan(real_of(word, width)) : real_of(word, width) == real && signbit(real_of(word, width)) == signbit(real);
}

/* Of values of several columns, whose members have one: less than 0, 0, or more. */
static inline int
compare_cells(const mgpu_group_spec *spec, uint32_t head, const group_row *a, const group_row *b)
{
	int			order = 0;

	for (uint32_t i = head; order == 0 && i < head + spec->columns[head].num_cells; i++)
		order = compare(&spec->columns[i], a->bits[i], b->bits[i]);
	return order;
}

static inline bool
has_extremes(const mgpu_group_spec *spec, uint32_t head, const uint64_t *words)
{
	uint32_t	num_cells = spec->columns[head].num_cells;
	const group_row *least = NULL;
	const group_row *greatest = NULL;
	uint64_t	count = 0;
	bool		same = true;

	for (uint64_t i = 0; i < num_members; i++)
	{
		if ((members[i]->nulls >> head & 1) != 0)
			continue;
		least = count == 0 || compare_cells(spec, head, members[i], least) < 0 ? members[i] : least;
		greatest = count == 0 || compare_cells(spec, head, members[i], greatest) > 0 ? members[i] : greatest;
		count++;
	}
	for (uint32_t i = 0; i < num_cells; i++)
	{
		const mgpu_group_column *column = &spec->columns[head + i];

		same &= words[1 + i] == (count == 0 ? UINT64_MAX : group_code_of(column, least->bits[head + i]));
		same &= words[1 + num_cells + i] == (count == 0 ? 0 : group_code_of(column, greatest->bits[head + i]));
	}
	return same && words[0] == count;
}

/* Sums of pairs in their order: of x, squares of x, y, squares of y, products. */
static inline bool
has_pairs(uint32_t head, const uint64_t *words)
{
	double		n = 0;
	double		sums[5] = {0, 0, 0, 0, 0};
	bool		same = true;

	for (uint64_t i = 0; i < num_members; i++)
	{
		double		y = real_of(members[i]->bits[head], 8);
		double		x = (members[i]->nulls >> (head + 1) & 1) != 0 ? NAN : real_of(members[i]->bits[head + 1], 8);
		double		scale;

		if ((members[i]->nulls >> head & 1) != 0)
			continue;
		n += 1;
		sums[0] += x;
		sums[2] += y;
		scale = n == 1 ? 0 : 1 / (n * (n - 1));
		sums[1] += n == 1 ? (isfinite(x) ? 0 : NAN) : (x * n - sums[0]) * (x * n - sums[0]) * scale;
		sums[3] += n == 1 ? (isfinite(y) ? 0 : NAN) : (y * n - sums[2]) * (y * n - sums[2]) * scale;
		sums[4] += n == 1 ? (isfinite(x) && isfinite(y) ? 0 : NAN) : (x * n - sums[0]) * (y * n - sums[2]) * scale;
		for (int sum = 1; sum < 5; sum++)
			sums[sum] = sum != 2 && isinf(sums[sum]) ? NAN : sums[sum];
	}
	for (int sum = 0; sum < 5; sum++)
		same &= same_real(words[1 + sum], sums[sum], 8);
	return same && words[0] == (uint64_t) n;
}

/* How many values there are, and how many differ from those of all members before. */
static inline bool
has_distinct(const mgpu_group_spec *spec, uint32_t head, const uint64_t *words)
{
	uint64_t	count = 0;
	uint64_t	num_different = 0;

	for (uint64_t i = 0; i < num_members; i++)
	{
		uint64_t	j = 0;

		if ((members[i]->nulls >> head & 1) != 0)
			continue;
		while (j < i && ((members[j]->nulls >> head & 1) != 0 || compare_cells(spec, head, members[i], members[j]) != 0))
			j++;
		count++;
		num_different += j == i;
	}
	return words[0] == count && words[1] == num_different;
}

/* The words of a column's reduction, from its values in order. */
static inline bool
is_reduced(const mgpu_group_spec *spec, uint32_t number, const uint64_t *words)
{
	const mgpu_group_column *column = &spec->columns[number];
	uint64_t	count = 0;
	uint64_t	least = 0;
	uint64_t	greatest = 0;
	uint64_t	bits_of_any = 0;
	uint64_t	bits_of_all = UINT64_MAX;
	__int128	integers = 0;
	double		sum = 0;
	double		squares = 0;
	float		narrow_sum = 0;

	if (column->reduction == MGPU_REDUCE_EXTREMES)
		return has_extremes(spec, number, words);
	if (column->reduction == MGPU_REDUCE_PAIRS)
		return has_pairs(number, words);
	for (uint64_t i = 0; i < num_members; i++)
	{
		uint64_t	bits = members[i]->bits[number];
		double		real = real_of(bits, column->width);

		if ((members[i]->nulls >> number & 1) != 0)
			continue;
		least = count == 0 || compare(column, bits, least) < 0 ? bits : least;
		greatest = count == 0 || compare(column, bits, greatest) > 0 ? bits : greatest;
		integers += column->kind == MGPU_KEY_FLOAT ? 0 : column->kind == MGPU_KEY_UNSIGNED ? (__int128) bits : (__int128) integer_of(bits, column);
		bits_of_any |= column->kind == MGPU_KEY_SIGNED ? (uint64_t) integer_of(bits, column) : 0;
		bits_of_all &= column->kind == MGPU_KEY_SIGNED ? (uint64_t) integer_of(bits, column) : 0;
		narrow_sum = count == 0 ? (float) real : narrow_sum + (float) real;
		sum = count == 0 ? real : sum + real;
		count++;
		if (count == 1)
			squares = isnan(real) || isinf(real) ? NAN : 0;
		else
		{
			double		difference = real * (double) count - sum;

			squares += difference * difference / ((double) count * ((double) count - 1));
			if (isinf(squares) || isinf(sum))
				squares = NAN;
		}
	}
	if (words[0] != count || column->reduction == MGPU_REDUCE_COUNT)
		return words[0] == count;
	if (column->reduction == MGPU_REDUCE_BITS && (words[5] != bits_of_any || words[6] != bits_of_all))
		return false;
	if (column->reduction == MGPU_REDUCE_INTEGER || column->reduction == MGPU_REDUCE_BITS)
	{
		words++;
		if ((__int128) (int64_t) words[1] * ((__int128) 1 << 32) + words[0] != integers)
			return false;
		words++;
	}
	else
	{
		if (!same_real(words[1], sum, 8) || !same_real(words[3], column->width == 4 ? narrow_sum : 0, 4) ||
			(column->reduction == MGPU_REDUCE_SPREAD ? !same_real(words[2], squares, 8) : words[2] != 0))
			return false;
		words += 4;
	}
	if (column->reduction == MGPU_REDUCE_INTEGER || column->reduction == MGPU_REDUCE_BITS)
		words++;
	if (count == 0)
		return words[0] == UINT64_MAX && words[1] == 0;
	return words[0] == group_code_of(column, least) && words[1] == group_code_of(column, greatest);
}

static inline uint64_t
mix(uint64_t bits)
{
	return (bits ^ bits >> 31) * UINT64_C(0x7FB5D329728EA185);
}

/* The group's values of a sort: in order, and those of its rows. */
static inline bool
is_sorted(const mgpu_group_spec *spec, uint32_t sort, const char *values, uint64_t count)
{
	uint32_t	number = spec->sorts[sort].column;
	const mgpu_group_column *column = &spec->columns[number];
	uint64_t	expected = 0;
	uint64_t	mixed = 0;
	uint64_t	num_values = 0;
	uint64_t	before = 0;

	for (uint64_t i = 0; i < num_members; i++)
	{
		if ((members[i]->nulls >> number & 1) != 0)
			continue;
		expected += mix(members[i]->bits[number]);
		num_values++;
	}
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	bits = mgpu_load_bits(values + i * column->width, column->width);
		int			order = i == 0 ? 0 : compare(column, before, bits);

		if (spec->sorts[sort].descending ? order < 0 : order > 0)
			return false;
		mixed += mix(bits);
		before = bits;
	}
	return count == num_values && mixed == expected;
}

static inline uint64_t
code_at(const mgpu_group_column *column, const char *values, int64_t position)
{
	return group_code_of(column, mgpu_load_bits(values + (uint64_t) position * column->width, column->width));
}

/* What a record tells of sorted values beside their number. */
static inline bool
is_described(const mgpu_group_spec *spec, uint32_t sort, const char *values, int64_t count, const uint64_t *words)
{
	const mgpu_group_sort *asked = &spec->sorts[sort];
	const mgpu_group_column *column = &spec->columns[asked->column];
	uint64_t	num_different = count > 0;

	for (int64_t i = 1; i < count; i++)
		num_different += code_at(column, values, i) != code_at(column, values, i - 1);
	words++;
	if ((asked->returns & MGPU_SORT_DISTINCT) != 0 && *words++ != num_different)
		return false;
	for (uint32_t i = 0; i < asked->num_percentiles && count > 0; i++)
	{
		const mgpu_group_percentile *percentile = &asked->percentiles[i];
		double		place = percentile->continuous ? percentile->fraction * (double) (count - 1) :
			ceil(percentile->fraction * (double) count) - 1;
		int64_t		low = place < 0 ? 0 : (int64_t) floor(place);
		int64_t		high = percentile->continuous ? (int64_t) ceil(place) : low;

		if (words[2 * i] != code_at(column, values, low) || words[2 * i + 1] != code_at(column, values, high))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------ rows in order */

static const mgpu_group_spec *compared;

/* Of one column, NULLs last. */
static inline int
compare_columns(const group_row *a, const group_row *b, uint32_t column)
{
	int			null_a = (a->nulls >> column & 1) != 0;
	int			null_b = (b->nulls >> column & 1) != 0;

	return null_a || null_b ? null_a - null_b : compare(&compared->columns[column], a->bits[column], b->bits[column]);
}

static inline int
compare_by_keys(const group_row *a, const group_row *b)
{
	int			order = 0;

	for (uint32_t i = 0; order == 0 && i < compared->num_keys; i++)
		order = compare_columns(a, b, compared->keys[i]);
	return order;
}

static inline int
compare_by_orders(const group_row *a, const group_row *b)
{
	for (uint32_t i = 0; i < compared->num_orders; i++)
	{
		const mgpu_group_order *by = &compared->orders[i];
		int			order = compare_columns(a, b, by->column);

		if (((a->nulls | b->nulls) >> by->column & 1) != 0 ? by->nulls_first : by->descending)
			order = -order;
		if (order != 0)
			return order;
	}
	return 0;
}

/* Equal rows as they were written. */
static inline int
compare_members(const void *a, const void *b)
{
	const group_row *row_a = *(group_row *const *) a;
	const group_row *row_b = *(group_row *const *) b;
	int			order = compare_by_keys(row_a, row_b);

	if (order == 0)
		order = compare_by_orders(row_a, row_b);
	return order != 0 ? order : (row_a > row_b) - (row_a < row_b);
}

/* Whether a row came back at a place, with these marks. */
static inline bool
is_returned(const group_outcome *outcome, uint64_t place, const group_row *row, uint32_t marks)
{
	bool		same = place < outcome->result.num_returned;

	for (uint32_t i = 0; same && i < compared->num_columns; i++)
	{
		uint32_t	width = compared->columns[i].width;
		bool		is_null = (row->nulls >> i & 1) != 0;

		if (!compared->columns[i].is_returned)
			continue;
		marks |= (uint32_t) is_null << i;
		same = mgpu_load_bits(outcome->sorted[i] + place * width, width) == (is_null ? 0 : row->bits[i]);
	}
	return same && ((const uint32_t *) outcome->records)[place] == marks;
}

static inline void
check_returned(group_case *job, const group_outcome *outcome)
{
	uint64_t	num_expected = 0;
	uint64_t	num_groups = 0;
	uint64_t	numbers[4] = {0};	/* of a row, by the rule */
	unsigned long num_wrong = 0;

	compared = &job->spec;
	members = malloc((job->num_rows + 1) * sizeof(group_row *));
	num_members = 0;
	for (uint64_t i = 0; i < job->num_rows; i++)
	{
		if (is_kept(job, &job->rows[i]))
			members[num_members++] = &job->rows[i];
	}
	qsort(members, num_members, sizeof(group_row *), compare_members);
	for (uint64_t i = 0; i < num_members; i++)
	{
		bool		starts = i == 0 || compare_by_keys(members[i - 1], members[i]) != 0;
		bool		is_new = starts || compare_by_orders(members[i - 1], members[i]) != 0;

		numbers[MGPU_LIMIT_ROWS] = starts ? 1 : numbers[MGPU_LIMIT_ROWS] + 1;
		numbers[MGPU_LIMIT_RANKS] = is_new ? numbers[MGPU_LIMIT_ROWS] : numbers[MGPU_LIMIT_RANKS];
		numbers[MGPU_LIMIT_DENSE_RANKS] = starts ? 1 : numbers[MGPU_LIMIT_DENSE_RANKS] + is_new;
		num_groups += starts;
		if (numbers[compared->limit_rule] <= compared->limit)
			num_wrong += !is_returned(outcome, num_expected++, members[i],
									  (starts ? MGPU_MARK_GROUP : 0) | (is_new ? MGPU_MARK_PEERS : 0));
	}
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(outcome->result.num_returned == num_expected);
	UNIT_CHECK(outcome->result.num_groups == num_groups);
	UNIT_CHECK(outcome->result.num_rows == num_members);
	free(members);
}

/* ------------------------------------------------------------------ outcomes */

static inline void
check_outcome(group_case *job, const group_outcome *outcome)
{
	const mgpu_group_spec *spec = &job->spec;
	const char *values[MGPU_GROUP_MAX_SORTS];
	uint64_t	num_kept = 0;
	uint64_t	num_grouped = 0;
	unsigned long num_wrong = 0;

	members = malloc((job->num_rows + 1) * sizeof(group_row *));
	for (uint64_t i = 0; i < job->num_rows; i++)
		num_kept += is_kept(job, &job->rows[i]);
	memcpy(values, outcome->sorted, sizeof(values));
	for (uint64_t group = 0; group < outcome->result.num_groups; group++)
	{
		const uint64_t *record = outcome->records + group * outcome->record.num_words;

		num_members = 0;
		for (uint64_t i = 0; i < job->num_rows; i++)
		{
			if (is_kept(job, &job->rows[i]) && is_of_group(spec, &job->rows[i], record))
				members[num_members++] = &job->rows[i];
		}
		num_wrong += record[0] != num_members || (num_members == 0 && spec->num_keys > 0);
		num_grouped += num_members;
		for (uint32_t i = 0; i < spec->num_columns; i++)
			num_wrong += spec->columns[i].reduction != MGPU_REDUCE_NONE &&
				!is_reduced(spec, i, record + outcome->record.reductions[i]);
		for (uint32_t i = 0; i < spec->num_sorts; i++)
		{
			uint64_t	count = record[outcome->record.sorts[i]];

			if (spec->columns[spec->sorts[i].column].num_cells > 0)
				num_wrong += !has_distinct(spec, spec->sorts[i].column, &record[outcome->record.sorts[i]]);
			if ((spec->sorts[i].returns & MGPU_SORT_VALUES) == 0)
				continue;
			num_wrong += !is_sorted(spec, i, values[i], count) ||
				!is_described(spec, i, values[i], (int64_t) count, &record[outcome->record.sorts[i]]);
			values[i] += count * spec->columns[spec->sorts[i].column].width;
		}
	}
	for (uint32_t i = 0; i < spec->num_sorts; i++)
		num_wrong += values[i] != outcome->sorted[i] +
			outcome->result.num_sorted[i] * spec->columns[spec->sorts[i].column].width;
	free(members);
	UNIT_CHECK(num_wrong == 0);
	UNIT_CHECK(outcome->result.num_rows == num_kept);
	UNIT_CHECK(num_grouped == num_kept);
	UNIT_CHECK(spec->num_keys > 0 || outcome->result.num_groups == 1);
}

/* Groups or rows, whichever the case asks for. */
static inline void
check_answer(group_case *job, const group_outcome *outcome)
{
	if (job->spec.limit_rule != MGPU_LIMIT_NONE)
		check_returned(job, outcome);
	else
		check_outcome(job, outcome);
}

#endif							/* MGPU_UNIT_GROUP_CHECK_H */
