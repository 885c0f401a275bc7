/*
 * table_reduce.c
 *		Counts, sums and extremes, kept in the words of groups' records (mgpu_reduction).
 *
 * A column at a time: a loop adds the codes of a vector's rows to the records of their groups.  All rows of one group are added in
 * registers.  Sums of floats are PostgreSQL's, to the bit: values are added in order, squares by the formula of float8_accum (Youngs and
 * Cramer).
 */
#include "core/cpu/table/table_groups.h"

#include <math.h>
#include <string.h>

/* Of a column of floats, or of a pair. */
#define FLOAT_WORDS 6

/* Of a vector's rows. */
typedef struct reduced_column
{
	const uint64_t *codes;
	const uint32_t *nulls;		/* NULL: the column has none */
	uint32_t	number;
	uint32_t	num_rows;
} reduced_column;

/* ---- one value; false: a sum overflows */

static inline bool
add_count(uint64_t *words, uint64_t code)
{
	words[0]++;
	return true;
}

static inline void
add_extremes(uint64_t *words, uint64_t code)
{
	words[0] = code < words[0] ? code : words[0];
	words[1] = code > words[1] ? code : words[1];
}

static inline bool
add_signed(uint64_t *words, uint64_t code)
{
	words[0]++;
	words[1] += mgpu_integer_low(code, MGPU_KEY_SIGNED);
	words[2] += (uint64_t) mgpu_integer_high(code, MGPU_KEY_SIGNED);
	add_extremes(words + 3, code);
	return true;
}

static inline bool
add_unsigned(uint64_t *words, uint64_t code)
{
	words[0]++;
	words[1] += mgpu_integer_low(code, MGPU_KEY_UNSIGNED);
	words[2] += (uint64_t) mgpu_integer_high(code, MGPU_KEY_UNSIGNED);
	add_extremes(words + 3, code);
	return true;
}

static inline bool
add_bits(uint64_t *words, uint64_t code)
{
	uint64_t	bits = mgpu_column_bits(code, MGPU_KEY_SIGNED, 8);

	words[5] |= bits;
	words[6] &= bits;
	return add_signed(words, code);
}

/* A float's, whose sum nobody wants. */
static inline bool
add_code(uint64_t *words, uint64_t code)
{
	words[0]++;
	add_extremes(words + 3, code);
	return true;
}

static inline float
float_of_bits(uint64_t bits)
{
	uint32_t	narrow = (uint32_t) bits;
	float		value;

	memcpy(&value, &narrow, sizeof(value));
	return value;
}

