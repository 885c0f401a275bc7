/*
 * compile_quotients.c
 *		What is made of quotients by a constant: whole numbers, as histograms have them, as floor(price / 250), round(x / 3, 2) and (seconds / 60)::int, and
 *		comparisons with a constant, as seconds / 3600 > 24.
 *
 * A numeric's quotient has more digits than programs have, but nobody asks for them here.  Where x is X / 10^s and the constant C / 10^t, the result is that of
 * X * 10^t and C * 10^s, which are integers.  PostgreSQL rounds the quotient to at least 16 digits first, an error of less than q / 2 * 10^-16, and q is at
 * least 1 / (2 C * 10^s) from where the result changes, unless it is there.  So both are the same where X * 10^t is less than 10^16.  With d more digits of
 * the result, or of what is compared, the same holds of X * 10^(t + d).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "expr/compile.h"

#define MOST_DIVIDEND_DIGITS 16
#define MOST_CONSTANT_DIGITS 9
#define MOST_CONSTANT_SCALE 6

/* A constant as an integer and its scale.  false: it is none, or has too many digits. */
static bool
read_constant(const Const *constant, int64 *number, int *scale)
{
	expr_constant read = {.type_id = NUMERICOID};

	if (!IsA(constant, Const) || constant->constisnull || constant->consttype != NUMERICOID || !expr_constant_fill(&read, constant->constvalue))
		return false;
	for (; read.type.scale > 0 && read.number % 10 == 0; read.type.scale--)
		read.number /= 10;
	*number = read.number;
	*scale = read.type.scale;
	return *scale <= MOST_CONSTANT_SCALE && *number < power_of_ten(MOST_CONSTANT_DIGITS) && -*number < power_of_ten(MOST_CONSTANT_DIGITS);
}

/*
 * Compile a quotient's dividend in units of 10^-(scale + digits), and what divides it then.  false: an expression is no quotient by a positive constant, or has
 * too many digits.
 */
static bool
compile_dividend(expr_program *program, Expr *expr, int digits, expr_value *value, int64 *divisor)
{
	List	   *args = NIL;
	int			scale;
	int			own_scale;

	if (expr_function_of(expr, &args) != F_NUMERIC_DIV || !read_constant(lsecond(args), divisor, &scale) || *divisor <= 0 ||
		!compile_expr(program, linitial(args), value))
		return false;
	own_scale = value->type.scale;
	value->type.lane = MGPU_LANE_INTEGER;
	if (own_scale > MOST_SCALE - MOST_CONSTANT_DIGITS || !scale_up(program, value, own_scale + scale + digits))
		return false;
	*value = add_op(program, MGPU_RUN_LIMIT_MAGNITUDE, value->type, power_of_ten(MOST_DIVIDEND_DIGITS), 1, value);
	*divisor *= power_of_ten(own_scale);
	return true;
}

/* ---- whole numbers */

/* Whether a function makes whole numbers of some digits. */
static bool
makes_whole(int code)
{
	return code == MGPU_RUN_FLOOR_OFF || code == MGPU_RUN_CEILING_OFF || code == MGPU_RUN_ROUND_OFF || code == MGPU_RUN_CUT_OFF;
}

static bool
compile_whole_quotient(expr_program *program, const function_call *call, int digits, expr_value *value)
{
	int64		divisor;

	if (!makes_whole(call->known->code) || digits < 0 || !compile_dividend(program, linitial(call->args), digits, value, &divisor))
		return false;
	value->type.scale = digits;
	*value = add_op(program, call->known->code, value->type, divisor, 1, value);
	if (!call->type.is_numeric)
		*value = add_op(program, MGPU_RUN_FIT_INTEGER, call->type, 0, 1, value);
	return true;
}

/* ---- comparisons */

static bool
compile_comparison(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[2];
	int64		number;
	int64		divisor;
	int64		product;
	int			digits;
	bool		is_second = IsA(linitial(call->args), Const);

	if (!read_constant(list_nth(call->args, !is_second), &number, &digits) ||
		!compile_dividend(program, list_nth(call->args, is_second), digits, &args[is_second], &divisor) ||
		__builtin_mul_overflow(number, divisor, &product) || !compile_number(program, product, &args[!is_second]))
		return false;
	return add_call_op(program, call, args, value);
}

bool
compile_quotient(expr_program *program, const function_call *call, int digits, expr_value *value)
{
	if (call->known->code == MGPU_RUN_COMPARE_INTEGER)
		return compile_comparison(program, call, value);
	return compile_whole_quotient(program, call, digits, value);
}
