/*
 * top_paths.c
 *		Offers MgpuTop nodes (top_node.c) to the planner.
 *
 * For DISTINCT ON and for ORDER BY with LIMIT, a path is added when these are planned.  A window function is limited by
 * conditions outside of its subquery, which PostgreSQL 14 leaves there.  So a path is added when the scan of a
 * subquery is planned, in the place of the whole subquery: its input is that of the subquery's WindowAgg.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "declined.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/group_count.h"
#include "query/job_rows.h"
#include "query/join_path.h"
#include "query/join_search.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "query/top_task.h"
#include "settings.h"

/* Costs of a row in units of cpu_operator_cost. */
#define PASS_COST 0.1			/* passing over it */
#define COMPARE_COST 0.5		/* comparing it where it has no code */
#define KEEP_COST 2.0			/* keeping a value of it */

/* More for the start in place of an ORDER BY with LIMIT: PostgreSQL's sort takes less than it costs if rows are few. */
#define ORDER_COST 35.0

/* Up to so many rows PostgreSQL's own sort keeps as fast as rows can be handed over. */
#define FEW_ROWS 1000

static create_upper_paths_hook_type previous_upper_hook;
static set_rel_pathlist_hook_type previous_rel_hook;

/* What a path is made for. */
typedef struct top_offer
{
	top_task	task;
	List	   *paths;			/* inputs */
	RelOptInfo *output_rel;
	PathTarget *target;
	List	   *pathkeys;
	double		num_partitions;
	double		kept_rows;
	table_executor executor;	/* who is expected to read its rows */
} top_offer;

/* ---- plans */

/* ---- what it costs */

static void
count_rows(top_offer *offer, double num_rows)
{
	top_task   *task = &offer->task;

	offer->num_partitions = group_count(task->root, task->partitions, num_rows);
	offer->kept_rows = clamp_row_est(Min(num_rows, offer->num_partitions * task->query->count));
}

/* The cost of writing the rows that are kept to files and reading them once, if they do not fit. */
static Cost
spill_cost(const top_offer *offer)
{
	double		bytes = offer->kept_rows * (offer->task.cell_bytes + offer->task.value_bytes);

	if (2 * bytes <= get_hash_memory_limit())
		return 0;
	return ceil(bytes / BLCKSZ) * (random_page_cost + seq_page_cost) + 2 * cpu_tuple_cost * offer->kept_rows;
}

static void
cost_path(const top_offer *offer, Path *path, const Path *child)
{
	const top_task *task = &offer->task;
	const QualCost *target_cost = &path->pathtarget->cost;
	Cost		of_row = PASS_COST + (task->partitions ? FOLD_COST : 0) + COLUMN_COST * list_length(task->columns) +
		(task->compares ? COMPARE_COST : 0);
	table_executor executor = offer->executor;

	path->rows = offer->kept_rows;
	path->startup_cost = START_COST + (offer->pathkeys ? ORDER_COST : 0) +
		cpu_operator_cost * (child->rows * of_row + offer->kept_rows * KEEP_COST * list_length(task->columns) +
							 offer->kept_rows * log2(2 + offer->kept_rows / offer->num_partitions));
	if (executor != TABLE_BY_NOBODY)
		path->startup_cost = table_job_node_cost(task->root, child, executor) + path->startup_cost * table_job_part(executor);
	else
		path->startup_cost += child->total_cost + spill_cost(offer);
	path->total_cost = path->startup_cost + path->rows * (cpu_tuple_cost + target_cost->per_tuple) + target_cost->startup;
	path->startup_cost += target_cost->startup;
	mgpu_take_disabled_nodes(path, child);
	/* below any other plan's */
	if (mgpu_setting_enable_top == MGPU_ENABLE_FORCE)
	{
		path->startup_cost /= 1e6;
		path->total_cost /= 1e6;
	}
}

/* Whether the rows of a partition of average size fit in memory, as they have to. */
static bool
partitions_fit(const top_offer *offer)
{
	return mgpu_setting_enable_top == MGPU_ENABLE_FORCE ||
		2 * offer->kept_rows / offer->num_partitions * (offer->task.cell_bytes + offer->task.value_bytes) <= get_hash_memory_limit();
}

/* ---- offering it */

