/*
 * column_filter.c
 *		Conditions on one column: a comparison with a constant, IS NULL, IS NOT NULL, a boolean.
 *
 * The comparison has three outcomes, and a condition keeps some of them, so that one loop for each type
 * serves all operators.  The constant may be any expression without columns: it is computed
 * once, when the first row needs it, as PostgreSQL's executor would.
 *
 * Programs could do it: they load, compare and keep in three loops.  So whole statements of 2M rows with one condition took up to 12 %
 * longer, and with three 27 % (two workers beside the session, 2026-11-28).
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "array/element_type.h"
#include "core/group_spec.h"
#include "scan/column_filter.h"

/* ---- what is the condition? */

static bool
is_column(const Node *node)
{
	return IsA(node, Var) && ((const Var *) node)->varattno > 0 && ((const Var *) node)->varlevelsup == 0;
}

/* An expression that is the same for all rows of a scan. */
static bool
is_constant(Node *node)
{
	return !contain_var_clause(node) && !contain_volatile_functions(node) && !contain_subplans(node) &&
		!expression_returns_set(node);
}

static uint32
outcomes_of(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return MGPU_IS_LESS;
		case BTLessEqualStrategyNumber:
			return MGPU_IS_LESS | MGPU_IS_EQUAL;
		case BTEqualStrategyNumber:
			return MGPU_IS_EQUAL;
		case BTGreaterEqualStrategyNumber:
			return MGPU_IS_GREATER | MGPU_IS_EQUAL;
		case BTGreaterStrategyNumber:
			return MGPU_IS_GREATER;
		default:
			return 0;
	}
}

static bool
is_integer(Oid type_id)
{
	return type_id == INT2OID || type_id == INT4OID || type_id == INT8OID;
}

/* The outcomes that an operator keeps; 0: it does not compare by the order of the column's type. */
static uint32
outcomes_of_operator(Oid operator, Oid column_type, Oid constant_type)
{
	Oid			family = lookup_type_cache(column_type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	bool		negated;
	int			strategy;
	Oid			left;
	Oid			right;

	if (!OidIsValid(operator) || !OidIsValid(family))
		return 0;
	/* <> is in no family, but its negator is */
	negated = !op_in_opfamily(operator, family);
	if (negated)
		operator = get_negator(operator);
	if (!OidIsValid(operator) || !op_in_opfamily(operator, family))
		return 0;
	get_op_opfamily_properties(operator, family, false, &strategy, &left, &right);
	if (left != column_type || right != constant_type)
		return 0;
	return outcomes_of(strategy) ^ (negated ? MGPU_IS_LESS | MGPU_IS_EQUAL | MGPU_IS_GREATER : 0);
}

/* Whether columns of the type are numbers that the loops below compare. */
static bool
set_type(column_filter *filter, Oid type_id)
{
	element_type type;

	element_type_fill(&type, type_id);
	filter->kind = type.key_kind;
	filter->width = type.key_width;
	return type.typbyval && type.typlen == (int16) type.key_width &&
		(type.key_kind == MGPU_KEY_SIGNED || type.key_kind == MGPU_KEY_UNSIGNED || type.key_kind == MGPU_KEY_FLOAT);
}

static bool
fill_comparison(column_filter *filter, const OpExpr *condition)
{
	Node	   *column;
	Node	   *constant;
	Oid			operator = condition->opno;

	if (list_length(condition->args) != 2)
		return false;
	column = linitial(condition->args);
	constant = lsecond(condition->args);
	if (!is_column(column))
	{
		column = lsecond(condition->args);
		constant = linitial(condition->args);
		operator = get_commutator(operator);
	}
	if (!is_column(column) || !is_constant(constant) || !set_type(filter, exprType(column)))
		return false;
	if (exprType(constant) != exprType(column) && !(is_integer(exprType(constant)) && is_integer(exprType(column))))
		return false;
	filter->attribute = ((Var *) column)->varattno;
	filter->constant_width = get_typlen(exprType(constant));
	filter->outcomes = outcomes_of_operator(operator, exprType(column), exprType(constant));
	if (filter->outcomes == 0)
		return false;
	filter->expr = (Expr *) constant;
	return true;
}

/* A boolean column, or NOT one: it equals a constant. */
static bool
fill_boolean(column_filter *filter, const Node *column, bool constant)
{
	if (!is_column(column) || !set_type(filter, exprType(column)))
		return false;
	filter->attribute = ((const Var *) column)->varattno;
	filter->outcomes = MGPU_IS_EQUAL;
	filter->expr = (Expr *) makeBoolConst(constant, false);
	return true;
}

bool
column_filter_fill(column_filter *filter, Expr *condition)
{
	memset(filter, 0, sizeof(*filter));
	if (IsA(condition, OpExpr))
		return fill_comparison(filter, (OpExpr *) condition);
	if (IsA(condition, Var))
		return fill_boolean(filter, (Node *) condition, true);
	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == NOT_EXPR)
		return fill_boolean(filter, linitial(((BoolExpr *) condition)->args), false);
	if (IsA(condition, NullTest))
	{
		const NullTest *test = (const NullTest *) condition;

		if (!is_column((Node *) test->arg) || test->argisrow)
			return false;
		filter->attribute = ((Var *) test->arg)->varattno;
		filter->keeps_null = test->nulltesttype == IS_NULL;
		filter->keeps_value = !filter->keeps_null;
		return true;
	}
	return false;
}

