/*
 * compile_choices.c
 *		The operations of what chooses between values: CASE, COALESCE, GREATEST, LEAST; and of rows that are compared, of which the first column that differs tells.
 *
 * The results are of one kind, and of one scale where they are numerics.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/compile.h"

/* Let numerics have the largest scale, but show their own. */
static bool
make_alike(expr_program *program, expr_value *values, int num_values)
{
	int			scale = 0;
	bool		differ = false;

	for (int i = 0; i < num_values; i++)
	{
		scale = Max(scale, values[i].type.scale);
		differ |= values[i].type.scale != values[0].type.scale || values[i].type.lane != values[0].type.lane;
	}
	if (!differ)
		return true;
	for (int i = 0; i < num_values; i++)
	{
		int			shown = values[i].type.scale;

		if (!values[i].type.is_numeric || !scale_up(program, &values[i], scale))
			return false;
		if (values[i].type.lane == MGPU_LANE_SHOWN)
			continue;
		values[i] = show_scale(program, values[i], shown);
	}
	return true;
}

/* A NULL that a choice returns, as a value of the type of the others. */
static Expr *
as_typed(Expr *expr, Oid type_id, int32 typmod)
{
	Const	   *constant = (Const *) expr;

	if (!IsA(expr, Const) || !constant->constisnull)
		return expr;
	constant = copyObject(constant);
	constant->consttype = type_id;
	constant->consttypmod = typmod;
	return (Expr *) constant;
}

static bool
is_null_constant(const Expr *expr)
{
	return IsA(expr, Const) && ((const Const *) expr)->constisnull;
}

/* Compile results of a choice.  A NULL takes the others' scale. */
static bool
compile_results(expr_program *program, List *exprs, Oid type_id, expr_value *values)
{
	int			num_values = list_length(exprs);
	int			scale = -1;

	for (int i = 0; i < num_values; i++)
	{
		Expr	   *expr = list_nth(exprs, i);

		if (!compile_expr(program, as_typed(expr, type_id, -1), &values[i]))
			return false;
		if (!is_null_constant(expr))
			scale = Max(scale, values[i].type.scale);
	}
	for (int i = 0; i < num_values; i++)
		if (is_null_constant(list_nth(exprs, i)))
			values[i].type.scale = Max(scale, 0);
	return make_alike(program, values, num_values);
}

/* The condition of a WHEN, whose CaseTestExpr is the value of the CASE. */
static bool
compile_condition(expr_program *program, const CaseExpr *expr, const CaseWhen *when, const expr_value *tested, expr_value *value)
{
	List	   *outer = program->case_values;
	bool		compiled;

	if (expr->arg)
		program->case_values = list_make1((void *) tested);
	compiled = compile_expr(program, when->expr, value);
	program->case_values = outer;
	return compiled;
}

static bool
compile_case(expr_program *program, const CaseExpr *expr, expr_value *value)
{
	int			num_whens = list_length(expr->args);
	expr_value *conditions = palloc(num_whens * sizeof(expr_value));
	expr_value *results = palloc((num_whens + 1) * sizeof(expr_value));
	expr_value	tested;
	List	   *exprs = NIL;

	if (expr->arg && !compile_expr(program, expr->arg, &tested))
		return false;
	for (int i = 0; i < num_whens; i++)
	{
		CaseWhen   *when = list_nth_node(CaseWhen, expr->args, i);

		if (!compile_condition(program, expr, when, &tested, &conditions[i]))
			return false;
		exprs = lappend(exprs, when->result);
	}
	exprs = lappend(exprs, expr->defresult);
	if (!compile_results(program, exprs, expr->casetype, results))
		return false;
	*value = results[num_whens];
	for (int i = num_whens - 1; i >= 0; i--)
	{
		expr_value	from[3] = {conditions[i], results[i], *value};

		*value = add_op(program, MGPU_RUN_CHOOSE, results[i].type, 0, 3, from);
	}
	return true;
}

/* COALESCE, GREATEST and LEAST: one operation joins two results. */
static bool
compile_joined(expr_program *program, List *args, Oid type_id, int code, expr_value *value)
{
	expr_value *values = palloc(list_length(args) * sizeof(expr_value));

	if (!compile_results(program, args, type_id, values))
		return false;
	*value = values[0];
	for (int i = 1; i < list_length(args); i++)
	{
		expr_value	both[2] = {*value, values[i]};

		*value = add_op(program, code, value->type, 0, 2, both);
	}
	return true;
}

