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

/* A relation's WindowAgg over an MgpuSort, or NULL. */
static const WindowAggPath *
window_over_sort(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const WindowAggPath *path = lfirst(cell);
		const query *below = IsA(path, WindowAggPath) ? custom_plan_query(window_task_below(&path->path)) : NULL;

		if (below && below->kind == QUERY_SORT)
			return path;
	}
	return NULL;
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

/* A partition may have so many times as many rows as the mean. */
#define PARTITION_MARGIN 4

/* Whether rows that do not fit in memory do so a partition at a time. */
static bool
partitions_fit(PlannerInfo *root, const window_task *task, double num_rows)
{
	List	   *keys = NIL;
	Size		row_bytes = sizeof(uint32);
	ListCell   *cell;

	for (int i = 0; i < task->query->num_partition_keys; i++)
		keys = lappend(keys, list_nth(task->columns, list_nth_int(task->query->order_columns, i)));
	foreach(cell, task->columns)
		row_bytes += custom_plan_cell_bytes(lfirst(cell)) + custom_plan_value_bytes(root, lfirst(cell));
	return keys != NIL &&
		PARTITION_MARGIN * num_rows / group_count(root, keys, num_rows) * row_bytes <= get_hash_memory_limit();
}

const char *
window_offer(PlannerInfo *root, RelOptInfo *rel)
{
	const WindowAggPath *core = window_over_sort(rel);
	CustomPath *path;
	List	   *scan_tuple;
	window_task task;

	if (core == NULL)
		return window_task_others;
	/* a node that asks them would be between the window and its sort */
	if (root->hasPseudoConstantQuals)
		return "a condition is the same for all rows";
	if (!window_task_make(&task, root, core))
		return task.why_not;
	if (!custom_plan_query(window_task_below(&core->path))->fits && !partitions_fit(root, &task, core->path.rows) && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "the rows of a partition are expected to need more memory than work_mem times hash_mem_multiplier";
	scan_tuple = list_concat_copy(task.columns, task.functions);
	path = custom_plan_path(&(node_path) {
		.query = task.query,
		.entries = scan_tuple,
		.rel = rel,
		.target = core->path.pathtarget,
		.pathkeys = core->path.pathkeys,
		.child = (Path *) make_child(root, core, scan_tuple),
		.parallel_safe = core->path.parallel_safe
	});
	cost_path(&task, &path->path, core);
	return sort_add_path(rel, &path->path);
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

	if (sort == NULL || !IsA(sort->subpath, WindowAggPath))
		return;
	/* a path that is not kept is freed */
	windows = makeNode(WindowAggPath);
	*windows = *(const WindowAggPath *) sort->subpath;
	lower = makeNode(RelOptInfo);
	*lower = *rel;
	lower->pathlist = list_make1(windows);
	window_offer_lower(root, lower);
	if (sort_offer_below(root, lower, true) == NULL)
		(void) window_offer(root, lower);
	set_cheapest(lower);
	better = lower->cheapest_total_path;
	if (better->total_cost >= sort->subpath->total_cost)
		return;
	again = create_sort_path(root, rel, better, sort->path.pathkeys, -1);
	again->path.pathtarget = sort->path.pathtarget;
	(void) sort_add_copy(rel, above, sort, &again->path);
}
