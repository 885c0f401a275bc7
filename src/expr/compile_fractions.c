/*
 * compile_fractions.c
 *		Quotients of numerics by any number: in sums and averages, and rounded, cut off or compared.
 *
 * Such a quotient has more digits than a register, so it is two numbers (core/program/ops_quotients.h), which are added each by itself, and multiplied by whole
 * numbers.  Of CASE and COALESCE both are chosen alike, and other numbers beside quotients have a rest of 0.
 *
 * Rounded to few digits, or compared with a number of few, that is one number: its first digits and one more, which says whether there is something behind them.
 * Such a one needs no digits behind the rest, which PostgreSQL shows of small quotients.  These are less than 10^-8, and numbers of few digits 0, or 5 * 10^-8 and more.
 * A multiple by up to 100 is equal to one of those or farther away than these digits are, if the divisor is less than 10^15: 100 * x / y - k / (2 * 10^7) is 0 or at least
 * 1 / (2 * 10^7 * y).  Of sums of quotients all digits are needed.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "core/numeric_format.h"
#include "expr/compile.h"

static const expr_type quotient_type = {MGPU_LANE_SHOWN, sizeof(int64), true, MGPU_QUOTIENT_DIGITS};
static const expr_type integer = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* What cut quotients are multiplied by, at most. */
#define MOST_MULTIPLE 100

/* most_multiple: what it may still be multiplied by before it is cut; 0: all of its digits are wanted. */
static bool compile_parts(expr_program *program, Expr *expr, int64 most_multiple, quotient_parts *parts);

/* The same number with a larger scale, and what shows as many digits as it did.  false: too many digits. */
static bool
widen(expr_program *program, expr_value value, int scale, expr_value *number, expr_value *shown)
{
	expr_type	type = value.type;

	type.lane = MGPU_LANE_SHOWN;
	type.width = type.scale;
	*shown = value.type.lane == MGPU_LANE_SHOWN ? value : find_op(program, MGPU_RUN_SHOW_SCALE, type, 0, &value);
	*number = value;
	number->type = (expr_type) {MGPU_LANE_INTEGER, sizeof(int64), true, scale};
	if (scale > value.type.scale)
		*number = find_op(program, MGPU_RUN_SCALE_UP, number->type, power_of_ten(scale - value.type.scale), &value);
	return scale <= MOST_SCALE && scale >= value.type.scale;
}

/* ---- two numbers */

static bool
compile_division(expr_program *program, List *args, int64 most_multiple, quotient_parts *parts)
{
	expr_value	values[2];
	expr_value	numbers[3];
	expr_value	shown[3];
	int			places;

	if (!compile_expr(program, linitial(args), &values[0]) || !compile_expr(program, lsecond(args), &values[1]))
		return false;
	places = (Max(values[0].type.scale, values[1].type.scale) + DIGIT_PLACES - 1) / DIGIT_PLACES;
	for (int i = 0; i < 2; i++)
		if (!widen(program, values[i], places * DIGIT_PLACES, &numbers[i + 1], &shown[i + 1]))
			return false;
	shown[0] = numbers[1];
	numbers[0] = find_op(program, MGPU_RUN_SHOW_LARGER, quotient_type, 0, shown);
	parts->quotient = find_op(program, MGPU_RUN_QUOTIENT, quotient_type, places | (most_multiple > 0 ? MGPU_QUOTIENT_IS_CUT : 0), (expr_value[]) {numbers[0], numbers[2]});
	numbers[0] = parts->quotient;
	parts->rest = find_op(program, MGPU_RUN_QUOTIENT_REST, integer, 0, numbers);
	return true;
}

/* A number that is no quotient. */
static bool
compile_plain(expr_program *program, Expr *expr, quotient_parts *parts)
{
	expr_value	value;
	expr_value	from[3];

	if (!compile_expr(program, expr, &value) || !widen(program, value, MGPU_QUOTIENT_DIGITS, &from[0], &from[1]))
		return false;
	from[2] = from[1];
	parts->quotient = find_op(program, MGPU_RUN_SHOW_LARGER, quotient_type, 0, from);
	/* NULL where it is */
	from[1] = from[0];
	parts->rest = find_op(program, MGPU_RUN_SUBTRACT_INTEGER, integer, 0, from);
	return true;
}

static bool
compile_null(expr_program *program, quotient_parts *parts)
{
	expr_type	type = quotient_type;

	type.width = 0;
	if (!compile_expr(program, (Expr *) makeNullConst(INT8OID, -1, InvalidOid), &parts->rest))
		return false;
	parts->quotient = find_op(program, MGPU_RUN_SHOW_SCALE, type, 0, &parts->rest);
	parts->quotient.type = quotient_type;
	return true;
}

/* The first WHEN of some, or what comes behind the last. */
static bool
compile_whens(expr_program *program, const CaseExpr *expr, int first, int64 most_multiple, quotient_parts *parts)
{
	const CaseWhen *when;
	expr_value	condition;
	quotient_parts results[2];

	if (first == list_length(expr->args))
		return compile_parts(program, expr->defresult, most_multiple, parts);
	when = list_nth(expr->args, first);
	if (!compile_expr(program, when->expr, &condition) || !compile_parts(program, when->result, most_multiple, &results[0]) ||
		!compile_whens(program, expr, first + 1, most_multiple, &results[1]))
		return false;
	parts->quotient = find_op(program, MGPU_RUN_CHOOSE, quotient_type, 0, (expr_value[]) {condition, results[0].quotient, results[1].quotient});
	parts->rest = find_op(program, MGPU_RUN_CHOOSE, integer, 0, (expr_value[]) {condition, results[0].rest, results[1].rest});
	return true;
}

