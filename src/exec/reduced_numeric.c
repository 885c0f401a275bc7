/*
 * reduced_numeric.c
 *		Sums, averages, minima and maxima of numeric.
 *
 * A numeric with up to five digits of base 10,000 before the point and four behind it is an integer of 128 bits, in units of
 * 10^-16, which is added and compared at once.  Other values are odd: NaN, infinities, and what is larger or finer.  Sums of odd values
 * are left to PostgreSQL's transition function, beside the integer.  Extremes are numerics once a value has been odd: the last
 * of equal values counts, so that odd and other values have to be compared in their order.
 *
 * Calling PostgreSQL's functions for all values was rejected: a sum takes 30 ns a row then, 60 with 100,000 groups, and here 9.
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "core/program.h"
#include "exec/reduced_numeric.h"
#include "exec/reduced_rows.h"

typedef struct short_numeric
{
	int32		length;			/* of varlena */
	uint16		header;
	int16		digits[FLEXIBLE_ARRAY_MEMBER];
} short_numeric;

/* Digits of a plain number before the point and behind it. */
#define WHOLE_DIGITS 5
#define FRACTION_DIGITS 4

/* A plain number and its display scale in one: SCALES * number + scale. */
#define SCALES (SHORT_SCALE_MASK + 1)

/* Digits that fit in 64 bits, and the number above them; digits of 128 bits, a multiple of those. */
#define PART_DIGITS 4
#define PART INT64CONST(10000000000000000)
#define MOST_DIGITS 12

static const int128 powers[] = {
	1, 10000, 100000000, INT64CONST(1000000000000), PART, (int128) PART * 10000, (int128) PART * 100000000,
	(int128) PART * INT64CONST(1000000000000), (int128) PART * PART, (int128) PART * PART * 10000
};

/* ---- numbers */

/* Behind a header of one byte, as tables and files have it, nothing is aligned. */
static pg_attribute_always_inline uint16
read_word(const char *bytes, int number)
{
	uint16		word;

	memcpy(&word, bytes + number * sizeof(uint16), sizeof(uint16));
	return word;
}

/* The number of a numeric, and its display scale.  false: it is odd. */
static pg_attribute_always_inline bool
read_plain(const void *stored, int128 *number, int *scale)
{
	const char *bytes = VARDATA_ANY(stored);
	uint64		first = 0;
	uint16		header;
	int			num_digits;
	int			weight;
	int			zeros;
	int			i;

	if (unlikely(VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored)))
		return false;
	header = read_word(bytes, 0);
	num_digits = (int) (VARSIZE_ANY_EXHDR(stored) / sizeof(uint16)) - 1;
	weight = SHORT_WEIGHT(header);
	zeros = weight + 1 + FRACTION_DIGITS - num_digits;
	if (unlikely((header & NUMERIC_SPECIAL) != NUMERIC_SHORT || weight >= WHOLE_DIGITS || zeros < 0))
		return false;
	for (i = 0; i < Min(num_digits, PART_DIGITS); i++)
		first = first * DIGIT_BASE + read_word(bytes, i + 1);
	*number = first;
	for (; i < num_digits; i++)
		*number = *number * DIGIT_BASE + read_word(bytes, i + 1);
	*number *= powers[zeros];
	if (header & SHORT_NEGATIVE)
		*number = -*number;
	*scale = SHORT_SCALE(header);
	return true;
}

/* number / DIGIT_BASE^places, with so many decimal digits shown behind the point. */
static Datum
make_numeric(int128 number, int places, int scale)
{
	uint128 rest = number < 0 ? -(uint128) number : (uint128) number;
	int16		digits[MOST_DIGITS];
	int			first = 0;
	int			end = MOST_DIGITS;
	int			weight;
	short_numeric *made;
	Size		bytes;

	for (int i = MOST_DIGITS; i > 0; rest /= PART)
	{
		uint64		part = rest % PART;

		for (int n = 0; n < PART_DIGITS; n++, part /= DIGIT_BASE)
			digits[--i] = part % DIGIT_BASE;
	}
	while (first < end && digits[first] == 0)
		first++;
	while (end > first && digits[end - 1] == 0)
		end--;
	weight = first == end ? 0 : MOST_DIGITS - places - 1 - first;
	bytes = offsetof(short_numeric, digits) + (end - first) * sizeof(int16);
	made = palloc(bytes);
	SET_VARSIZE(made, bytes);
	made->header = NUMERIC_SHORT | (number < 0 ? SHORT_NEGATIVE : 0) | scale << SHORT_SCALE_SHIFT | (weight & SHORT_WEIGHT_MASK);
	memcpy(made->digits, digits + first, (end - first) * sizeof(int16));
	return PointerGetDatum(made);
}

