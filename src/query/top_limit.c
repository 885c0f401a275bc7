/*
 * top_limit.c
 *		How many of its first rows a query wants.
 *
 * From 15 on the planner makes run conditions of conditions on a window function and drops most of the latter.  So all
 * run conditions have to be limits that are understood here.  Of other conditions, those that are not are left alone:
 * the scan of the subquery checks them all.  Only constants are understood; parameters of a generic plan are not.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "query/top_limit.h"

/* Rows that are not counted, because they were limited in no way. */
#define NO_LIMIT PG_INT64_MAX

/* An integer.  False: it is none, or NULL. */
static bool
integer_of(const Node *node, int64 *value)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	switch (constant->consttype)
	{
		case INT2OID:
			*value = DatumGetInt16(constant->constvalue);
			return true;
		case INT4OID:
			*value = DatumGetInt32(constant->constvalue);
			return true;
		case INT8OID:
			*value = DatumGetInt64(constant->constvalue);
			return true;
		default:
			return false;
	}
}

/* The largest value that a comparison lets through; is_left: the value is on the left. */
static int64
limit_of_comparison(Oid operator, bool is_left, const Node *other)
{
	int			strategy = get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID);
	int64		value;

	if (!integer_of(other, &value) || value == PG_INT64_MIN)
		return NO_LIMIT;
	if (strategy == BTEqualStrategyNumber || strategy == (is_left ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber))
		return value;
	if (strategy == (is_left ? BTLessStrategyNumber : BTGreaterStrategyNumber))
		return value - 1;
	return NO_LIMIT;
}

/* Whether a node is the function, or a variable of relation varno that the subquery computes as such. */
static bool
is_function(const Node *node, const WindowFunc *function, Index varno, List *target)
{
	const Var  *var = (const Var *) node;
	const TargetEntry *entry;

	if (IsA(node, WindowFunc))
		return equal(node, function);
	if (!IsA(node, Var) || (Index) var->varno != varno || var->varattno <= 0)
		return false;
	entry = get_tle_by_resno(target, var->varattno);
	return entry && equal(entry->expr, function);
}

static int64
limit_of_condition(const Node *node, const WindowFunc *function, Index varno, List *target)
{
	const OpExpr *condition = (const OpExpr *) node;

	if (!IsA(node, OpExpr) || list_length(condition->args) != 2)
		return NO_LIMIT;
	if (is_function(linitial(condition->args), function, varno, target))
		return limit_of_comparison(condition->opno, true, lsecond(condition->args));
	if (is_function(lsecond(condition->args), function, varno, target))
		return limit_of_comparison(condition->opno, false, linitial(condition->args));
	return NO_LIMIT;
}

int64
top_limit_of(PlannerInfo *root, const WindowClause *window, const WindowFunc *function, List *conditions, Index varno,
			 const char **why_not)
{
	int64		limit = NO_LIMIT;
	ListCell   *cell;

	foreach(cell, mgpu_run_conditions(window, function))
	{
		int64		one = limit_of_condition(mgpu_run_condition(lfirst(cell), function), function, 0, NIL);

		limit = Min(limit, one);
		if (one == NO_LIMIT)
		{
			*why_not = "a condition on the window function is no limit that is known to the planner";
			return 0;
		}
	}
	foreach(cell, conditions)
		limit = Min(limit, limit_of_condition((Node *) castNode(RestrictInfo, lfirst(cell))->clause, function, varno,
											  root->processed_tlist));
	*why_not = "the limit on the window function is not a constant";
	return limit < 1 || limit > TOP_MOST_ROWS ? 0 : limit;
}

int64
top_limit_of_query(const Query *query)
{
	int64		limit;
	int64		offset = 0;

	if (query->limitCount == NULL || query->limitOption != LIMIT_OPTION_COUNT || !integer_of(query->limitCount, &limit) ||
		(query->limitOffset && !integer_of(query->limitOffset, &offset)))
		return 0;
	if (limit < 1 || limit > TOP_MOST_ROWS || offset < 0 || offset > TOP_MOST_ROWS - limit)
		return 0;
	return limit + offset;
}
