/*
 * sort_paths.c
 *		Offers MgpuSort nodes (sort_node.c) to the planner, where PostgreSQL sorts rows for an ORDER BY without a known LIMIT, and says what they cost.
 *
 * Those below other nodes are offered by sort_below.c.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/sort_runs.h"
#include "keys/collation.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/job_rows.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

/* More keys are left to PostgreSQL: each of them is a sort of all rows. */
#define MOST_KEYS 4

/* Costs of a row, in units of cpu_operator_cost. */
#define SORT_COST 4.0			/* sorting it by a key */
#define RETURN_COST 1.0			/* returning it */
#define WRITE_COST 0.8			/* writing a value to a run and reading it */
#define MERGE_COST 0.4			/* comparing it with one of another run */

/* A merge of some runs into one, before the last merge, costs so many times what writing the runs first and reading them does. */
#define MORE_PASS_COST 2.5

static const char *const is_slower = "PostgreSQL's own plan is expected to be faster";

/* Whether a key is sorted by numbers or bytes: comparing values is no faster here than in PostgreSQL. */
static bool
is_fast(const element_type *type, Oid collation)
{
	if (type->key_kind != 0 || type->encode || type->is_enum)
		return true;
	return type->byte_form != BYTE_FORM_NONE &&
		(!OidIsValid(collation) || collation_orders_bytes(collation) || collation_has_strings(collation));
}

/* Returns why a key cannot or should not be sorted by, or NULL. */
static const char *
why_no_key(const top_task *task, int n)
{
	element_type type;
	Oid			operator = list_nth_oid(task->query->order_operators, n);

	element_type_fill(&type, exprType(list_nth(task->columns, list_nth_int(task->query->order_columns, n))));
	if (operator != type.lt_operator && operator != type.gt_operator)
		return "a sort key has an operator that is not its type's own";
	if (mgpu_setting_enable_sort != MGPU_ENABLE_FORCE && !is_fast(&type, list_nth_oid(task->query->order_collations, n)))
		return "a sort key has no numeric or byte form";
	return NULL;
}

static const char *
why_not(const top_task *task)
{
	if (mgpu_setting_enable_sort == MGPU_ENABLE_OFF)
		return "mgpu.enable_sort is off";
	if (!enable_sort)
		return "enable_sort is off";
	if (task->query->order_columns == NIL || list_length(task->query->order_columns) > MOST_KEYS)
		return "there are more than four sort keys, or none that differs";
	for (int i = 0; i < list_length(task->query->order_columns); i++)
		if (why_no_key(task, i))
			return why_no_key(task, i);
	return NULL;
}

/* Estimate of the most memory that a row takes, as the node counts it. */
static Size
bytes_of_row(const top_task *task)
{
	Size		bytes = most_bytes_of_row(task->cell_bytes, sizeof(uint32)) + task->value_bytes;
	ListCell   *cell;

	foreach(cell, task->query->order_columns)
		bytes += collation_key_bytes(list_nth_oid(task->query->order_collations, foreach_current_index(cell)),
									 custom_plan_value_bytes(task->root, list_nth(task->columns, lfirst_int(cell))));
	return bytes;
}

/* How many times as much as there is memory for the rows need. */
static double
num_runs_of(const top_task *task, double num_rows)
{
	return num_rows * bytes_of_row(task) / get_hash_memory_limit();
}

/* Whether nodes above may have all sorted rows in memory: where threads have sorted them, as much as these may have. */
static bool
rows_fit(const top_task *task, double num_rows, table_executor executor)
{
	return executor == TABLE_BY_GPU || num_runs_of(task, num_rows) <= (executor == TABLE_BY_THREADS ? run_table_threads() : 1);
}

/* The cost of writing runs and merging them, if the rows do not fit in memory.  PostgreSQL's Sort has the same cost of a page. */
static Cost
runs_cost(const top_task *task, double num_rows)
{
	double		num_runs = num_runs_of(task, num_rows);
	double		more_passes = ceil(log(num_runs) / log(sort_runs_at_once())) - 1;
	Cost		pages = ceil(num_rows * (task->cell_bytes + task->value_bytes) / BLCKSZ) *
		2 * (0.75 * seq_page_cost + 0.25 * random_page_cost);
	Cost		values = num_rows * list_length(task->columns) * WRITE_COST * cpu_operator_cost;

	if (num_runs <= 1)
		return 0;
	return (1 + MORE_PASS_COST * more_passes) * (pages + values) + num_rows * log2(num_runs) * MERGE_COST * cpu_operator_cost;
}

static void
cost_path(const top_task *task, Path *path, const Path *child, table_executor executor)
{
	const QualCost *target_cost = &path->pathtarget->cost;

	path->rows = child->rows;
	path->startup_cost = START_COST + child->rows * cpu_operator_cost *
		(SORT_COST * list_length(task->query->order_columns) + COLUMN_COST * list_length(task->columns));
	if (executor != TABLE_BY_NOBODY)
		path->startup_cost = table_job_node_cost(task->root, child, executor) + path->startup_cost * table_job_part(executor);
	else
		path->startup_cost += child->total_cost + runs_cost(task, child->rows);
	path->total_cost = path->startup_cost + child->rows * (RETURN_COST * cpu_operator_cost + target_cost->per_tuple) + target_cost->startup;
	path->startup_cost += target_cost->startup;
	mgpu_take_disabled_nodes(path, child);
	/* below any other plan's */
	if (mgpu_setting_enable_sort == MGPU_ENABLE_FORCE)
	{
		path->startup_cost /= 1e6;
		path->total_cost /= 1e6;
	}
}

Path *
sort_make_path(const top_task *task, const SortPath *sort, PathTarget *target, const char **reason)
{
	job_wish	wish = {.query = task->query,.columns = task->columns,.num_results = sort->subpath->rows};
	CustomPath *path;
	Path	   *child;
	table_executor executor;

	*reason = why_not(task);
	if (*reason)
		return NULL;
	child = job_rows(task->root, sort->subpath, &wish, &executor);
	task->query->kind = QUERY_SORT;
	task->query->fits = rows_fit(task, child->rows, executor);
	task->query->by_job = executor != TABLE_BY_NOBODY;
	path = custom_plan_path(&(node_path) {
		.query = task->query,
		.entries = task->columns,
		.rel = sort->path.parent,
		.target = target,
		.pathkeys = sort->path.pathkeys,
		.child = child,
		.parallel_safe = sort->path.parallel_safe && child->parallel_safe,
		.goes_back = true
	});
	cost_path(task, &path->path, child, executor);
	return &path->path;
}

const char *
sort_add_path(RelOptInfo *rel, Path *path)
{
	Cost		cost = path->total_cost;
	ListCell   *cell;
	bool		is_there = false;

	/* frees it, if another one is better */
	add_path(rel, path);
	foreach(cell, rel->pathlist)
	{
		is_there |= lfirst(cell) == path;
		if (((const Path *) lfirst(cell))->total_cost < cost)
			return is_slower;
	}
	return is_there ? NULL : is_slower;
}

/* ---- ORDER BY */

const char *
sort_offer(const top_task *task, const SortPath *sort, RelOptInfo *output_rel)
{
	const char *reason;
	Path	   *path;

	if (task->root->parse->limitCount && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "LIMIT is not a constant";
	path = sort_make_path(task, sort, task->root->upper_targets[UPPERREL_FINAL], &reason);
	return path ? sort_add_path(output_rel, path) : reason;
}
