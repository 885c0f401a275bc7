/*
 * window_columns.c
 *		Whether a job is expected to have the rows of windows as columns, and what that costs.
 *
 * A job sorts the rows below, and the windows are computed over its answer.  What the job above asks of its rows is known when the plan runs: both jobs
 * are made then, before the first one runs.  To make them here, too, was rejected: their expressions belong to two queries by now.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/expr_program.h"
#include "query/custom_plan.h"
#include "query/join_path.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "query/window_columns.h"
#include "run/run_table.h"
#include "settings.h"

/* A function, or a column, of a row, in units of cpu_operator_cost.  Measured: some 4 ns, as the answer is read, computed with and written to a batch. */
#define VALUE_COST 0.25

/* Cells of a text. */
#define TEXT_CELLS 3

/* Of the memory of a job: the one above has it, too. */
#define MEMORY_SHARE 0.5

query *
window_columns_query(const query *windows, const query *sort)
{
	query	   *top = query_create(QUERY_TOP);

	top->as_cells = true;
	for (int i = 0; i < list_length(sort->order_columns); i++)
	{
		int			column = list_nth_int(sort->order_columns, i);
		Oid			operator = list_nth_oid(sort->order_operators, i);
		Oid			collation = list_nth_oid(sort->order_collations, i);
		bool		descending;
		Oid			equality = get_equality_op_for_ordering_op(operator, &descending);

		if (i >= windows->num_partition_keys)
		{
			top->order_columns = lappend_int(top->order_columns, column);
			top->order_operators = lappend_oid(top->order_operators, operator);
			top->order_collations = lappend_oid(top->order_collations, collation);
			top->order_nulls_first = lappend_int(top->order_nulls_first, list_nth_int(sort->order_nulls_first, i));
			continue;
		}
		/* partitions come in the order of their keys, NULLs last */
		if (descending || list_nth_int(sort->order_nulls_first, i) || list_nth_int(windows->order_columns, i) != column)
			return NULL;
		top->key_columns = lappend_int(top->key_columns, column);
		top->key_equalities = lappend_oid(top->key_equalities, equality);
		top->key_collations = lappend_oid(top->key_collations, collation);
	}
	return top;
}

/* ---- whether */

bool
window_columns_has(reduction what)
{
	return what <= REDUCE_FLOAT_AVG || (what >= REDUCE_SUM_OF_NUMERIC && what <= REDUCE_MAX_OF_NUMERIC);
}

/* A numeric without a typmod shows digits of its own, with which nothing is computed. */
static bool
takes_argument(const Expr *argument)
{
	return argument == NULL || exprType((const Node *) argument) != NUMERICOID || exprTypmod((const Node *) argument) >= 0;
}

static bool
computes_all(const window_task *task)
{
	const query *query = task->query;

	for (int i = 0; i < list_length(query->functions); i++)
	{
		int			column = list_nth_int(query->arguments, i);
		const Expr *argument = column < 0 ? NULL : list_nth(task->columns, column);

		if (list_nth_int(query->functions, i) == WINDOW_AGGREGATE &&
			(!window_columns_has(known_reduction_of(list_nth_oid(query->aggregates, i))->reduction) || !takes_argument(argument)))
			return false;
	}
	return true;
}

bool
window_columns_are_likely(PlannerInfo *root, const window_task *task, const CustomPath *sort)
{
	const Path *rows = linitial(sort->custom_paths);
	const query *query = window_columns_query(task->query, custom_plan_query(&sort->path));

	if (query == NULL || !mgpu_setting_enable_columns || !table_job_has_threads(rows->rows) || !computes_all(task))
		return false;
	return table_job_expected(root, rows, query, NIL, rows->rows) != TABLE_BY_NOBODY;
}

double
window_columns_row_bytes(const window_task *task)
{
	double		bytes = sizeof(uint32);
	ListCell   *cell;

	foreach(cell, task->columns)
		bytes += get_typbyval(exprType(lfirst(cell))) ? sizeof(uint64) : TEXT_CELLS * sizeof(uint64);
	return bytes;
}

double
window_columns_memory(void)
{
	return run_table_memory() * MEMORY_SHARE;
}

/* ---- above */

/* The path that a subquery's scan, or an MgpuScan over one, has its rows from; NULL: it is none. */
static const Path *
below_scan(const Path *path)
{
	const query *query = custom_plan_query(path);

	if (IsA(path, SubqueryScanPath))
		return ((const SubqueryScanPath *) path)->subpath;
	return query && query->kind == QUERY_SCAN ? linitial(((const CustomPath *) path)->custom_paths) : NULL;
}

const CustomPath *
window_columns_below(const Path *rows)
{
	const query *query;

	for (rows = path_below_projections(rows); below_scan(rows); rows = path_below_projections(rows))
		rows = below_scan(rows);
	query = custom_plan_query(rows);
	return query && query->kind == QUERY_WINDOW && query->as_columns ? (const CustomPath *) rows : NULL;
}

Path *
window_columns_source(const RelOptInfo *rel)
{
	const Path *cheapest = NULL;
	SubqueryScanPath *copy;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (IsA(path, SubqueryScanPath) && path->param_info == NULL && window_columns_below(path) && (cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	if (cheapest == NULL)
		return NULL;
	/* a path that is not kept is freed */
	copy = makeNode(SubqueryScanPath);
	*copy = *(const SubqueryScanPath *) cheapest;
	return &copy->path;
}

bool
window_columns_are_taken(const Path *rows)
{
	ListCell   *cell;

	foreach(cell, rows->pathtarget->exprs)
		if (!expr_program_has_type(exprType(lfirst(cell)), exprTypmod(lfirst(cell))))
			return false;
	return true;
}

/* Conditions of a subquery's scan are the job's. */
Cost
window_columns_cost(const Path *rows)
{
	const CustomPath *windows = window_columns_below(rows);
	const query *query = custom_plan_query(&windows->path);
	const Path *sort = window_task_below(linitial(windows->custom_paths));
	double		num_values = list_length(query->functions) + list_length(sort->pathtarget->exprs);

	return sort->startup_cost + windows->path.rows *
		(num_values * VALUE_COST * cpu_operator_cost + scan_path_part(false) * (cpu_tuple_cost + rows->parent->baserestrictcost.per_tuple));
}