/* ---- which rows meet it? */

void
column_filter_init(column_filter *filter)
{
	if (filter->expr)
		filter->constant = ExecInitExpr(filter->expr, NULL);
}

static void
compute_constant(column_filter *filter, ExprContext *context)
{
	if (filter->is_known)
		return;
	filter->value = ExecEvalExprSwitchContext(filter->constant, context, &filter->is_null);
	filter->is_known = true;
	/* integers of all widths are compared as the widest */
	if (filter->kind == MGPU_KEY_SIGNED && filter->constant_width == sizeof(int16))
		filter->value = Int64GetDatum(DatumGetInt16(filter->value));
	else if (filter->kind == MGPU_KEY_SIGNED && filter->constant_width == sizeof(int32))
		filter->value = Int64GetDatum(DatumGetInt32(filter->value));
}

/* Any NaN equals any other and is above all numbers. */
#define OUTCOME_OF_NUMBERS(x, y) \
	(((x) < (y)) * MGPU_IS_LESS + ((x) == (y)) * MGPU_IS_EQUAL + ((x) > (y)) * MGPU_IS_GREATER)
#define OUTCOME_OF_FLOATS(x, y) \
	(isnan(x) || isnan(y) ? OUTCOME_OF_NUMBERS((int) isnan(x), (int) isnan(y)) : OUTCOME_OF_NUMBERS(x, y))

#define KEEP(type, wide, get, outcome) \
	do { \
		wide		constant = get(filter->value); \
		\
		for (uint32 i = 0; i < num_rows; i++) \
		{ \
			const char *value = values[kept[i]]; \
			\
			kept[num_kept] = kept[i]; \
			num_kept += value != NULL && (outcome(*(const type *) value, constant) & filter->outcomes) != 0; \
		} \
	} while (0)

/* Rows whose value a comparison keeps, of those that are kept so far. */
static uint32
keep_compared(const column_filter *filter, const char *const *values, uint16 *kept, uint32 num_rows)
{
	uint32		num_kept = 0;

	switch (filter->kind << 8 | filter->width)
	{
		case MGPU_KEY_SIGNED << 8 | 2:
			KEEP(int16, int64, DatumGetInt64, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_SIGNED << 8 | 4:
			KEEP(int32, int64, DatumGetInt64, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_SIGNED << 8 | 8:
			KEEP(int64, int64, DatumGetInt64, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_UNSIGNED << 8 | 1:
			KEEP(uint8, uint8, DatumGetUInt8, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_UNSIGNED << 8 | 4:
			KEEP(uint32, uint32, DatumGetUInt32, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_UNSIGNED << 8 | 8:
			KEEP(uint64, uint64, DatumGetUInt64, OUTCOME_OF_NUMBERS);
			break;
		case MGPU_KEY_FLOAT << 8 | 4:
			KEEP(float4, float4, DatumGetFloat4, OUTCOME_OF_FLOATS);
			break;
		case MGPU_KEY_FLOAT << 8 | 8:
			KEEP(float8, float8, DatumGetFloat8, OUTCOME_OF_FLOATS);
			break;
		default:
			elog(ERROR, "no filter compares keys of %u bytes", filter->width);
	}
	return num_kept;
}

/* Rows by whether their value is NULL. */
static uint32
keep_by_null(const column_filter *filter, const char *const *values, uint16 *kept, uint32 num_rows)
{
	uint32		num_kept = 0;

	for (uint32 i = 0; i < num_rows; i++)
	{
		bool		keeps = values[kept[i]] == NULL ? filter->keeps_null : filter->keeps_value;

		kept[num_kept] = kept[i];
		num_kept += keeps;
	}
	return num_kept;
}

uint32
column_filter_apply(column_filter *filter, const char *const *values, uint16 *kept, uint32 num_rows, ExprContext *context)
{
	if (num_rows == 0)
		return 0;
	if (filter->kind == 0)
		return keep_by_null(filter, values, kept, num_rows);
	compute_constant(filter, context);
	return filter->is_null ? 0 : keep_compared(filter, values, kept, num_rows);
}
