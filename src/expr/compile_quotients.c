/*
 * compile_quotients.c
 *		Whole numbers of quotients, as histograms have them: floor(price / 250), round(x / 3, 2), (seconds / 60)::int.
 *
 * A numeric's quotient has more digits than programs have, but nobody asks for them here.  Where x is X / 10^s and the constant C / 10^t, the result is that of
 * X * 10^t and C * 10^s, which are integers.  PostgreSQL rounds the quotient to at least 16 digits first, an error of less than q / 2 * 10^-16, and q is at
 * least 1 / (2 C * 10^s) from where the result changes, unless it is there.  So both are the same where X * 10^t is less than 10^16.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "compat.h"
#include "expr/compile.h"

#define MOST_DIVIDEND_DIGITS 16
#define MOST_DIVISOR_DIGITS 9
#define MOST_DIVISOR_SCALE 6

/* A constant divisor as an integer and its scale.  false: it is none, not positive, or has too many digits. */
static bool
read_divisor(const Const *constant, int64 *divisor, int *scale)
{
	Datum		trimmed;
	Datum		scaled;
	Datum		most = Int64GetDatum(power_of_ten(MOST_DIVISOR_DIGITS));

	if (!IsA(constant, Const) || constant->constisnull || constant->consttype != NUMERICOID || numeric_is_nan(DatumGetNumeric(constant->constvalue)) ||
		numeric_is_inf(DatumGetNumeric(constant->constvalue)))
		return false;
	trimmed = DirectFunctionCall1(numeric_trim_scale, constant->constvalue);
	*scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, trimmed));
	if (*scale > MOST_DIVISOR_SCALE)
		return false;
	scaled = DirectFunctionCall2(numeric_mul, trimmed, DirectFunctionCall1(int8_numeric, Int64GetDatum(power_of_ten(*scale))));
	if (!DatumGetBool(DirectFunctionCall2(numeric_lt, scaled, DirectFunctionCall1(int8_numeric, most))))
		return false;
	*divisor = DatumGetInt64(DirectFunctionCall1(numeric_int8, scaled));
	return *divisor > 0;
}

/* Whether a function makes whole numbers of some digits. */
static bool
makes_whole(int code)
{
	return code == MGPU_RUN_FLOOR_OFF || code == MGPU_RUN_CEILING_OFF || code == MGPU_RUN_ROUND_OFF || code == MGPU_RUN_CUT_OFF;
}

bool
compile_quotient(expr_program *program, const function_call *call, int digits, expr_value *value)
{
	List	   *args = NIL;
	int64		divisor;
	int			scale;
	expr_type	type;

	if (!makes_whole(call->known->code) || digits < 0 || expr_function_of(linitial(call->args), &args) != F_NUMERIC_DIV ||
		!read_divisor(lsecond(args), &divisor, &scale) || !compile_expr(program, linitial(args), value))
		return false;
	type = value->type;
	value->type.lane = MGPU_LANE_INTEGER;
	if (type.scale > MOST_SCALE - MOST_DIVISOR_DIGITS || !scale_up(program, value, type.scale + scale + digits))
		return false;
	*value = add_op(program, MGPU_RUN_LIMIT_MAGNITUDE, value->type, power_of_ten(MOST_DIVIDEND_DIGITS), 1, value);
	value->type.scale = digits;
	*value = add_op(program, call->known->code, value->type, divisor * power_of_ten(type.scale), 1, value);
	if (!call->type.is_numeric)
		*value = add_op(program, MGPU_RUN_FIT_INTEGER, call->type, 0, 1, value);
	return true;
}
