/*
 * expr_store.c
 *		Puts what programs compute into columns.
 */
#include "postgres.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "expr/compile.h"

/* Digits of base 10,000 that 64 bits of any scale may take. */
#define MOST_DIGITS 10

typedef struct short_numeric
{
	int32		length;			/* of varlena */
	uint16		header;
	int16		digits[MOST_DIGITS];
} short_numeric;

/* number / 10^scale, shown with so many digits behind the point.  Digits of base 10,000 that are zero at the ends are left out. */
static Datum
make_numeric(short_numeric *made, int64 number, int scale, int shown)
{
	uint64		rest = number < 0 ? -(uint64) number : (uint64) number;
	uint64		unit = power_of_ten(scale);
	uint64		whole = rest / unit;
	int			places = (scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	uint64		fraction = rest % unit * power_of_ten(places * DIGIT_PLACES - scale);
	int16		digits[MOST_DIGITS];
	int			weight = -1;
	int			first = 0;
	int			end = MOST_DIGITS;
	int			begin = MOST_DIGITS - places;

	for (int i = MOST_DIGITS - 1; i >= begin; i--, fraction /= DIGIT_BASE)
		digits[i] = fraction % DIGIT_BASE;
	for (; whole > 0; whole /= DIGIT_BASE, weight++)
		digits[--begin] = whole % DIGIT_BASE;
	for (first = begin; first < end && digits[first] == 0; first++)
		weight--;
	while (end > first && digits[end - 1] == 0)
		end--;
	if (first == end)
		weight = 0;
	made->header = NUMERIC_SHORT | (number < 0 ? SHORT_NEGATIVE : 0) | shown << SHORT_SCALE_SHIFT | (weight & SHORT_WEIGHT_MASK);
	memcpy(made->digits, digits + first, (end - first) * sizeof(int16));
	SET_VARSIZE(made, offsetof(short_numeric, digits) + (end - first) * sizeof(int16));
	return PointerGetDatum(made);
}

Datum
number_to_numeric(int64 number, int scale, int shown)
{
	return make_numeric(palloc(sizeof(short_numeric)), number, scale, shown);
}

/* A value that is no number of fixed width. */
static void
store_other(const expr_value *value, const mgpu_register *reg, uint32 i, chunk *rows, column *col, uint64 row)
{
	short_numeric made;

	if (value->type.lane == MGPU_LANE_BYTES && value->type.width > 0)
		chunk_put(rows, col, row, PointerGetDatum(reg->bytes[i]), false);
	else if (value->type.lane == MGPU_LANE_BYTES)
		chunk_put_bytes(rows, col, row, reg->bytes[i], reg->lengths[i]);
	else
		chunk_put(rows, col, row, make_numeric(&made, reg->integers[i], value->type.scale,
											   value->type.lane == MGPU_LANE_SHOWN ? (int) reg->lengths[i] : value->type.scale), false);
}

#define STORE(type, member) \
	for (uint32 i = 0; i < num_rows; i++) \
		((type *) col->cells)[first + i] = (type) reg->member[i]

/* Cells of values, of a type of fixed width that is passed by value.  false: it is none. */
static bool
store_numbers(const expr_value *value, const mgpu_register *reg, const column *col, uint64 first, uint32 num_rows)
{
	if (value->type.is_numeric || value->type.lane == MGPU_LANE_BYTES)
		return false;
	if (value->type.lane == MGPU_LANE_REAL && col->type->store == COLUMN_4)
		STORE(float4, reals);
	else if (value->type.lane == MGPU_LANE_REAL)
		STORE(float8, reals);
	else if (col->type->store == COLUMN_1)
		STORE(uint8, integers);
	else if (col->type->store == COLUMN_2)
		STORE(int16, integers);
	else if (col->type->store == COLUMN_4)
		STORE(int32, integers);
	else
		STORE(int64, integers);
	return true;
}

uint32
expr_program_store(const expr_program *program, int number, chunk *rows, column *col, uint64 first, uint32 num_rows)
{
	const expr_value *value = &program->outputs[number];
	const mgpu_register *reg = &program->registers[value->reg];
	bool		is_stored = store_numbers(value, reg, col, first, num_rows);
	uint32		num_faults = 0;

	for (uint32 i = 0; i < num_rows; i++)
	{
		if (reg->states[i] == MGPU_IS_NULL)
			chunk_put_null(rows, col, first + i);
		else if (reg->states[i] == MGPU_IS_FAULT)
			num_faults++;
		else if (!is_stored)
			store_other(value, reg, i, rows, col, first + i);
	}
	return num_faults;
}