static bool
compile_coalesce(expr_program *program, List *args, int64 most_multiple, quotient_parts *parts)
{
	quotient_parts other;
	ListCell   *cell;

	if (!compile_parts(program, linitial(args), most_multiple, parts))
		return false;
	for_each_from(cell, args, 1)
	{
		if (!compile_parts(program, lfirst(cell), most_multiple, &other))
			return false;
		parts->quotient = find_op(program, MGPU_RUN_COALESCE, quotient_type, 0, (expr_value[]) {parts->quotient, other.quotient});
		parts->rest = find_op(program, MGPU_RUN_COALESCE, integer, 0, (expr_value[]) {parts->rest, other.rest});
	}
	return true;
}

/* A sum or a difference. */
static bool
compile_sum(expr_program *program, int code, List *args, quotient_parts *parts)
{
	quotient_parts both[2];
	expr_value	from[3];

	if (!compile_quotient_parts(program, linitial(args), &both[0]) || !compile_quotient_parts(program, lsecond(args), &both[1]))
		return false;
	from[1] = both[0].quotient;
	from[2] = both[1].quotient;
	from[0] = find_op(program, code, integer, 0, &from[1]);
	parts->quotient = find_op(program, MGPU_RUN_SHOW_LARGER, quotient_type, 0, from);
	parts->rest = find_op(program, code, integer, 0, (expr_value[]) {both[0].rest, both[1].rest});
	return true;
}

/* A product by a whole constant, which may show zeros behind the point. */
static bool
compile_multiple(expr_program *program, List *args, int64 most_multiple, quotient_parts *parts)
{
	bool		is_second = IsA(lsecond(args), Const);
	expr_type	type = quotient_type;
	quotient_parts once;
	expr_value	factor;
	expr_value	from[3];
	int64		number;
	int			scale;
	int			shown;

	if (!read_short_constant(list_nth(args, is_second), &number, &scale, &shown) || scale > 0 || !compile_number(program, number, &factor))
		return false;
	if (number != 0)
		most_multiple /= Max(number, -number);
	if (!compile_parts(program, list_nth(args, !is_second), most_multiple, &once))
		return false;
	type.width = (uint16) shown;
	from[0] = find_op(program, MGPU_RUN_MULTIPLY_INTEGER, integer, 0, (expr_value[]) {once.quotient, factor});
	from[1] = once.quotient;
	from[2] = find_op(program, MGPU_RUN_SHOW_SCALE, type, 0, &factor);
	parts->quotient = find_op(program, MGPU_RUN_SHOW_SUM, quotient_type, 0, from);
	parts->rest = find_op(program, MGPU_RUN_MULTIPLY_INTEGER, integer, 0, (expr_value[]) {once.rest, factor});
	return true;
}

static bool
compile_parts(expr_program *program, Expr *expr, int64 most_multiple, quotient_parts *parts)
{
	List	   *args = NIL;

	if (exprType((Node *) expr) != NUMERICOID)
		return false;
	if (IsA(expr, Const) && ((Const *) expr)->constisnull)
		return compile_null(program, parts);
	if (IsA(expr, CaseExpr) && ((CaseExpr *) expr)->arg == NULL)
		return compile_whens(program, (CaseExpr *) expr, 0, most_multiple, parts);
	if (IsA(expr, CoalesceExpr))
		return compile_coalesce(program, ((CoalesceExpr *) expr)->args, most_multiple, parts);
	if (compile_plain(program, expr, parts))
		return true;
	switch (expr_function_of(expr, &args))
	{
		case F_NUMERIC_DIV:
			return compile_division(program, args, most_multiple, parts);
		case F_NUMERIC_ADD:
			return compile_sum(program, MGPU_RUN_ADD_INTEGER, args, parts);
		case F_NUMERIC_SUB:
			return compile_sum(program, MGPU_RUN_SUBTRACT_INTEGER, args, parts);
		case F_NUMERIC_MUL:
			return compile_multiple(program, args, most_multiple, parts);
		default:
			return false;
	}
}

bool
compile_quotient_parts(expr_program *program, Expr *expr, quotient_parts *parts)
{
	return compile_parts(program, expr, 0, parts);
}

/* ---- one number */

/* Units that the rest has go to the quotient, so that what is left is at least 0. */
bool
compile_cut_quotient(expr_program *program, Expr *expr, expr_value *value)
{
	quotient_parts parts;
	expr_value	ends[2];

	if (!compile_parts(program, expr, MOST_MULTIPLE, &parts))
		return false;
	ends[1] = find_op(program, MGPU_RUN_FLOOR_OFF, integer, power_of_ten(MGPU_REST_DIGITS), &parts.rest);
	ends[0] = find_op(program, MGPU_RUN_CEILING_OFF, integer, power_of_ten(MGPU_REST_DIGITS), &parts.rest);
	*value = find_op(program, MGPU_RUN_ADD_INTEGER, integer, 0, (expr_value[]) {parts.quotient, ends[1]});
	*value = find_op(program, MGPU_RUN_SCALE_UP, integer, 10, value);
	ends[0] = find_op(program, MGPU_RUN_SUBTRACT_INTEGER, integer, 0, ends);
	*value = find_op(program, MGPU_RUN_ADD_INTEGER, integer, 0, (expr_value[]) {*value, ends[0]});
	value->type.is_numeric = true;
	value->type.scale = MGPU_QUOTIENT_DIGITS + 1;
	return true;
}