Datum
reduced_integer_to_numeric(int128 value)
{
	return make_numeric(value, 0, 0);
}

/* ---- sums */

void *
reduced_call(PGFunction function, MemoryContext context, void *state, Datum value)
{
	LOCAL_FCINFO(call, 2);
	WindowAggState caller = {.ss.ps.type = T_WindowAggState,.curaggcontext = context};

	InitFunctionCallInfoData(*call, NULL, 2, InvalidOid, (Node *) &caller, NULL);
	call->args[0] = (NullableDatum) {PointerGetDatum(state), state == NULL};
	call->args[1] = (NullableDatum) {value, false};
	return DatumGetPointer(function(call));
}

static void
add_odd_number(MemoryContext context, Datum number, reduced_numeric_sum *to)
{
	to->odd = reduced_call(numeric_avg_accum, context, to->odd, number);
}

/* The sum of plain numbers goes to the odd ones. */
static pg_noinline void
put_sum_aside(MemoryContext context, reduced_numeric_sum *to)
{
	Datum		sum = make_numeric(to->sum, FRACTION_DIGITS, to->scale);

	add_odd_number(context, sum, to);
	pfree(DatumGetPointer(sum));
}

static pg_attribute_always_inline void
add_to_sum(MemoryContext context, reduced_state *to, int128 number, int scale)
{
	reduced_numeric_sum *sum = &to->numeric_sum;
	int128		added;

	if (unlikely(__builtin_add_overflow(sum->sum, number, &added)))
	{
		if (to->count > 0)
			put_sum_aside(context, sum);
		added = number;
	}
	sum->sum = added;
	sum->scale = Max(sum->scale, scale);
}

static Datum
sum_of(const reduced_numeric_sum *sum)
{
	Datum		plain = make_numeric(sum->sum, FRACTION_DIGITS, sum->scale);

	if (sum->odd == NULL)
		return plain;
	return DirectFunctionCall2(numeric_add, plain, DirectFunctionCall1(numeric_sum, PointerGetDatum(sum->odd)));
}

/* ---- minima and maxima */

struct odd_extremes
{
	Datum		min;
	Datum		max;
};

static pg_attribute_always_inline void
add_to_extremes(reduced_state *to, int128 number, int scale)
{
	reduced_numeric_extremes *extremes = &to->numeric_extremes;
	int128		shown = number * SCALES + scale;

	/* of equal values the last one counts */
	if (to->count == 0 || number * SCALES <= extremes->min)
		extremes->min = shown;
	if (to->count == 0 || number * SCALES + SCALES - 1 >= extremes->max)
		extremes->max = shown;
}

static Datum
make_extreme(int128 shown)
{
	int			scale = (int) ((uint128) shown % SCALES);

	return make_numeric((shown - scale) / SCALES, FRACTION_DIGITS, scale);
}

static void
replace(Datum *old, Datum number)
{
	pfree(DatumGetPointer(*old));
	*old = datumCopy(number, false, -1);
}

/* Compare a number with numerics, odd or not. */
static void
add_odd_extreme(MemoryContext context, Datum number, reduced_state *to)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	reduced_numeric_extremes *extremes = &to->numeric_extremes;
	odd_extremes *odd = extremes->odd;

	if (odd == NULL)
	{
		odd = extremes->odd = palloc(sizeof(odd_extremes));
		odd->min = to->count > 0 ? make_extreme(extremes->min) : datumCopy(number, false, -1);
		odd->max = to->count > 0 ? make_extreme(extremes->max) : datumCopy(number, false, -1);
	}
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, number, odd->min)) <= 0)
		replace(&odd->min, number);
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, number, odd->max)) >= 0)
		replace(&odd->max, number);
	MemoryContextSwitchTo(caller);
}

/* ---- rows */

static pg_noinline void
add_odd(const reduced_values *values, const void *stored, reduced_state *to)
{
	Datum		number;

	if (to->count < 0)
		return;
	number = PointerGetDatum(PG_DETOAST_DATUM(PointerGetDatum(stored)));
	if (values->kind == REDUCED_NUMERIC_SUM)
		add_odd_number(values->context, number, &to->numeric_sum);
	else
		add_odd_extreme(values->context, number, to);
	if (DatumGetPointer(number) != stored)
		pfree(DatumGetPointer(number));
}

