/*
 * table_heads.c
 *		Reductions of values of several columns: the least and greatest, and sums of pairs of floats.
 *
 * Texts are compared as PostgreSQL does: by a locale, and what is equal there by their bytes.
 *
 * Pairs are added in order, by the formulas of float8_regr_accum, so that sums are PostgreSQL's to the bit.
 */
#include "core/cpu/table/table_groups.h"

#include <math.h>
#include <string.h>

/* ---- extremes */

/* Whether a value comes before another. */
static inline bool
is_before(const uint64_t *a, const uint64_t *b, uint32_t num_cells)
{
	uint32_t	i = 0;

	while (i + 1 < num_cells && a[i] == b[i])
		i++;
	return a[i] < b[i];
}

/* A text of codes: a zero is put in place of its length, if there is no other behind it. */
static void
put_text(char *text, const uint64_t *codes, uint32_t num_cells)
{
	for (uint32_t i = 0; i < num_cells; i++)
	{
		uint64_t	word = mgpu_swap_64(i + 1 < num_cells ? codes[i] : codes[i] & ~UINT64_C(0xFF));

		memcpy(text + 8 * i, &word, sizeof(word));
	}
}

static bool
is_collated_before(locale_t locale, const uint64_t *a, const uint64_t *b, uint32_t num_cells)
{
	char		text_a[8 * MGPU_GROUP_MAX_CELLS];
	char		text_b[8 * MGPU_GROUP_MAX_CELLS];
	int			order;

	if (memcmp(a, b, num_cells * sizeof(uint64_t)) == 0)
		return false;
	put_text(text_a, a, num_cells);
	put_text(text_b, b, num_cells);
	order = strcoll_l(text_a, text_b, locale);
	return order < 0 || (order == 0 && is_before(a, b, num_cells));
}

static inline bool
comes_before(const mgpu_extremes_of *of, const uint64_t *a, const uint64_t *b)
{
	return of->locale != (locale_t) 0 ? is_collated_before(of->locale, a, b, of->num_cells) : is_before(a, b, of->num_cells);
}

/* words: a count, the least value, then the greatest. */
void
mgpu_table_add_extremes(const mgpu_extremes_of *of, uint64_t *words, const uint64_t *least, const uint64_t *greatest, uint64_t count)
{
	uint64_t   *low = words + 1;
	uint64_t   *high = low + of->num_cells;
	size_t		bytes = of->num_cells * sizeof(uint64_t);
	bool		is_first = words[0] == 0;

	words[0] += count;
	if (count == 0)
		return;
	if (is_first || comes_before(of, least, low))
		memcpy(low, least, bytes);
	if (is_first || comes_before(of, high, greatest))
		memcpy(high, greatest, bytes);
}

void
mgpu_table_add_values(const mgpu_extremes_of *of, const mgpu_table_rows *rows, uint32_t head, uint64_t *words, uint32_t num_words, const uint32_t *numbers)
{
	bool		has_nulls = (rows->some_nulls >> head & 1) != 0;

	for (uint32_t row = 0; row < rows->num_rows; row++)
	{
		uint64_t   *to = words + (numbers == NULL ? 0 : (uint64_t) numbers[row] * num_words);
		uint64_t	value[MGPU_GROUP_MAX_CELLS];

		if (has_nulls && (rows->nulls[row] >> head & 1) != 0)
			continue;
		for (uint32_t i = 0; i < of->num_cells; i++)
			value[i] = rows->codes[head + i][row];
		mgpu_table_add_extremes(of, to, value, value, 1);
	}
}

/* ---- pairs of floats */

/* An infinite sum of squares is no number. */
static inline double
without_infinity(double sum)
{
	return __builtin_expect(isinf(sum), 0) ? NAN : sum;
}

/* sums: x, xx, y, yy, xy, as float8_regr_accum adds to them.  before: pairs so far. */
static inline bool
add_pair(double *sums, double before, double y, double x)
{
	double		count = before + 1;
	double		scale = 1 / (count * before);
	bool		x_may = !isinf(sums[0]) && !isinf(x);
	bool		y_may = !isinf(sums[2]) && !isinf(y);
	double		part_x;
	double		part_y;
	bool		overflows;

	sums[0] += x;
	sums[2] += y;
	part_x = x * count - sums[0];
	part_y = y * count - sums[2];
	sums[1] += part_x * part_x * scale;
	sums[3] += part_y * part_y * scale;
	sums[4] += part_x * part_y * scale;
	overflows = (x_may && (isinf(sums[0]) || isinf(sums[1]))) || (y_may && (isinf(sums[2]) || isinf(sums[3]))) ||
		(x_may && y_may && isinf(sums[4]));
	sums[1] = without_infinity(sums[1]);
	sums[3] = without_infinity(sums[3]);
	sums[4] = without_infinity(sums[4]);
	return !overflows;
}

static inline double
real_of(uint64_t code)
{
	return mgpu_real_of_bits(mgpu_decode_f64(code));
}

static inline void
begin_pairs(double *sums, double y, double x)
{
	sums[0] = 0 + x;
	sums[1] = isfinite(x) ? 0 : NAN;
	sums[2] = 0 + y;
	sums[3] = isfinite(y) ? 0 : NAN;
	sums[4] = isfinite(x) && isfinite(y) ? 0 : NAN;
}

bool
mgpu_table_add_pairs(const mgpu_table_rows *rows, uint32_t head, uint64_t *words, uint32_t num_words, const uint32_t *numbers)
{
	bool		has_nulls = (rows->some_nulls >> head & 1) != 0;
	bool		fits = true;

	for (uint32_t row = 0; row < rows->num_rows; row++)
	{
		uint64_t   *to = words + (numbers == NULL ? 0 : (uint64_t) numbers[row] * num_words);
		double		sums[5];

		if (has_nulls && (rows->nulls[row] >> head & 1) != 0)
			continue;
		memcpy(sums, to + 1, sizeof(sums));
		if (to[0] == 0)
			begin_pairs(sums, real_of(rows->codes[head][row]), real_of(rows->codes[head + 1][row]));
		else
			fits &= add_pair(sums, (double) to[0], real_of(rows->codes[head][row]), real_of(rows->codes[head + 1][row]));
		memcpy(to + 1, sums, sizeof(sums));
		to[0]++;
	}
	return fits;
}
