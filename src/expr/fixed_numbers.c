/*
 * fixed_numbers.c
 *		Numbers that are computed of numeric parameters and constants, and so have one value for all rows: 3 * (SELECT avg(x) FROM t).
 *
 * No operation computes them, since a parameter's scale is not known before the program runs.  PostgreSQL's executor does, once.  That may be for no
 * row, and then nothing may fail.  The rule: sums, differences, products and quotients by a constant of at most four numbers, each of which has up to
 * 32 digits on either side of the point, are far within what numeric and float8 can hold.  Where a parameter has more, rows are PostgreSQL's.
 *
 * Catching the error was rejected: PostgreSQL allows that in a subtransaction alone.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "expr/compile.h"

#define MOST_NUMBERS 4
#define MOST_DIGITS 32

/* Whether a numeric is within the rule: no NaN, and no infinity. */
static bool
is_short(Datum value)
{
	const char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	Size		whole;

	digits += *digits == '-';
	whole = strspn(digits, "0123456789");
	return whole > 0 && whole <= MOST_DIGITS && strlen(digits + whole) <= MOST_DIGITS + 1;
}

static bool
is_number_constant(const Expr *expr)
{
	const Const *constant = (const Const *) expr;

	return IsA(expr, Const) && constant->consttype == NUMERICOID && !constant->constisnull && is_short(constant->constvalue);
}

static bool
is_divisor(const Expr *expr)
{
	return is_number_constant(expr) && DatumGetBool(DirectFunctionCall2(numeric_ne, ((const Const *) expr)->constvalue, number_to_numeric(0, 0, 0)));
}

/* What has been found of an expression. */
typedef struct number_search
{
	int			num_numbers;
	List	   *params;			/* numerics */
} number_search;

static bool is_number(Expr *expr, number_search *search);

static bool
are_numbers(List *args, number_search *search)
{
	ListCell   *cell;

	foreach(cell, args)
		if (!is_number(lfirst(cell), search))
			return false;
	return true;
}

static bool
is_leaf(Expr *expr, number_search *search)
{
	search->num_numbers++;
	if (!expr_is_parameter((Node *) expr))
		return is_number_constant(expr);
	if (((const Param *) expr)->paramtype == NUMERICOID)
		search->params = lappend(search->params, expr);
	return true;
}

static bool
is_number(Expr *expr, number_search *search)
{
	List	   *args = NIL;

	switch (expr_function_of(expr, &args))
	{
		case F_NUMERIC_ADD:
		case F_NUMERIC_SUB:
		case F_NUMERIC_MUL:
		case F_NUMERIC_UMINUS:
		case F_NUMERIC_ABS:
		case F_ABS_NUMERIC:
			return are_numbers(args, search);
		case F_NUMERIC_DIV:
			return is_divisor(lsecond(args)) && are_numbers(args, search);
		case F_NUMERIC_INT2:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return is_leaf(linitial(args), search);
		default:
			return exprType((const Node *) expr) == NUMERICOID && is_leaf(expr, search);
	}
}

/* A float8 may be made of it. */
List *
fixed_number_params(Expr *expr)
{
	List	   *args = NIL;
	number_search search = {0};

	if (expr_function_of(expr, &args) == F_FLOAT8_NUMERIC)
		expr = linitial(args);
	return is_number(expr, &search) && search.num_numbers <= MOST_NUMBERS ? search.params : NIL;
}

bool
fixed_numbers_are_short(List *states, ExprContext *context)
{
	ListCell   *cell;

	foreach(cell, states)
	{
		bool		is_null;
		Datum		value = ExecEvalExprSwitchContext(lfirst(cell), context, &is_null);

		if (!is_null && !is_short(value))
			return false;
	}
	return true;
}
