/*
 * reduced_squares.c
 *		Standard deviations and variances of integers and numeric.
 *
 * PostgreSQL computes them of a count, a sum and a sum of squares, which are exact.  Those of int2 and int4 are integers of 128 bits here, too, and so are
 * all that a job has added.  In the end PostgreSQL's own functions make the result, of a state that they read as from a worker.  Rows of int8 and numeric
 * that no job reads are added by PostgreSQL's transition functions.  The arithmetic of the end was rejected: how many digits it shows is PostgreSQL's to say.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "exec/reduced_numeric.h"
#include "exec/reduced_rows.h"
#include "exec/reduced_squares.h"

/* ---- rows */

static void
add_by_call(const reduced_values *values, PGFunction accumulate, Datum value, reduced_state *to)
{
	reduced_squares *squares = &to->squares;

	to->count++;
	squares->state = reduced_call(accumulate, values->context, squares->is_state ? squares->state : NULL, value);
	squares->is_state = true;
}

static pg_attribute_always_inline void
add_small(reduced_state *to, int64 value)
{
	to->count++;
	to->squares.sum += value;
	to->squares.squares += value * value;
}

static pg_attribute_always_inline void
add_value(const reduced_values *values, const column *col, uint64 row, reduced_state *to)
{
	const char *cell = cell_element(col->type, col->cells, row);

	if (to->count < 0)
		return;
	if (column_is_variable(col->type))
		add_by_call(values, numeric_accum, PointerGetDatum(cell), to);
	else if (col->type->width == sizeof(int64))
		add_by_call(values, int8_accum, Int64GetDatum(*(const int64 *) cell), to);
	else
		add_small(to, col->type->width == sizeof(int32) ? *(const int32 *) cell : *(const int16 *) cell);
}

void
reduced_squares_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end, reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];

	for (uint64 i = begin; i < end; i++)
	{
		uint64		row = row_groups_row(numbers, i);

		if (counts(&counted, row))
			add_value(values, col, row, to);
	}
}

void
reduced_squares_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];

	for (uint64 row = 0; row < rows->num_rows; row++)
		if (counts(&counted, row))
			add_value(values, col, row, &to[groups[row]]);
}

bool
reduced_squares_take_back(const reduced_values *values, const column *col, uint64 row, reduced_state *state)
{
	const char *cell = cell_element(col->type, col->cells, row);
	bool		is_numeric = column_is_variable(col->type);
	reduced_squares *squares = &state->squares;
	int64		value;

	if (is_numeric || col->type->width == sizeof(int64))
	{
		squares->state = reduced_call(is_numeric ? numeric_accum_inv : int8_accum_inv, values->context, squares->state,
									  is_numeric ? PointerGetDatum(cell) : Int64GetDatum(*(const int64 *) cell));
		return squares->state != NULL;
	}
	value = col->type->width == sizeof(int32) ? *(const int32 *) cell : *(const int16 *) cell;
	squares->sum -= value;
	squares->squares -= value * value;
	return true;
}

/* ---- results */

/* Digits of base 10,000 that 128 bits have, with those of a scale that is no multiple of four. */
#define MOST_DIGITS 11

/* A sign of numeric.c; that of others is 0. */
#define SIGN_NEGATIVE 0x4000

/* Write a number in units of 10^-scale, as numeric.c writes those of a state: its digits, their weight, a sign, and how many digits behind the point it shows. */
static void
send_number(StringInfo buffer, int128 number, int scale, int shown)
{
	int			places = (scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	uint128		rest = number < 0 ? -(uint128) number : (uint128) number;
	int16		digits[MOST_DIGITS];
	int			first = MOST_DIGITS;

	for (int i = scale; i < places * DIGIT_PLACES; i++)
		rest *= 10;
	for (; rest > 0; rest /= DIGIT_BASE)
		digits[--first] = (int16) (rest % DIGIT_BASE);
	pq_sendint32(buffer, MOST_DIGITS - first);
	pq_sendint32(buffer, MOST_DIGITS - first - places - 1);
	pq_sendint32(buffer, number < 0 ? SIGN_NEGATIVE : 0);
	pq_sendint32(buffer, shown);
	for (int i = first; i < MOST_DIGITS; i++)
		pq_sendint16(buffer, digits[i]);
}

/* The state of PostgreSQL's functions, in the current context: what numeric_deserialize makes of it. */
static void *
state_of(const reduced_state *state)
{
	const reduced_squares *squares = &state->squares;
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint64(&buffer, state->count);
	send_number(&buffer, squares->sum, squares->scale, squares->shown);
	send_number(&buffer, squares->squares, 2 * squares->scale, 2 * squares->shown);
	/* what moving aggregates ask for, and counts of NaN and of both infinities */
	pq_sendint32(&buffer, squares->shown);
	for (int i = 0; i < 4; i++)
		pq_sendint64(&buffer, 0);
	return reduced_call(numeric_deserialize, CurrentMemoryContext, pq_endtypsend(&buffer), (Datum) 0);
}

Datum
reduced_squares_result(reduction what, const reduced_state *state, bool *is_null)
{
	static const PGFunction functions[] = {
		[REDUCE_STDDEV_SAMP_OF_NUMBERS] = numeric_stddev_samp,
		[REDUCE_STDDEV_POP_OF_NUMBERS] = numeric_stddev_pop,
		[REDUCE_VAR_SAMP_OF_NUMBERS] = numeric_var_samp,
		[REDUCE_VAR_POP_OF_NUMBERS] = numeric_var_pop
	};
	LOCAL_FCINFO(call, 1);
	Datum		result;

	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0] = (NullableDatum) {PointerGetDatum(state->squares.is_state ? state->squares.state : state_of(state)), false};
	result = functions[what] (call);
	*is_null = call->isnull;
	return result;
}
