/*
 * slow_functions.c
 *		What functions take that PostgreSQL counts like an addition, where one process calls them.
 *
 * PostgreSQL's own plans all make the same mistake.  A job reads rows so much faster than a scan that its plan wins, and then one process calls the
 * functions that no program has, where workers would have shared them.  So a path of ours has what they take beyond a worker's part.  Functions that
 * are not here take less than ten additions.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "expr/functions.h"
#include "keys/collation.h"
#include "query/scan_path.h"
#include "query/slow_functions.h"

/* Measured with 1,000,000 rows, in units of cpu_operator_cost, which is about 20 ns (group_cost.c).  Each line is a range of OIDs. */
static const struct
{
	Oid			first;
	Oid			last;
	double		cost;
}			slow_functions[] = {
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT, F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT, 50}, {F_REGEXP_MATCH_TEXT_TEXT, F_REGEXP_MATCH_TEXT_TEXT_TEXT, 50},
	{F_REGEXP_SPLIT_TO_ARRAY_TEXT_TEXT, F_REGEXP_SPLIT_TO_ARRAY_TEXT_TEXT_TEXT, 120}, {F_SUBSTRING_TEXT_TEXT, F_SUBSTRING_TEXT_TEXT, 60},
#ifdef F_REGEXP_LIKE_TEXT_TEXT
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT_INT4_INT4_TEXT, F_REGEXP_SUBSTR_TEXT_TEXT_INT4_INT4_TEXT_INT4, 65},
#endif
	{F_AGE_TIMESTAMPTZ_TIMESTAMPTZ, F_AGE_TIMESTAMPTZ_TIMESTAMPTZ, 8}, {F_AGE_TIMESTAMP_TIMESTAMP, F_AGE_TIMESTAMP_TIMESTAMP, 8},
	{F_TO_CHAR_INTERVAL_TEXT, F_TO_CHAR_INTERVAL_TEXT, 20}, {F_TO_CHAR_TIMESTAMPTZ_TEXT, F_TO_CHAR_TIMESTAMPTZ_TEXT, 20},
	{F_TO_CHAR_TIMESTAMP_TEXT, F_TO_CHAR_TIMESTAMP_TEXT, 20}, {F_TO_CHAR_NUMERIC_TEXT, F_TO_CHAR_FLOAT8_TEXT, 20},
	{F_EXP_NUMERIC, F_NUMERIC_POWER, 500}, {F_LOG_NUMERIC, F_LOG_NUMERIC, 500}, {F_POWER_NUMERIC_NUMERIC, F_POWER_NUMERIC_NUMERIC, 500},
	{F_MD5_TEXT, F_MD5_TEXT, 80}, {F_MD5_BYTEA, F_MD5_BYTEA, 80}, {F_SHA224, F_SHA512, 80}, {F_TRANSLATE, F_TRANSLATE, 50}, {F_FORMAT_TEXT_ANY, F_FORMAT_TEXT, 25}
};

/* Add what the calls in an expression cost. */
static bool
add_calls(Node *node, void *cost)
{
	Oid			function;

	if (node == NULL)
		return false;
	function = IsA(node, FuncExpr) ? ((const FuncExpr *) node)->funcid : IsA(node, OpExpr) ? ((const OpExpr *) node)->opfuncid : InvalidOid;
	for (size_t i = 0; OidIsValid(function) && i < lengthof(slow_functions); i++)
		if (function >= slow_functions[i].first && function <= slow_functions[i].last)
			*(double *) cost += slow_functions[i].cost;
	return expression_tree_walker(node, add_calls, cost);
}

/*
 * A comparison of texts in the order of a language, beyond an addition.  PostgreSQL's own scans take it too, and an index is worth the more: of 380,000
 * rows, 24,000 were found by an index in 30 ms, and by two threads with three comparisons in 70.
 */
#define COLLATED_COST 4.0

static bool
add_comparisons(Node *node, void *cost)
{
	const OpExpr *op = (const OpExpr *) node;
	const known_function *known;

	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return add_comparisons((Node *) ((const RestrictInfo *) node)->clause, cost);
	known = IsA(node, OpExpr) ? known_function_of(op->opfuncid) : NULL;
	if (known && known->code == MGPU_RUN_COMPARE_BYTES && known->number != MGPU_IS_EQUAL && known->number != (MGPU_IS_LESS | MGPU_IS_GREATER) &&
		OidIsValid(op->inputcollid) && !collation_orders_bytes(op->inputcollid))
		*(double *) cost += COLLATED_COST;
	return expression_tree_walker(node, add_comparisons, cost);
}

Cost
slow_comparisons_cost(const RelOptInfo *rel)
{
	double		cost = 0;

	(void) add_comparisons((Node *) rel->baserestrictinfo, &cost);
	return cost * cpu_operator_cost;
}

/* Whether workers compute what a path returns. */
static bool
is_shared(const Path *path)
{
	while (path && !IsA(path, GatherPath) && !IsA(path, GatherMergePath))
		path = scan_path_below(path);
	return path != NULL;
}

Cost
slow_functions_cost(PlannerInfo *root, const Path *rows, List *exprs)
{
	const List *partial = rows->parent->partial_pathlist;
	double		cost = 0;

	/* a parallel path's rows are those of one process */
	if (partial == NIL || is_shared(rows) || add_calls((Node *) exprs, &cost) || cost == 0 || !is_parallel_safe(root, (Node *) exprs))
		return 0;
	return cost * cpu_operator_cost * Max(rows->rows - ((const Path *) linitial(partial))->rows, 0);
}