static pg_attribute_always_inline void
add_value(const reduced_values *values, const void *stored, reduced_state *to)
{
	int128		number;
	int			scale;
	bool		is_plain = read_plain(stored, &number, &scale);

	if (is_plain && values->kind == REDUCED_NUMERIC_SUM)
		add_to_sum(values->context, to, number, scale);
	else if (is_plain && (to->count <= 0 || to->numeric_extremes.odd == NULL))
		add_to_extremes(to, number, scale);
	else
		add_odd(values, stored, to);
	to->count++;
}

void
reduced_numeric_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end,
						 reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];
	uint64		num_rows = row_groups_count(numbers);

	for (uint64 i = begin; i < end; i++)
	{
		uint64		row = row_groups_row(numbers, i);

		row_groups_fetch_ahead(numbers, col, i, num_rows);
		if (counts(&counted, row))
			add_value(values, cell_element(col->type, col->cells, row), to);
	}
}

void
reduced_numeric_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];

	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		if (row + ROWS_AHEAD < rows->num_rows)
			fetch_ahead(&to[groups[row + ROWS_AHEAD]]);
		if (counts(&counted, row))
			add_value(values, cell_element(col->type, col->cells, row), &to[groups[row]]);
	}
}

bool
reduced_numeric_take_back(const void *stored, reduced_state *state)
{
	reduced_numeric_sum *sum = &state->numeric_sum;
	int128		number;
	int			scale;

	return sum->odd == NULL && read_plain(stored, &number, &scale) && !__builtin_sub_overflow(sum->sum, number, &sum->sum);
}

/* ---- integers of a scale */

/* Digits of units behind those of a scale. */
static int128
units_of(int scale)
{
	int128		units = 1;

	for (int i = scale; i < FRACTION_DIGITS * DIGIT_PLACES; i++)
		units *= 10;
	return units;
}

/* Sums that are too large in units of 10^-16 are odd ones. */
void
reduced_numeric_take_sum(const reduced_values *values, int128 sum, int scale, int shown, reduced_state *state)
{
	Datum		unit;

	state->numeric_sum.scale = shown;
	if (!__builtin_mul_overflow(sum, units_of(scale), &state->numeric_sum.sum))
		return;
	state->numeric_sum.sum = 0;
	unit = make_numeric(units_of(scale), FRACTION_DIGITS, shown);
	add_odd_number(values->context, DirectFunctionCall2(numeric_mul, make_numeric(sum, 0, 0), unit), &state->numeric_sum);
}

/* Both have fewer digits than any sum of numerics that come one by one, so PostgreSQL's functions add them. */
void
reduced_numeric_take_quotients(const reduced_values *values, int128 quotients, int128 rests, int shown, reduced_state *state)
{
	state->numeric_sum.scale = shown;
	add_odd_number(values->context, make_numeric(quotients, MGPU_QUOTIENT_DIGITS / DIGIT_PLACES, shown), &state->numeric_sum);
	add_odd_number(values->context, make_numeric(rests, (MGPU_QUOTIENT_DIGITS + MGPU_REST_DIGITS) / DIGIT_PLACES, shown), &state->numeric_sum);
}

void
reduced_numeric_take_extremes(const reduced_values *values, Datum least, Datum greatest, reduced_state *state)
{
	MemoryContext caller = MemoryContextSwitchTo(values->context);
	odd_extremes *odd = palloc(sizeof(odd_extremes));

	*odd = (odd_extremes) {.min = datumCopy(least, false, -1),.max = datumCopy(greatest, false, -1)};
	state->numeric_extremes.odd = odd;
	MemoryContextSwitchTo(caller);
}

int128
reduced_numeric_extreme(int64 number, int scale, int shown)
{
	return number * units_of(scale) * SCALES + shown;
}

/* ---- results */

Datum
reduced_numeric_result(reduction what, const reduced_state *state)
{
	const reduced_numeric_extremes *extremes = &state->numeric_extremes;

	switch (what)
	{
		case REDUCE_SUM_OF_NUMERIC:
			return sum_of(&state->numeric_sum);
		case REDUCE_AVG_OF_NUMERIC:
			return DirectFunctionCall2(numeric_div, sum_of(&state->numeric_sum), NumericGetDatum(int64_to_numeric(state->count)));
		case REDUCE_MIN_OF_NUMERIC:
			return extremes->odd ? extremes->odd->min : make_extreme(extremes->min);
		default:
			return extremes->odd ? extremes->odd->max : make_extreme(extremes->max);
	}
}
