/*
 * top_task.c
 *		What a query asks an MgpuTop or MgpuSort node to do.
 *
 * The columns of both nodes are the target of their input, which has whatever is needed above it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "batch/group_keys.h"
#include "batch/row_compare.h"
#include "query/custom_plan.h"
#include "query/top_limit.h"
#include "query/top_task.h"

static bool
give_up(top_task *task, const char *why_not)
{
	task->why_not = why_not;
	return false;
}

/* ---- columns */

static bool
take_column(top_task *task, Expr *expr)
{
	Oid			type_id = exprType((Node *) expr);

	/* a window function of its own is one that the rows come with */
	if (!IsA(expr, WindowFunc) && !custom_plan_is_simple(expr))
		return give_up(task, "an expression is volatile, returns a set or has a subquery");
	if (get_typtype(type_id) == TYPTYPE_PSEUDO)
		return give_up(task, "a column has a pseudo-type");
	task->columns = lappend(task->columns, expr);
	task->cell_bytes += custom_plan_cell_bytes(expr);
	task->value_bytes += custom_plan_value_bytes(task->root, expr);
	return true;
}

static bool
start_task(top_task *task, PlannerInfo *root, const PathTarget *input)
{
	ListCell   *cell;

	memset(task, 0, sizeof(*task));
	task->root = root;
	task->query = query_create(QUERY_TOP);
	if (root->parse->hasTargetSRFs)
		return give_up(task, "the select list returns sets");
	/* their columns have no names that EXPLAIN could print */
	if (root->parse->setOperations)
		return give_up(task, "rows of a UNION, an INTERSECT or an EXCEPT are left to PostgreSQL");
	/* the planner makes constants of columns of a subquery that nobody reads; the node's own target computes them */
	foreach(cell, input->exprs)
		if (!IsA(lfirst(cell), Const) && !take_column(task, lfirst(cell)))
			return false;
	return task->columns != NIL || give_up(task, "all columns are constants");
}

static Expr *
expr_of(const top_task *task, const SortGroupClause *clause)
{
	return (Expr *) get_sortgroupclause_expr((SortGroupClause *) clause, task->root->processed_tlist);
}

/* The column that has an expression, or -1. */
static int
column_of(top_task *task, const Expr *expr)
{
	ListCell   *cell;

	foreach(cell, task->columns)
		if (equal(lfirst(cell), expr))
			return foreach_current_index(cell);
	give_up(task, "a sort key is not among the columns");
	return -1;
}

/* ---- keys */

static bool
take_partition(top_task *task, const SortGroupClause *clause)
{
	Expr	   *expr = expr_of(task, clause);
	int			column = column_of(task, expr);
	group_key	key;

	if (column < 0)
		return false;
	if (!group_key_fill(&key, exprType((Node *) expr), clause->eqop, exprCollation((Node *) expr)))
		return give_up(task, "a partition key's type cannot be hashed");
	task->partitions = lappend(task->partitions, expr);
	task->query->key_columns = lappend_int(task->query->key_columns, column);
	task->query->key_equalities = lappend_oid(task->query->key_equalities, clause->eqop);
	task->query->key_collations = lappend_oid(task->query->key_collations, exprCollation((Node *) expr));
	return true;
}

static bool
take_partitions(top_task *task, List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
		if (!IsA(expr_of(task, lfirst(cell)), Const) && !take_partition(task, lfirst(cell)))
			return false;
	return true;
}

static void
take_key(top_task *task, int column, Oid operator, Oid collation, bool nulls_first)
{
	Node	   *expr = list_nth(task->columns, column);

	if (task->query->order_columns == NIL)
		task->compares = !row_compare_has_codes(exprType(expr), operator);
	task->query->order_columns = lappend_int(task->query->order_columns, column);
	task->query->order_operators = lappend_oid(task->query->order_operators, operator);
	task->query->order_collations = lappend_oid(task->query->order_collations, collation);
	task->query->order_nulls_first = lappend_int(task->query->order_nulls_first, nulls_first);
}

/* Keys that decide nothing, or nothing any more, are left out. */
static bool
take_order(top_task *task, List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const SortGroupClause *clause = lfirst(cell);
		const Expr *expr = expr_of(task, clause);
		int			column;

		if (IsA(expr, Const))
			continue;
		column = column_of(task, expr);
		if (column < 0)
			return false;
		if (list_member_int(task->query->key_columns, column) || list_member_int(task->query->order_columns, column))
			continue;
		take_key(task, column, clause->sortop, exprCollation(list_nth(task->columns, column)), clause->nulls_first);
	}
	return true;
}

