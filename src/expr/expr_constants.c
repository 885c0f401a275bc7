/*
 * expr_constants.c
 *		Registers of programs that have one value for all rows: constants, parameters, and results of subqueries.
 *
 * A numeric is an integer with a scale.  That of a constant is its own.  That of a parameter is not known before the program runs, so it is one only
 * where it is compared: it is rounded to the scale of the other side, up or down, so that the outcome stays as it is.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "compat.h"
#include "expr/compile.h"

/* The scale and the digits of a numeric.  false: it is none of those, or has too many. */
static bool
fill_numeric(expr_constant *constant, Datum value)
{
	const char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	bool		is_negative = *digits == '-';
	int64		number = 0;
	int			scale = 0;
	bool		behind_point = false;

	for (digits += is_negative; *digits; digits++)
	{
		if (*digits == '.')
			behind_point = true;
		else if (*digits < '0' || *digits > '9' || pg_mul_s64_overflow(number, 10, &number) ||
				 pg_add_s64_overflow(number, *digits - '0', &number))
			return false;
		else
			scale += behind_point;
	}
	constant->number = is_negative ? -number : number;
	constant->type.scale = scale;
	return scale <= MOST_SCALE;
}

/* The digit at a place behind the point, as long as there are some. */
static int
next_digit(const char **digits)
{
	return **digits ? *(*digits)++ - '0' : 0;
}

/*
 * A numeric as an integer of the constant's scale, which it may be too large for: then it is beyond all values.  NaN is greater than all; no value
 * of a program is the least integer.
 */
static void
round_numeric(expr_constant *constant, Datum value)
{
	const char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	bool		is_negative = *digits == '-';
	int64		number = 0;
	bool		is_beyond = false;
	bool		has_rest;

	digits += is_negative;
	is_beyond = *digits == 'N' || *digits == 'I';
	for (; !is_beyond && *digits && *digits != '.'; digits++)
		is_beyond = pg_mul_s64_overflow(number, 10, &number) || pg_add_s64_overflow(number, *digits - '0', &number);
	digits += *digits == '.';
	for (int i = 0; !is_beyond && i < constant->type.scale; i++)
		is_beyond = pg_mul_s64_overflow(number, 10, &number) || pg_add_s64_overflow(number, next_digit(&digits), &number);
	has_rest = strspn(digits, "0") < strlen(digits);
	if (is_beyond)
		number = PG_INT64_MAX;
	else if (has_rest && constant->rounding == (is_negative ? ROUND_DOWN : ROUND_UP) && number < PG_INT64_MAX)
		number++;
	constant->number = is_negative ? -number : number;
	if (constant->rounding == ROUND_TO_NONE && (is_beyond || has_rest))
		constant->number = PG_INT64_MIN;
}

bool
expr_constant_fill(expr_constant *constant, Datum value)
{
	Oid			type_id = getBaseType(constant->type_id);
	const struct varlena *bytes;

	if (type_id == NUMERICOID && constant->rounding != ROUND_NONE)
		round_numeric(constant, value);
	else if (type_id == NUMERICOID)
		return fill_numeric(constant, value);
	else if (type_id == FLOAT4OID)
		constant->real = DatumGetFloat4(value);
	else if (type_id == FLOAT8OID)
		constant->real = DatumGetFloat8(value);
	else if (type_id == UUIDOID)
	{
		constant->bytes = DatumGetPointer(value);
		constant->length = UUID_LEN;
	}
	else if (constant->type.lane == MGPU_LANE_BYTES)
	{
		bytes = PG_DETOAST_DATUM_PACKED(value);
		constant->bytes = VARDATA_ANY(bytes);
		constant->length = VARSIZE_ANY_EXHDR(bytes);
	}
	else
		constant->number = constant->type.width == 1 ? DatumGetUInt8(value) : constant->type.width == 2 ? DatumGetInt16(value) :
			constant->type.width == 4 ? DatumGetInt32(value) : DatumGetInt64(value);
	return true;
}

static expr_constant *
add_constant(expr_program *program, Oid type_id, int32 typmod)
{
	expr_constant *constant = palloc0(sizeof(expr_constant));

	constant->type_id = type_id;
	/* a numeric's scale is its own */
	if (!expr_type_of(type_id, getBaseType(type_id) == NUMERICOID ? VARHDRSZ : typmod, &constant->type))
		return NULL;
	return constant;
}

static void
place_constant(expr_program *program, expr_constant *constant, expr_value *value)
{
	constant->reg = add_register(program, constant->type.lane);
	program->constants = lappend(program->constants, constant);
	*value = (expr_value) {constant->reg, constant->type};
}

bool
compile_const(expr_program *program, const Const *constant, expr_value *value)
{
	expr_constant *filled = add_constant(program, constant->consttype, constant->consttypmod);

	if (filled == NULL)
		return false;
	filled->is_null = constant->constisnull;
	if (!filled->is_null && !expr_constant_fill(filled, constant->constvalue))
		return false;
	place_constant(program, filled, value);
	return true;
}

bool
compile_number(expr_program *program, int64 number, expr_value *value)
{
	return compile_const(program, makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(number), false, true), value);
}

/* A numeric's scale is not known before the program runs. */
bool
compile_fixed(expr_program *program, Expr *expr, expr_value *value)
{
	Oid			type_id = exprType((Node *) expr);
	expr_constant *filled = getBaseType(type_id) == NUMERICOID ? NULL : add_constant(program, type_id, exprTypmod((Node *) expr));

	if (filled == NULL)
		return false;
	filled->expr = expr;
	place_constant(program, filled, value);
	return true;
}

void
compile_limit(expr_program *program, Expr *expr, int scale, expr_rounding rounding, expr_value *value)
{
	expr_constant *filled = add_constant(program, NUMERICOID, -1);

	filled->type.scale = scale;
	filled->rounding = rounding;
	filled->expr = expr;
	place_constant(program, filled, value);
}

const char *
text_constant(const Node *node)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->consttype != TEXTOID || constant->constisnull)
		return NULL;
	return TextDatumGetCString(constant->constvalue);
}
