/*
 * window_paths.c
 *		Offers MgpuWindow nodes (window_node.c) to the planner.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/group_count.h"
#include "query/offers.h"
#include "query/window_columns.h"
#include "query/window_reach.h"
#include "query/window_task.h"
#include "settings.h"

/* Computing a function of a row, in units of cpu_operator_cost. */
#define FUNCTION_COST 0.5

static void
cost_path(const window_task *task, Path *path, const WindowAggPath *core)
{
	const QualCost *target_cost = &path->pathtarget->cost;
	const Path *sort = window_task_below(&core->path);

	path->rows = core->path.rows;
	path->startup_cost = sort->startup_cost + target_cost->startup;
	path->total_cost = sort->total_cost + target_cost->startup +
		path->rows * (FUNCTION_COST * cpu_operator_cost * list_length(task->functions) + target_cost->per_tuple);
	mgpu_take_disabled_nodes(path, sort);
}

/*
 * A copy of the WindowAgg, since the planner may free the other.  It returns the scan tuple, from which the node computes
 * its own target: the planner may give the node another one.
 */
static WindowAggPath *
make_child(PlannerInfo *root, const WindowAggPath *core, const List *scan_tuple)
{
	WindowAggPath *child = makeNode(WindowAggPath);
	PathTarget *target = create_empty_pathtarget();
	ListCell   *cell;

	foreach(cell, scan_tuple)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	*child = *core;
	child->path.pathtarget = set_pathtarget_cost_width(root, target);
	return child;
}

/* How many rows are in memory at a time, of those that do not fit. */
static double
num_at_hand(PlannerInfo *root, const window_task *task, double num_rows, bool as_columns)
{
	window_reach reach = window_reach_of(task->query, as_columns);
	int			num_keys = reach.keeps == WINDOW_KEEPS_PARTITION ? task->query->num_partition_keys : list_length(task->query->order_columns);
	double		num_around = (double) reach.back + reach.ahead;
	List	   *keys = NIL;

	if (reach.keeps == WINDOW_KEEPS_ALL)
		return num_rows;
	if (reach.keeps == WINDOW_KEEPS_ROWS)
		return 2 * num_around;
	for (int i = 0; i < num_keys; i++)
		keys = lappend(keys, list_nth(task->columns, list_nth_int(task->query->order_columns, i)));
	return 2 * num_around + group_largest(root, keys, num_rows);
}

/* Whether of rows that do not fit in memory those do that are wanted at a time.  As columns, they may have more of it; if that fails, they will take it. */
static bool
rows_at_hand_fit(PlannerInfo *root, const window_task *task, double num_rows)
{
	Size		row_bytes = sizeof(uint32);
	ListCell   *cell;

	foreach(cell, task->columns)
		row_bytes += custom_plan_cell_bytes(lfirst(cell)) + custom_plan_value_bytes(root, lfirst(cell));
	return num_at_hand(root, task, num_rows, false) * row_bytes <= get_hash_memory_limit() ||
		(task->query->as_columns && num_at_hand(root, task, num_rows, true) * window_columns_row_bytes(task) <= window_columns_memory());
}

/* Offer MgpuWindow in place of a relation's path over an MgpuSort.  Returns why it is not taken, or NULL. */
static const char *
offer_over_sort(PlannerInfo *root, RelOptInfo *rel, const Path *over_sort)
{
	const WindowAggPath *core = (const WindowAggPath *) over_sort;
	CustomPath *path;
	List	   *scan_tuple;
	window_task task;

	if (!IsA(core, WindowAggPath) || custom_plan_query(window_task_below(over_sort)) == NULL)
		return window_task_others;
	/* a node that asks them would be between the window and its sort */
	if (root->hasPseudoConstantQuals)
		return "a condition is the same for all rows";
	if (!window_task_make(&task, root, core))
		return task.why_not;
	task.query->as_columns = window_columns_are_likely(root, &task, (const CustomPath *) window_task_below(over_sort));
	if (!custom_plan_query(window_task_below(&core->path))->fits && !rows_at_hand_fit(root, &task, core->path.rows) && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "rows that are looked at together are expected to need more memory than work_mem times hash_mem_multiplier";
	scan_tuple = list_concat_copy(task.columns, task.functions);
	path = custom_plan_path(&(node_path) {
		.query = task.query,
		.entries = scan_tuple,
		.quals = task.conditions,
		.rel = rel,
		.target = core->path.pathtarget,
		.pathkeys = core->path.pathkeys,
		.child = (Path *) make_child(root, core, scan_tuple),
		.parallel_safe = core->path.parallel_safe
	});
	cost_path(&task, &path->path, core);
	return sort_add_path(rel, &path->path);
}

const char *
window_offer(PlannerInfo *root, RelOptInfo *rel, const char **no_window)
{
	const char *no_sort;
	Path	   *over_sort = sort_path_below(root, rel, true, &no_sort);

	if (over_sort == NULL)
		return no_sort;
	*no_window = offer_over_sort(root, rel, over_sort);
	no_sort = sort_add_path(rel, over_sort);
	return *no_window ? no_sort : NULL;
}

void
window_offer_lower(PlannerInfo *root, RelOptInfo *rel)
{
	const Path *above;
	const SortPath *sort = sort_of_rel(rel, &above);
	WindowAggPath *windows;
	RelOptInfo *lower;
	SortPath   *again;
	Path	   *better;
	const char *no_window;

	if (sort == NULL || !IsA(sort->subpath, WindowAggPath))
		return;
	/* a path that is not kept is freed */
	windows = makeNode(WindowAggPath);
	*windows = *(const WindowAggPath *) sort->subpath;
	lower = makeNode(RelOptInfo);
	*lower = *rel;
	lower->pathlist = list_make1(windows);
	window_offer_lower(root, lower);
	(void) window_offer(root, lower, &no_window);
	set_cheapest(lower);
	better = lower->cheapest_total_path;
	if (better->total_cost >= sort->subpath->total_cost)
		return;
	again = create_sort_path(root, rel, better, sort->path.pathkeys, -1);
	again->path.pathtarget = sort->path.pathtarget;
	(void) sort_add_copy(rel, above, sort, &again->path);
}