static inline uint64_t
bits_of_float(float value)
{
	uint32_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline bool
is_overflow(double sum, double before, double value)
{
	return __builtin_expect(isinf(sum), 0) && !isinf(before) && !isinf(value);
}

static inline double
value_of(uint64_t code, bool is_narrow)
{
	uint64_t	bits = mgpu_column_bits(code, MGPU_KEY_FLOAT, is_narrow ? 4 : 8);

	return is_narrow ? (double) float_of_bits(bits) : mgpu_real_of_bits(bits);
}

/* The sum of a float4 column as float4. */
static inline bool
add_narrow(uint64_t *words, double value)
{
	float		before = float_of_bits(words[3]);
	float		sum = before + (float) value;

	words[3] = bits_of_float(sum);
	return !is_overflow(sum, before, value);
}

static inline bool
add_real(uint64_t *words, uint64_t code, bool is_narrow)
{
	double		value = value_of(code, is_narrow);
	double		before = mgpu_real_of_bits(words[1]);
	double		sum = before + value;

	words[0]++;
	words[1] = mgpu_bits_of_real(sum);
	add_extremes(words + 4, code);
	return !(is_narrow && !add_narrow(words, value)) && !is_overflow(sum, before, value);
}

static inline bool
add_spread(uint64_t *words, uint64_t code, bool is_narrow)
{
	double		value = value_of(code, is_narrow);
	double		before = mgpu_real_of_bits(words[1]);
	double		sum = before + value;
	double		count = (double) ++words[0];
	double		difference = value * count - sum;
	double		squares = mgpu_real_of_bits(words[2]) + difference * difference / (count * (count - 1));
	bool		fits = !is_narrow || add_narrow(words, value);

	if (words[0] == 1)
		squares = isnan(value) || isinf(value) ? NAN : 0;
	else if (__builtin_expect(isinf(sum) || isinf(squares), 0))
	{
		fits &= isinf(before) || isinf(value);
		squares = NAN;
	}
	words[1] = mgpu_bits_of_real(sum);
	words[2] = mgpu_bits_of_real(squares);
	add_extremes(words + 4, code);
	return fits;
}

#define add_real_4(words, code) add_real(words, code, true)
#define add_real_8(words, code) add_real(words, code, false)
#define add_spread_4(words, code) add_spread(words, code, true)
#define add_spread_8(words, code) add_spread(words, code, false)

/* ---- loops */

#define FOR_VALUES(add, words) \
	do { \
		if (column->nulls == NULL) \
		{ \
			for (uint32_t i = 0; i < column->num_rows; i++) \
				fits &= add(words, column->codes[i]); \
		} \
		else \
		{ \
			for (uint32_t i = 0; i < column->num_rows; i++) \
			{ \
				if ((column->nulls[i] >> column->number & 1) == 0) \
					fits &= add(words, column->codes[i]); \
			} \
		} \
	} while (0)

/* To the group of each row; and to one group. */
#define DEFINE_LOOPS(add, count) \
static bool \
add##_each(const reduced_column *column, uint64_t *words, uint32_t num_words, const uint32_t *numbers) \
{ \
	bool		fits = true; \
	\
	FOR_VALUES(add, words + (uint64_t) numbers[i] * num_words); \
	return fits; \
} \
static bool \
add##_all(const reduced_column *column, uint64_t *words) \
{ \
	uint64_t	local[count]; \
	bool		fits = true; \
	\
	memcpy(local, words, (count) * sizeof(uint64_t)); \
	FOR_VALUES(add, local); \
	memcpy(words, local, (count) * sizeof(uint64_t)); \
	return fits; \
}

DEFINE_LOOPS(add_count, 1)
DEFINE_LOOPS(add_signed, 5)
DEFINE_LOOPS(add_unsigned, 5)
DEFINE_LOOPS(add_bits, 7)
DEFINE_LOOPS(add_code, 5)
DEFINE_LOOPS(add_real_4, 6)
DEFINE_LOOPS(add_real_8, 6)
DEFINE_LOOPS(add_spread_4, 6)
DEFINE_LOOPS(add_spread_8, 6)

#define ADD(add) (numbers == NULL ? add##_all(column, words) : add##_each(column, words, num_words, numbers))

static bool
add_column(const mgpu_group_column *of, const reduced_column *column, uint64_t *words, uint32_t num_words, const uint32_t *numbers)
{
	switch (of->reduction)
	{
		case MGPU_REDUCE_COUNT:
			return ADD(add_count);
		case MGPU_REDUCE_INTEGER:
			return of->kind == MGPU_KEY_SIGNED ? ADD(add_signed) : of->kind == MGPU_KEY_FLOAT ? ADD(add_code) : ADD(add_unsigned);
		case MGPU_REDUCE_BITS:
			return ADD(add_bits);
		case MGPU_REDUCE_REAL:
			return of->width == 4 ? ADD(add_real_4) : ADD(add_real_8);
		default:
			return of->width == 4 ? ADD(add_spread_4) : ADD(add_spread_8);
	}
}

/* ---- records */

static mgpu_extremes_of
extremes_of(const mgpu_table_groups *groups, uint32_t column)
{
	const mgpu_group_column *of = &groups->spec->columns[column];

	return (mgpu_extremes_of) {of->num_cells, of->is_collated ? groups->locale : (locale_t) 0};
}

void
mgpu_table_count_rows(const mgpu_table_groups *groups, const mgpu_table_rows *rows, const uint32_t *numbers)
{
	if (numbers == NULL)
		groups->records[0] += rows->num_rows;
	for (uint32_t i = 0; numbers != NULL && i < rows->num_rows; i++)
		mgpu_table_record(groups, numbers[i])[0]++;
}

bool
mgpu_table_reduce(const mgpu_table_groups *groups, const mgpu_group_record *record, const mgpu_table_rows *rows, const uint32_t *numbers,
				  uint32_t columns)
{
	const mgpu_group_spec *spec = groups->spec;
	bool		fits = true;

	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		bool		has_nulls = (rows->some_nulls >> i & 1) != 0;
		reduced_column column = {rows->codes[i], has_nulls ? rows->nulls : NULL, i, rows->num_rows};
		mgpu_extremes_of of = extremes_of(groups, i);

		if ((columns >> i & 1) == 0)
			continue;
		if (spec->columns[i].reduction == MGPU_REDUCE_EXTREMES)
			mgpu_table_add_values(&of, rows, i, groups->records + record->reductions[i], groups->num_words, numbers);
		else if (spec->columns[i].reduction == MGPU_REDUCE_PAIRS)
			fits &= mgpu_table_add_pairs(rows, i, groups->records + record->reductions[i], groups->num_words, numbers);
		else if (spec->columns[i].reduction != MGPU_REDUCE_NONE)
			fits &= add_column(&spec->columns[i], &column, groups->records + record->reductions[i], groups->num_words, numbers);
	}
	return fits;
}