/* The key of an order that a path has, as a column of its rows. */
static bool
take_pathkey(top_task *task, const PathKey *key)
{
	ListCell   *cell;

	foreach(cell, task->columns)
	{
		const EquivalenceMember *member = find_ec_member_matching_expr(key->pk_eclass, lfirst(cell), NULL);
		Oid			operator;

		if (member == NULL)
			continue;
		operator = mgpu_pathkey_operator(key, member->em_datatype);
		if (!OidIsValid(operator))
			break;
		take_key(task, foreach_current_index(cell), operator, key->pk_eclass->ec_collation, key->pk_nulls_first);
		return true;
	}
	return give_up(task, "a sort key is not among the columns");
}

/* ---- windows */

static bool
take_function(top_task *task, WindowFunc *function)
{
	task->function = function;
	switch (function->winfnoid)
	{
		case F_ROW_NUMBER:
			task->query->rule = TOP_ROWS;
			return true;
		case F_RANK_:
			task->query->rule = TOP_RANKS;
			return true;
		case F_DENSE_RANK_:
			task->query->rule = TOP_DENSE_RANKS;
			return true;
		default:
			return give_up(task, "a window function is not row_number, rank or dense_rank");
	}
}

/* The function that all WindowFuncs of a list are, or NULL. */
static WindowFunc *
only_function(List *nodes)
{
	WindowFunc *function = NULL;
	ListCell   *cell;

	foreach(cell, nodes)
	{
		if (!IsA(lfirst(cell), WindowFunc))
			continue;
		if (function && !equal(function, lfirst(cell)))
			return NULL;
		function = lfirst(cell);
	}
	return function;
}

static const WindowClause *
window_of(const Query *query, const WindowFunc *function)
{
	ListCell   *cell;

	foreach(cell, query->windowClause)
		if (((const WindowClause *) lfirst(cell))->winref == function->winref)
			return lfirst(cell);
	return NULL;
}

/* Whether there is nothing in the query above its window functions. */
static bool
is_only_window(const Query *query)
{
	return query->setOperations == NULL && query->distinctClause == NIL && query->sortClause == NIL &&
		query->limitCount == NULL && query->limitOffset == NULL && query->rowMarks == NIL;
}

bool
top_task_of_window(top_task *task, PlannerInfo *root, List *conditions, Index varno)
{
	Node	   *target = (Node *) root->upper_targets[UPPERREL_FINAL]->exprs;
	List	   *nodes = pull_var_clause(target, PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
	WindowFunc *function = only_function(nodes);
	const WindowClause *window;
	const char *why_not = NULL;
	int64		count;

	memset(task, 0, sizeof(*task));
	if (function == NULL)
		return give_up(task, "there are several window functions");
	window = window_of(root->parse, function);
	count = top_limit_of(root, window, function, conditions, varno, &why_not);
	if (count == 0)
		return give_up(task, why_not);
	if (!is_only_window(root->parse))
		return give_up(task, "the subquery has a DISTINCT, an ORDER BY or a LIMIT, or locks rows");
	if (custom_plan_has_special_parts(target, function) || contain_volatile_functions(target))
		return give_up(task, "the subquery's select list is volatile or has a subquery");
	if (window->startOffset || window->endOffset)
		return give_up(task, "a frame has an offset");
	if (!start_task(task, root, root->upper_targets[UPPERREL_GROUP_AGG]) || !take_function(task, function))
		return false;
	task->query->count = count;
	return take_partitions(task, window->partitionClause) && take_order(task, window->orderClause);
}

/* ---- DISTINCT ON, ORDER BY */

bool
top_task_of_distinct_on(top_task *task, PlannerInfo *root, const PathTarget *target)
{
	if (!start_task(task, root, target))
		return false;
	task->query->count = 1;
	return take_partitions(task, mgpu_distinct_clause(root)) && take_order(task, root->parse->sortClause);
}

bool
top_task_of_order(top_task *task, PlannerInfo *root, const PathTarget *input)
{
	if (!start_task(task, root, input))
		return false;
	if (root->parse->rowMarks)
		return give_up(task, "rows are locked");
	task->query->count = top_limit_of_query(root->parse);
	return take_order(task, root->parse->sortClause);
}

bool
top_task_of_sort(top_task *task, PlannerInfo *root, const SortPath *sort)
{
	ListCell   *cell;

	if (!start_task(task, root, sort->path.pathtarget))
		return false;
	foreach(cell, sort->path.pathkeys)
		if (!take_pathkey(task, lfirst(cell)))
			return false;
	return true;
}
