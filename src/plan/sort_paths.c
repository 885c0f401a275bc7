/*
 * sort_paths.c
 *		Offers MgpuSort nodes (sort_node.c) to the planner, for an ORDER BY without a known LIMIT.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "compat.h"
#include "keys/collation.h"
#include "plan/costs.h"
#include "plan/group.h"
#include "plan/sort.h"
#include "settings.h"

/* More keys are left to PostgreSQL: each of them is a sort of all rows. */
#define MOST_KEYS 4

/* Costs of a row, in units of cpu_operator_cost. */
#define SORT_COST 4.0			/* sorting it by a key */
#define RETURN_COST 1.0			/* returning it */

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	ListCell   *cell;

	foreach(cell, (List *) lsecond(path->custom_private))
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst(cell)), foreach_current_index(cell) + 1, NULL, false));
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = linitial(path->custom_private);
	scan->methods = &sort_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "MgpuSort",
	.PlanCustomPath = make_plan
};

/* Whether a key is sorted by numbers or bytes: comparing values is no faster here than in PostgreSQL. */
static bool
is_fast(const element_type *type, Oid collation)
{
	if (type->key_kind != 0 || type->encode || type->is_enum)
		return true;
	return type->byte_form != BYTE_FORM_NONE && (!OidIsValid(collation) || collation_orders_bytes(collation));
}

/* Returns why a key cannot or should not be sorted by, or NULL. */
static const char *
why_no_key(const top_task *task, int n)
{
	element_type type;
	Oid			operator = list_nth_oid(task->operators, n);

	element_type_fill(&type, exprType(list_nth(task->columns, list_nth_int(task->order_columns, n))));
	if (operator != type.lt_operator && operator != type.gt_operator)
		return "a sort key has an operator that is not its type's own";
	if (mgpu_setting_enable_sort != MGPU_ENABLE_FORCE && !is_fast(&type, list_nth_oid(task->order_collations, n)))
		return "a sort key's values can only be compared";
	return NULL;
}

static const char *
why_not(const top_task *task)
{
	if (mgpu_setting_enable_sort == MGPU_ENABLE_OFF)
		return "mgpu.enable_sort is off";
	if (task->order_columns == NIL || list_length(task->order_columns) > MOST_KEYS)
		return "there are more than four sort keys, or none that differs";
	if (task->root->parse->limitCount && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "LIMIT is not a constant";
	for (int i = 0; i < list_length(task->order_columns); i++)
		if (why_no_key(task, i))
			return why_no_key(task, i);
	return NULL;
}

static void
cost_path(const top_task *task, Path *path, const Path *child)
{
	const QualCost *target_cost = &path->pathtarget->cost;

	path->rows = child->rows;
	path->startup_cost = child->total_cost + START_COST + child->rows * cpu_operator_cost *
		(SORT_COST * list_length(task->order_columns) + COLUMN_COST * list_length(task->columns));
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

static bool
is_cheapest(const RelOptInfo *rel, const Path *path)
{
	ListCell   *cell;
	bool		is_there = false;

	foreach(cell, rel->pathlist)
	{
		is_there |= lfirst(cell) == path;
		if (((const Path *) lfirst(cell))->total_cost < path->total_cost)
			return false;
	}
	return is_there;
}

const char *
sort_offer(const top_task *task, Path *input, RelOptInfo *output_rel)
{
	const char *reason = why_not(task);
	CustomPath *path = makeNode(CustomPath);
	Path	   *child;

	if (reason)
		return reason;
	child = row_source_path(task->root, input, task->columns);
	if (mgpu_setting_enable_sort != MGPU_ENABLE_FORCE &&
		child->rows * most_bytes_of_row(task->record_bytes, sizeof(uint32)) > get_hash_memory_limit())
		return "the rows are expected to need more memory than work_mem times hash_mem_multiplier";
	path->path.pathtype = T_CustomScan;
	path->path.parent = output_rel;
	path->path.pathtarget = task->root->upper_targets[UPPERREL_FINAL];
	path->path.pathkeys = task->root->sort_pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION | CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make2(top_task_private(task), task->columns);
	path->methods = &path_methods;
	cost_path(task, &path->path, child);
	add_path(output_rel, &path->path);
	return is_cheapest(output_rel, &path->path) ? NULL : "PostgreSQL's own plan is expected to be faster";
}

void
sort_path_init(void)
{
	RegisterCustomScanMethods(&sort_scan_methods);
}