void
mgpu_table_fresh_record(const mgpu_group_spec *spec, const mgpu_group_record *record, uint64_t *words)
{
	memset(words, 0, record->num_words * sizeof(uint64_t));
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		if (spec->columns[i].reduction == MGPU_REDUCE_INTEGER || spec->columns[i].reduction == MGPU_REDUCE_BITS)
			words[record->reductions[i] + 3] = UINT64_MAX;
		if (spec->columns[i].reduction == MGPU_REDUCE_BITS)
			words[record->reductions[i] + 6] = UINT64_MAX;
		if (spec->columns[i].reduction == MGPU_REDUCE_EXTREMES)
			memset(words + record->reductions[i] + 1, 0xFF, spec->columns[i].num_cells * sizeof(uint64_t));
		if (spec->columns[i].reduction == MGPU_REDUCE_REAL || spec->columns[i].reduction == MGPU_REDUCE_SPREAD)
			words[record->reductions[i] + 4] = UINT64_MAX;
	}
}

void
mgpu_table_add_record(const mgpu_table_groups *groups, const mgpu_group_record *record, uint64_t *to, const uint64_t *from)
{
	const mgpu_group_spec *spec = groups->spec;

	to[0] += from[0];
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		uint64_t   *words = to + record->reductions[i];
		const uint64_t *more = from + record->reductions[i];
		mgpu_extremes_of of = extremes_of(groups, i);

		if (spec->columns[i].reduction == MGPU_REDUCE_NONE)
			continue;
		if (spec->columns[i].reduction == MGPU_REDUCE_EXTREMES)
		{
			mgpu_table_add_extremes(&of, words, more + 1, more + 1 + of.num_cells, more[0]);
			continue;
		}
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
		{
			if (more[0] > 0)
				memcpy(words, more, FLOAT_WORDS * sizeof(uint64_t));
			continue;
		}
		words[0] += more[0];
		if (spec->columns[i].reduction == MGPU_REDUCE_COUNT)
			continue;
		words[1] += more[1];
		words[2] += more[2];
		words[3] = more[3] < words[3] ? more[3] : words[3];
		words[4] = more[4] > words[4] ? more[4] : words[4];
		if (spec->columns[i].reduction != MGPU_REDUCE_BITS)
			continue;
		words[5] |= more[5];
		words[6] &= more[6];
	}
}

void
mgpu_table_finish_records(const mgpu_table_groups *groups, const mgpu_group_record *record)
{
	for (uint32_t i = 0; i < groups->spec->num_columns; i++)
	{
		int			num_reals = groups->spec->columns[i].reduction == MGPU_REDUCE_PAIRS ? 5 : 2;

		if (groups->spec->columns[i].reduction < MGPU_REDUCE_REAL)
			continue;
		for (uint64_t group = 0; group < groups->num_groups; group++)
		{
			uint64_t   *words = mgpu_table_record(groups, group) + record->reductions[i];

			for (int word = 1; word <= num_reals; word++)
				words[word] = isnan(mgpu_real_of_bits(words[word])) ? MGPU_F64_NAN : words[word];
			if (num_reals == 2)
				words[3] = isnan(float_of_bits(words[3])) ? MGPU_F32_NAN : words[3];
		}
	}
}
