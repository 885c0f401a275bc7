/*
 * compile_quotients.c
 *		Quotients by a constant: by 100, 8, 0.5 and the like as values, and what is made of others: whole numbers, as histograms have them, as floor(price / 250),
 *		round(x / 3, 2) and (seconds / 60)::int, and comparisons with a constant, as seconds / 3600 > 24.
 *
 * By a number that has no prime factors but 2 and 5, a quotient is a product: x / 4 is x * 25 in units of a 100th.  PostgreSQL shows zeros behind it, more or fewer
 * by its magnitude (select_div_scale of numeric.c), which an operation counts for each row.
 *
 * Any other quotient has more digits than programs have, but often nobody asks for them.  Where x is X / 10^s and the constant C / 10^t, the result is that of
 * X * 10^t and C * 10^s, which are integers.  PostgreSQL rounds the quotient to at least 16 digits first, an error of less than q / 2 * 10^-16, and q is at
 * least 1 / (2 C * 10^s) from where the result changes, unless it is there.  So both are the same where X * 10^t is less than 10^16.  With d more digits of
 * the result, or of what is compared, the same holds of X * 10^(t + d).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "expr/compile.h"

#define MOST_DIVIDEND_DIGITS 16
#define MOST_CONSTANT_DIGITS 9
#define MOST_CONSTANT_SCALE 6

bool
read_short_constant(const Const *constant, int64 *number, int *scale, int *shown)
{
	expr_constant read = {.type_id = NUMERICOID};

	if (!IsA(constant, Const) || constant->constisnull || constant->consttype != NUMERICOID || !expr_constant_fill(&read, constant->constvalue))
		return false;
	*shown = read.type.scale;
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
	int			shown;
	int			own_scale;

	if (expr_function_of(expr, &args) != F_NUMERIC_DIV || !read_short_constant(lsecond(args), divisor, &scale, &shown) || *divisor <= 0 ||
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
	int			shown;
	bool		is_second = IsA(linitial(call->args), Const);

	if (!read_short_constant(list_nth(call->args, !is_second), &number, &digits, &shown) ||
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

/* ---- values */

/* What a dividend of a scale is multiplied by, and the scale of the product.  false: it has too many digits. */
static bool
find_factor(int64 divisor, int divisor_scale, int scale, mgpu_quotient *quotient)
{
	int			digits = Max(divisor_scale - scale, 0);

	while (digits <= MOST_SCALE && power_of_ten(digits) % divisor != 0)
		digits++;
	quotient->scale = scale + digits - divisor_scale;
	if (digits > MOST_SCALE || quotient->scale > MOST_SCALE)
		return false;
	quotient->factor = power_of_ten(digits) / divisor;
	return true;
}

/*
 * How many digits quotients show.  PostgreSQL takes 16, less four for each place of base 10,000 that the dividend's first digit is above the divisor's, and
 * four more if it is no larger than that.  So what counts is at which places the dividend reaches the divisor's first digit and 1.
 */
static void
find_shown(int64 divisor, int divisor_scale, int scale, mgpu_quotient *quotient)
{
	int			places = (divisor_scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	int			weight = -places;

	for (divisor *= power_of_ten(places * DIGIT_PLACES - divisor_scale); divisor >= DIGIT_BASE; divisor /= DIGIT_BASE)
		weight++;
	quotient->one = power_of_ten(scale);
	quotient->step = (divisor + 1) * power_of_ten(scale % DIGIT_PLACES);
	quotient->most_shown = NUMERIC_MIN_SIG_DIGITS + DIGIT_PLACES * (scale / DIGIT_PLACES + weight + 2);
}

bool
compile_exact_quotient(expr_program *program, const function_call *call, expr_value *value)
{
	mgpu_quotient quotient;
	int64		divisor;
	int			scale;
	int			shown;

	if (!read_short_constant(lsecond(call->args), &divisor, &scale, &shown) || divisor <= 0 || !compile_expr(program, linitial(call->args), value) ||
		!find_factor(divisor, scale, value->type.scale, &quotient))
		return false;
	find_shown(divisor, scale, value->type.scale, &quotient);
	quotient.least_shown = shown;
	if (value->type.lane != MGPU_LANE_SHOWN)
		*value = show_scale(program, *value, value->type.scale);
	value->type.scale = quotient.scale;
	*value = add_op(program, call->known->code, value->type, table_add(program, &quotient, sizeof(quotient)), 1, value);
	return true;
}