static CustomPath *
make_path(top_offer *offer)
{
	const top_task *task = &offer->task;
	job_wish	wish = {.query = task->query,.columns = task->columns,.num_results = offer->kept_rows};
	Path	   *child = job_rows(task->root, scan_cheapest_path(task->root, offer->paths, task->columns), &wish, &offer->executor);
	CustomPath *path = custom_plan_path(&(node_path) {
		.query = task->query,
		.entries = task->function ? lappend(list_copy(task->columns), task->function) : task->columns,
		.rel = offer->output_rel,
		.target = offer->target,
		.pathkeys = offer->pathkeys,
		.child = child,
		.parallel_safe = offer->output_rel->consider_parallel && child->parallel_safe,
		/* as PostgreSQL's Sort, and unlike its WindowAgg and Unique */
		.goes_back = offer->pathkeys != NIL
	});

	task->query->by_job = offer->executor != TABLE_BY_NOBODY;
	cost_path(offer, &path->path, child);
	return path;
}

static const Path *
cheapest_of(List *paths)
{
	const Path *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, paths)
		if (cheapest == NULL || ((const Path *) lfirst(cell))->total_cost < cheapest->total_cost)
			cheapest = lfirst(cell);
	return cheapest;
}

static const char *const is_slower = "PostgreSQL's own plan is expected to be faster";
static const char *const is_off = "mgpu.enable_top is off";
static const char *const is_large = "a partition's rows are expected to need more memory than work_mem times hash_mem_multiplier";

/* Whether PostgreSQL's own sort hands over rows as fast as they can be kept. */
static bool
is_for_core(const top_offer *offer, const Path *input)
{
	return mgpu_setting_enable_top != MGPU_ENABLE_FORCE && offer->task.query->count <= FEW_ROWS && offer->executor == TABLE_BY_NOBODY &&
		scan_saved_cost(offer->task.root, input, offer->task.columns) == 0;
}

/* Add a path to a stage of planning.  Returns why it is not taken, NULL if it is the cheapest so far. */
static const char *
add_upper_path(top_offer *offer)
{
	CustomPath *path;

	count_rows(offer, ((const Path *) linitial(offer->paths))->rows);
	if (!partitions_fit(offer))
		return is_large;
	path = make_path(offer);
	if (offer->pathkeys && is_for_core(offer, linitial(offer->paths)))
		return "LIMIT is small and the input cannot be read as columns";
	add_path(offer->output_rel, &path->path);
	return cheapest_of(offer->output_rel->pathlist) == &path->path ? NULL : is_slower;
}

static const char *
offer_distinct_on(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	top_offer	offer = {.paths = input_rel->pathlist,.output_rel = output_rel,.target = input_rel->cheapest_total_path->pathtarget};

	if (mgpu_setting_enable_top == MGPU_ENABLE_OFF)
		return is_off;
	if (!top_task_of_distinct_on(&offer.task, root, offer.target))
		return offer.task.why_not;
	return add_upper_path(&offer);
}

/*
 * PostgreSQL's Sort of the input, or NULL if none is left.  Others are not looked at: a path that is sorted already
 * is one path of both relations, and has been freed if a better one was found.
 */
static const SortPath *
sort_of_input(const RelOptInfo *input_rel, const RelOptInfo *output_rel)
{
	ListCell   *cell;

	foreach(cell, output_rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		if (IsA(path, SortPath) && ((const SortPath *) path)->subpath->parent == input_rel)
			return (const SortPath *) path;
	}
	return NULL;
}

static const char *
offer_limit(const top_task *task, Path *input, RelOptInfo *output_rel)
{
	top_offer	offer = {
		.task = *task,
		.paths = list_make1(input),
		.output_rel = output_rel,
		.target = task->root->upper_targets[UPPERREL_FINAL],
		.pathkeys = task->root->sort_pathkeys
	};

	if (mgpu_setting_enable_top == MGPU_ENABLE_OFF)
		return is_off;
	return add_upper_path(&offer);
}

/*
 * A Sort of the input, or NULL: rows come in order.  Where the planner has dropped it for one in workers, it is made again, of rows that
 * are not the planner's: its own paths of the input may have been freed, as above.
 */
static const SortPath *
sort_for_order(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	const SortPath *sort = sort_of_input(input_rel, output_rel);
	SortPath   *made;
	Path	   *rows;
	ListCell   *cell;

	if (sort)
		return sort;
	foreach(cell, output_rel->pathlist)
		if (!IsA(path_below_projections(lfirst(cell)), GatherMergePath))
			return NULL;
	rows = root->parse->hasTargetSRFs ? NULL : join_search_path(root, input_rel);
	if (rows == NULL)
		return NULL;
	made = create_sort_path(root, output_rel, rows, root->sort_pathkeys, -1);
	made->path.pathtarget = input_rel->reltarget;
	return made;
}

