/*
 * expr_types.c
 *		Which of PostgreSQL's types registers of programs hold, and how.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "expr/compile.h"
#include "keys/collation.h"

const expr_type expr_boolean = {MGPU_LANE_INTEGER, 1, false, 0};

bool
expr_type_of(Oid type_id, int32 typmod, expr_type *type)
{
	type_id = getBaseTypeAndTypmod(type_id, &typmod);
	*type = (expr_type) {MGPU_LANE_INTEGER, 0, false, 0};
	switch (type_id)
	{
		case FLOAT4OID:
		case FLOAT8OID:
			type->lane = MGPU_LANE_REAL;
			pg_fallthrough;
		case BOOLOID: case CHAROID: case INT2OID: case INT4OID: case INT8OID: case CASHOID: case OIDOID:
		case DATEOID: case TIMEOID: case TIMESTAMPOID: case TIMESTAMPTZOID:
			type->width = get_typlen(type_id);
			return true;
		case NUMERICOID:
			type->is_numeric = true;
			type->width = sizeof(int64);
			/* the lower bits, of which the sign's is not set, are the scale; without a typmod each value has its own */
			type->lane = typmod < (int32) VARHDRSZ ? MGPU_LANE_SHOWN : MGPU_LANE_INTEGER;
			type->scale = type->lane == MGPU_LANE_SHOWN ? EXPR_LEAST_SHOWN : (typmod - VARHDRSZ) & 0x7ff;
			return type->scale <= MOST_SCALE;
		case UUIDOID:
			type->width = UUID_LEN;
			pg_fallthrough;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case INETOID:
		case CIDROID:
		case INT4RANGEOID: case INT8RANGEOID: case DATERANGEOID: case TSRANGEOID: case TSTZRANGEOID:
			type->lane = MGPU_LANE_BYTES;
			return true;
		default:
			type->width = sizeof(Oid);
			return type_is_enum(type_id);
	}
}

void
expr_program_show(expr_program *program, int scale, const Bitmapset *unfit)
{
	program->shown_scale = scale;
	program->unfit = unfit;
}

bool
expr_is_shown(const Expr *expr)
{
	expr_type	type;

	return expr_type_of(exprType((const Node *) expr), exprTypmod((const Node *) expr), &type) && type.lane == MGPU_LANE_SHOWN;
}

/* Of a number that shows many digits, those behind the point up to the last that is not 0: quotients show 16 at least. */
static int
digits_that_count(uint16 header, const char *digits, int num_digits)
{
	int			behind = DIGIT_PLACES * (num_digits - 1 - SHORT_WEIGHT(header));
	int16		last;

	if (num_digits == 0 || behind <= 0)
		return 0;
	memcpy(&last, digits + (num_digits - 1) * sizeof(last), sizeof(last));
	for (; last % 10 == 0; last /= 10)
		behind--;
	return behind;
}

int
expr_shown_digits(const void *number)
{
	uint16		header;

	if (VARATT_IS_EXTERNAL(number) || VARATT_IS_COMPRESSED(number))
		return 0;
	memcpy(&header, VARDATA_ANY(number), sizeof(header));
	if ((header & NUMERIC_SPECIAL) == NUMERIC_SPECIAL)
		return 0;
	if ((header & NUMERIC_SPECIAL) != NUMERIC_SHORT)
		return header & LONG_SCALE_MASK;
	if (SHORT_SCALE(header) <= EXPR_MOST_SHOWN)
		return SHORT_SCALE(header);
	return digits_that_count(header, VARDATA_ANY(number) + sizeof(header), (int) ((VARSIZE_ANY_EXHDR(number) - sizeof(header)) / sizeof(int16)));
}

bool
expr_program_has_type(Oid type_id, int32 typmod)
{
	expr_type	type;

	return expr_type_of(type_id, typmod, &type);
}

bool
compares_bytes(Oid collation, bool in_order)
{
	if (!OidIsValid(collation))
		return false;
	return in_order ? collation_orders_bytes(collation) : get_collation_isdeterministic(collation);
}
