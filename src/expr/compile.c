/*
 * compile.c
 *		Makes programs of expressions: one operation for each node, the arguments' first.
 *
 * What has no operation makes the whole expression PostgreSQL's: its executor takes a row as long for a part as for all of it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/cells.h"
#include "expr/compile.h"

static int
load_code(const expr_type *type, Oid type_id)
{
	if (type->lane == MGPU_LANE_REAL)
		return MGPU_RUN_LOAD_REAL;
	if (type->lane == MGPU_LANE_BYTES)
		return get_typlen(type_id) < 0 ? MGPU_RUN_LOAD_VARLENA : MGPU_RUN_LOAD_FIXED;
	if (type->lane == MGPU_LANE_SHOWN)
		return MGPU_RUN_LOAD_SHOWN;
	return type->is_numeric ? MGPU_RUN_LOAD_NUMERIC : MGPU_RUN_LOAD_INTEGER;
}

static bool
is_attribute(const Expr *expr)
{
	const Var  *var = (const Var *) expr;

	return IsA(expr, Var) && (var->varattno > 0 || expr_is_tid(var)) && var->varlevelsup == 0;
}

static bool
compile_var(expr_program *program, const Var *var, expr_value *value)
{
	expr_type	type;

	if (is_build_var(program, (const Expr *) var) || !is_attribute((const Expr *) var) || !expr_type_of(var->vartype, var->vartypmod, &type))
		return false;
	if (var->varattno > 0 && bms_is_member(var->varattno, program->numbers))
	{
		*value = add_load(program, MGPU_RUN_LOAD_INTEGER, type, var->varattno);
		return true;
	}
	if (type.lane == MGPU_LANE_SHOWN)
	{
		type.scale = program->shown_scale;
		if (bms_is_member(var->varattno, program->unfit))
			return false;
	}
	*value = add_load(program, load_code(&type, var->vartype), type, var->varattno);
	if (type.is_numeric)
		program->ops[program->num_ops - 1].width = type.scale;
	return true;
}

static bool
compile_bool(expr_program *program, const BoolExpr *expr, expr_value *value)
{
	ListCell   *cell;

	if (!compile_expr(program, linitial(expr->args), value))
		return false;
	if (expr->boolop == NOT_EXPR)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	for_each_from(cell, expr->args, 1)
	{
		expr_value	both[2] = {*value};

		if (!compile_expr(program, lfirst(cell), &both[1]))
			return false;
		*value = add_op(program, expr->boolop == AND_EXPR ? MGPU_RUN_AND : MGPU_RUN_OR, expr_boolean, 0, 2, both);
	}
	return true;
}

/* Whether there is a value asks for nothing of it: an attribute may be of any type, and out of line. */
static bool
compile_presence(expr_program *program, Expr *expr, expr_value *value)
{
	if (is_build_var(program, expr))
		return compile_build_presence(program, (const Var *) expr, value);
	if (!is_attribute(expr))
		return exprType((Node *) expr) == JSONBOID ? compile_document(program, expr, value) :
			compile_expr(program, expr, value) || compile_cut_quotient(program, expr, value);
	*value = add_load(program, MGPU_RUN_LOAD_PRESENCE, expr_boolean, ((const Var *) expr)->varattno);
	return true;
}

static bool
compile_null_test(expr_program *program, const NullTest *test, expr_value *value)
{
	if (test->argisrow || !compile_presence(program, test->arg, value))
		return false;
	*value = add_op(program, test->nulltesttype == IS_NULL ? MGPU_RUN_IS_NULL : MGPU_RUN_IS_NOT_NULL, expr_boolean, 0, 1, value);
	return true;
}

static bool
compile_boolean_test(expr_program *program, const BooleanTest *test, expr_value *value)
{
	/* what false, true and NULL become */
	static const uint8 results[] = {
		[IS_TRUE] = 2,
		[IS_NOT_TRUE] = 5,
		[IS_FALSE] = 1,
		[IS_NOT_FALSE] = 6,
		[IS_UNKNOWN] = 4,
		[IS_NOT_UNKNOWN] = 3
	};

	if (!compile_expr(program, test->arg, value))
		return false;
	*value = add_op(program, MGPU_RUN_IS_TRUTH, expr_boolean, results[test->booltesttype], 1, value);
	return true;
}

/* ---- operators and functions */

static bool
compile_function(expr_program *program, Expr *expr, expr_value *value)
{
	List	   *args = NIL;
	Oid			function = expr_function_of(expr, &args);
	function_call call = {.known = known_function_of(function),.args = args,.collation = exprInputCollation((Node *) expr),.type_id = exprType((Node *) expr)};

	if (function == F_CONCAT)
		return compile_concat(program, (FuncExpr *) expr, value);
	if (call.known == NULL)
		return false;
	/* the scale of a numeric follows from the arguments */
	(void) expr_type_of(call.type_id, call.type_id == NUMERICOID ? VARHDRSZ : -1, &call.type);
	return compile_call(program, &call, value);
}

/* Whether the two arguments are equal. */
static bool
compile_equality(expr_program *program, OpExpr *expr, expr_value *value)
{
	OpExpr		equality = *expr;

	equality.xpr.type = T_OpExpr;
	equality.opresulttype = BOOLOID;
	return compile_function(program, (Expr *) &equality, value);
}

static bool
compile_distinct(expr_program *program, DistinctExpr *expr, expr_value *value)
{
	expr_value	from[3];

	if (!compile_equality(program, expr, &from[0]) || !compile_expr(program, linitial(expr->args), &from[1]) ||
		!compile_expr(program, lsecond(expr->args), &from[2]))
		return false;
	*value = add_op(program, MGPU_RUN_IS_DISTINCT, expr_boolean, 0, 3, from);
	return true;
}