static void
offer_order(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	const SortPath *sort = sort_for_order(root, input_rel, output_rel);
	top_task	task;

	if (sort == NULL)
		report_offer(root, DECLINED_SORT, "rows come in this order");
	else if (!top_task_of_order(&task, root, sort->path.pathtarget))
		report_offer(root, DECLINED_SORT, task.why_not);
	else if (task.query->count > 0)
		report_offer(root, DECLINED_TOP, offer_limit(&task, sort->subpath, output_rel));
	else
		report_offer(root, DECLINED_SORT, sort_offer(&task, sort, output_rel));
}

static void
offer_windows(PlannerInfo *root, RelOptInfo *rel)
{
	const char *no_window;
	const char *no_sort;

	window_offer_lower(root, rel);
	no_sort = window_offer(root, rel, &no_window);
	report_offer(root, DECLINED_SORT, no_sort);
	if (no_sort == NULL)
		report_offer(root, DECLINED_WINDOW, no_window);
}

/* Such as MgpuGroup, which needs no sort. */
static bool
has_custom_path(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
		if (IsA(lfirst(cell), CustomPath))
			return true;
	return false;
}

static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_upper_hook)
		previous_upper_hook(root, stage, input_rel, output_rel, extra);
	if (output_rel->reloptkind != RELOPT_UPPER_REL)
		return;
	if (stage == UPPERREL_DISTINCT && root->parse->hasDistinctOn)
		report_offer(root, DECLINED_TOP, offer_distinct_on(root, input_rel, output_rel));
	else if (stage == UPPERREL_ORDERED)
		offer_order(root, input_rel, output_rel);
	else if (stage == UPPERREL_WINDOW)
		offer_windows(root, output_rel);
	/* these need not sort: that no sort is offered is no news */
	else if ((stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT) && !has_custom_path(output_rel))
		sort_offer_below(root, output_rel);
}

/* ---- windows */

/* The relation that is the input of windows. */
static RelOptInfo *
input_of_windows(const RelOptInfo *window_rel)
{
	const Path *path = linitial(window_rel->pathlist);

	/* a WindowAgg or a sort */
	while (path->parent == window_rel)
		path = IsA(path, CustomPath) ? linitial(((const CustomPath *) path)->custom_paths) : ((const SortPath *) path)->subpath;
	return path->parent;
}

/* The cost of PostgreSQL's plan.  Without partitions it stops at the limit, which its own costs do not tell. */
static Cost
cost_of_windows(const top_offer *offer, const RelOptInfo *window_rel)
{
	Cost		least = cheapest_of(window_rel->pathlist)->total_cost;
	ListCell   *cell;

	if (offer->task.partitions)
		return least;
	foreach(cell, window_rel->pathlist)
	{
		const Path *path = lfirst(cell);

		least = Min(least, path->startup_cost + (path->total_cost - path->startup_cost) * Min(1, offer->kept_rows / path->rows));
	}
	return least;
}

/* Add a scan of a subquery whose plan is the node.  Returns why it is not taken. */
static const char *
offer_window(PlannerInfo *root, RelOptInfo *rel)
{
	PlannerInfo *subroot = rel->subroot;
	RelOptInfo *window_rel = fetch_upper_rel(subroot, UPPERREL_WINDOW, NULL);
	top_offer	offer = {.output_rel = window_rel,.target = subroot->upper_targets[UPPERREL_FINAL]};
	const Path *cheapest;
	CustomPath *path;

	if (mgpu_setting_enable_top == MGPU_ENABLE_OFF)
		return is_off;
	if (!top_task_of_window(&offer.task, subroot, rel->baserestrictinfo, rel->relid))
		return offer.task.why_not;
	offer.paths = input_of_windows(window_rel)->pathlist;
	count_rows(&offer, ((const Path *) linitial(offer.paths))->rows);
	if (!partitions_fit(&offer))
		return is_large;
	path = make_path(&offer);
	if (path->path.total_cost > cost_of_windows(&offer, window_rel))
		return is_slower;
	add_path(rel, (Path *) mgpu_create_subqueryscan_path(root, rel, &path->path));
	cheapest = cheapest_of(rel->pathlist);
	return IsA(cheapest, SubqueryScanPath) && ((const SubqueryScanPath *) cheapest)->subpath == &path->path ? NULL : is_slower;
}

static void
rel_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *entry)
{
	if (previous_rel_hook)
		previous_rel_hook(root, rel, rti, entry);
	if (entry->rtekind == RTE_SUBQUERY && rel->subroot && rel->subroot->parse->hasWindowFuncs && !IS_DUMMY_REL(rel) &&
		fetch_upper_rel(rel->subroot, UPPERREL_WINDOW, NULL)->pathlist)
		report_offer(root, DECLINED_TOP, offer_window(root, rel));
}

void
top_path_init(void)
{
	previous_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
	previous_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_paths;
}