/* The second value in place of the first: where that is less, or greater, or NULL. */
static expr_value
take_second(expr_program *program, bool is_greatest, const expr_value *values)
{
	expr_value	tests[2];
	expr_value	from[3] = {{0}, values[1], values[0]};

	tests[0] = add_op(program, MGPU_RUN_COMPARE_INTEGER, expr_boolean, is_greatest ? MGPU_IS_LESS : MGPU_IS_GREATER, 2, values);
	tests[1] = add_op(program, MGPU_RUN_IS_NULL, expr_boolean, 0, 1, values);
	from[0] = add_op(program, MGPU_RUN_OR, expr_boolean, 0, 2, tests);
	return add_op(program, MGPU_RUN_CHOOSE, values[0].type, 0, 3, from);
}

/* Of numerics that are equal, PostgreSQL takes the first, which may show fewer digits than the next. */
static bool
compile_extreme_numeric(expr_program *program, const MinMaxExpr *expr, expr_value *value)
{
	int			num_values = list_length(expr->args);
	expr_value *values = palloc(num_values * sizeof(expr_value));

	if (!compile_results(program, expr->args, expr->minmaxtype, values))
		return false;
	for (int i = 1; i < num_values; i++)
		values[i] = take_second(program, expr->op == IS_GREATEST, &values[i - 1]);
	*value = values[num_values - 1];
	return true;
}

static bool
compile_extreme(expr_program *program, const MinMaxExpr *expr, expr_value *value)
{
	expr_type	type;
	bool		is_greatest = expr->op == IS_GREATEST;
	bool		is_real = getBaseType(expr->minmaxtype) == FLOAT4OID || getBaseType(expr->minmaxtype) == FLOAT8OID;

	/* enums have an order of their own */
	if (!expr_type_of(expr->minmaxtype, -1, &type) || type.lane == MGPU_LANE_BYTES || type_is_enum(getBaseType(expr->minmaxtype)))
		return false;
	if (type.is_numeric)
		return compile_extreme_numeric(program, expr, value);
	if (is_real)
		return compile_joined(program, expr->args, expr->minmaxtype, is_greatest ? MGPU_RUN_LARGER_REAL : MGPU_RUN_SMALLER_REAL, value);
	return compile_joined(program, expr->args, expr->minmaxtype, is_greatest ? MGPU_RUN_LARGER_INTEGER : MGPU_RUN_SMALLER_INTEGER, value);
}

/* ---- rows */

/* An operator of a row's column by another strategy. */
static Expr *
column_clause(const RowCompareExpr *row, int column, int strategy)
{
	Oid			operator = list_nth_oid(row->opnos, column);
	Oid			family = list_nth_oid(row->opfamilies, column);
	Oid			left;
	Oid			right;

	op_input_types(operator, &left, &right);
	return make_opclause(get_opfamily_member(family, left, right, (int16) strategy), BOOLOID, false, list_nth(row->largs, column), list_nth(row->rargs, column), InvalidOid,
						 list_nth_oid(row->inputcollids, column));
}

/* (a, b) < (x, y) is a < x OR (a = x AND b < y), also where NULLs are. */
static bool
compile_row_compare(expr_program *program, const RowCompareExpr *row, expr_value *value)
{
	int			last = list_length(row->opnos) - 1;
	int			strategy = get_op_opfamily_strategy(list_nth_oid(row->opnos, last), list_nth_oid(row->opfamilies, last));
	int			strict = strategy <= BTLessEqualStrategyNumber ? BTLessStrategyNumber : BTGreaterStrategyNumber;
	Expr	   *made = column_clause(row, last, strategy);

	for (int i = last - 1; i >= 0; i--)
	{
		made = makeBoolExpr(AND_EXPR, list_make2(column_clause(row, i, BTEqualStrategyNumber), made), -1);
		made = makeBoolExpr(OR_EXPR, list_make2(column_clause(row, i, strict), made), -1);
	}
	return compile_expr(program, made, value);
}

bool
compile_choice(expr_program *program, Expr *expr, expr_value *value)
{
	const CoalesceExpr *coalesce = (const CoalesceExpr *) expr;

	switch (nodeTag(expr))
	{
		case T_CaseExpr:
			return compile_case(program, (CaseExpr *) expr, value);
		case T_CoalesceExpr:
			return compile_joined(program, coalesce->args, coalesce->coalescetype, MGPU_RUN_COALESCE, value);
		case T_MinMaxExpr:
			return compile_extreme(program, (MinMaxExpr *) expr, value);
		case T_RowCompareExpr:
			return compile_row_compare(program, (RowCompareExpr *) expr, value);
		default:
			return false;
	}
}