static bool
compile_null_if(expr_program *program, NullIfExpr *expr, expr_value *value)
{
	expr_value	from[2];

	if (!compile_equality(program, expr, &from[1]) || !compile_expr(program, linitial(expr->args), &from[0]))
		return false;
	*value = add_op(program, MGPU_RUN_NULL_IF, from[0].type, 0, 2, from);
	return true;
}

/* x = ANY (list) or x <> ALL (list), of a constant list. */
static bool
compile_in(expr_program *program, ScalarArrayOpExpr *expr, expr_value *value)
{
	const known_function *known;
	Expr	   *left = linitial(expr->args);
	const Const *list = lsecond(expr->args);
	int			outcomes = expr->useOr ? MGPU_IS_EQUAL : MGPU_IS_LESS | MGPU_IS_GREATER;
	bool		is_bytes;
	int64		table;

	set_sa_opfuncid(expr);
	known = known_function_of(expr->opfuncid);
	if (known && known->number == outcomes && IsA(list, Var))
		return compile_any(program, expr, value);
	if (known == NULL || known->number != outcomes || !IsA(list, Const) || list->constisnull ||
		(known->code != MGPU_RUN_COMPARE_INTEGER && known->code != MGPU_RUN_COMPARE_BYTES))
		return false;
	is_bytes = known->code == MGPU_RUN_COMPARE_BYTES;
	if (is_bytes && known->form != FORM_PLAIN && !compares_bytes(expr->inputcollid, false))
		return false;
	is_bytes = is_bytes && !take_labels(&left, &list);
	if (!compile_expr(program, left, value))
		return false;
	if (known->form == FORM_BLANKS)
		*value = add_op(program, MGPU_RUN_TRIM_BLANKS, value->type, 0, 1, value);
	table = table_of_list(program, &value->type, get_element_type(list->consttype), list->constvalue);
	if (table < 0)
		return false;
	*value = add_op(program, is_bytes ? MGPU_RUN_IN_BYTES : MGPU_RUN_IN_INTEGER, expr_boolean, table, 1, value);
	if (!expr->useOr)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

/* What is more than a parameter, or a row's own value. */
static bool
depends_on_more(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) || IsA(node, Param) || IsA(node, CaseTestExpr) || IsA(node, SubPlan) || IsA(node, Aggref) ||
		expression_tree_walker(node, depends_on_more, context);
}

/*
 * Whether an expression that is not constant may be computed once, as now(), or current_setting('tenant')::int, which policies have.  PostgreSQL does that when it
 * plans too, to estimate, so it raises no error.  What is immutable it would have made a constant: such as 100 / 0 has come about here, where a
 * column of a subquery is 0, and behind a condition it may never be computed.
 */
static bool
is_fixed(Node *node)
{
	return (IsA(node, FuncExpr) || IsA(node, OpExpr) || IsA(node, SQLValueFunction) || IsA(node, CoerceViaIO) || IsA(node, CoalesceExpr) || IsA(node, NullIfExpr)) && !depends_on_more(node, NULL) &&
		contain_mutable_functions(node) && !contain_volatile_functions(node);
}

static bool
compile_part(expr_program *program, Expr *expr, expr_value *value)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return compile_var(program, (Var *) expr, value);
		case T_Const:
			return compile_const(program, (Const *) expr, value);
		case T_Param:
			return expr_is_parameter((Node *) expr) && compile_fixed(program, expr, value);
		case T_PlaceHolderVar:
			/* while a statement is planned: a scan computes what is in it */
			return compile_expr(program, ((PlaceHolderVar *) expr)->phexpr, value);
		case T_RelabelType:
			return compile_expr(program, ((RelabelType *) expr)->arg, value);
		case T_OpExpr:
		case T_FuncExpr:
			return compile_function(program, expr, value);
		case T_CoerceViaIO:
			return compile_value_of(program, (CoerceViaIO *) expr, value) || compile_text_of(program, (CoerceViaIO *) expr, value);
		case T_SubscriptingRef:
			return compile_element(program, (SubscriptingRef *) expr, value);
		case T_BoolExpr:
			return compile_bool(program, (BoolExpr *) expr, value);
		case T_NullTest:
			return compile_null_test(program, (NullTest *) expr, value);
		case T_BooleanTest:
			return compile_boolean_test(program, (BooleanTest *) expr, value);
		case T_DistinctExpr:
			return compile_distinct(program, (DistinctExpr *) expr, value);
		case T_NullIfExpr:
			return compile_null_if(program, (NullIfExpr *) expr, value);
		case T_ScalarArrayOpExpr:
			return compile_in(program, (ScalarArrayOpExpr *) expr, value);
		default:
			return compile_choice(program, expr, value);
	}
}

bool
compile_node(expr_program *program, Expr *expr, expr_value *value)
{
	if (is_fixed((Node *) expr) || fixed_number_params(expr) != NIL)
		return compile_fixed(program, expr, value);
	return compile_build_part(program, expr, value) || compile_build_range(program, expr, value) || compile_part(program, expr, value);
}

void
expr_program_load(expr_program *program, List *exprs)
{
	List	   *vars = pull_var_clause((Node *) exprs, PVC_RECURSE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, vars)
	{
		Expr	   *var = lfirst(cell);
		expr_type	type;
		expr_value	value;

		if (expr_type_of(exprType((Node *) var), exprTypmod((Node *) var), &type) && type.lane == MGPU_LANE_INTEGER)
			(void) compile_expr(program, var, &value);
	}
}
