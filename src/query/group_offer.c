/*
 * group_offer.c
 *		Paths of MgpuGroup nodes, for a grouping of a relation's rows.
 *
 * There are two: over all rows and, if the input has partial paths, over a Gather of nodes that pack rows (rows_node.c) or groups (group_partial.c).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/wire.h"
#include "query/aggregate_ways.h"
#include "query/custom_plan.h"
#include "query/group_cost.h"
#include "query/group_count.h"
#include "query/group_offer.h"
#include "query/group_query.h"
#include "query/group_values_plan.h"
#include "query/job_rows.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/slow_functions.h"
#include "query/table_job.h"
#include "settings.h"

/* Packing and unpacking a column, in units of cpu_operator_cost. */
#define PACK_COST 0.25

/* Workers fold rows if that makes of so many rows one group that the leader has to combine. */
#define PARTS_GAIN 4

/* ---- paths below a Gather */

/* A partial path of packs, that of rows or that of groups, over rows. */
static CustomPath *
make_pack_path(const group_task *task, Path *rows, query *query, List *entries)
{
	CustomPath *path = custom_plan_path(&(node_path) {
		.query = query,
		.entries = entries,
		.rel = rows->parent,
		.target = group_pack_target(task),
		.child = rows,
		.parallel_safe = true
	});

	path->path.parallel_workers = rows->parallel_workers;
	path->path.startup_cost = rows->startup_cost;
	mgpu_take_disabled_nodes(&path->path, rows);
	return path;
}

static Path *
gather(const group_task *task, CustomPath *path, double num_packs)
{
	return (Path *) create_gather_path(task->root, path->path.parent, &path->path, path->path.pathtarget, NULL, &num_packs);
}

/* A Gather path of packs of rows. */
static Path *
make_packs(const group_task *task, Path *rows, double num_rows)
{
	double		pack_rows = rows_of_pack(task->record_bytes);
	CustomPath *path = make_pack_path(task, rows, group_rows_query(task), NIL);

	path->path.rows = ceil(rows->rows / pack_rows);
	path->path.total_cost = rows->total_cost +
		rows->rows * cpu_operator_cost * PACK_COST * list_length(rows->pathtarget->exprs);
	return gather(task, path, ceil(num_rows / pack_rows));
}

/* A Gather path of packs of groups; each worker may have them all, num_groups. */
static Path *
make_group_packs(const group_task *task, Path *rows, double num_groups)
{
	double		pack_rows = rows_of_pack(task->record_bytes + task->num_states * GROUP_STATE_BYTES);
	CustomPath *path = make_pack_path(task, rows, group_query(task, false, GROUP_PARTIAL), task->outputs);

	path->path.rows = ceil(num_groups / pack_rows);
	path->path.startup_cost = path->path.total_cost = rows->total_cost + rows->rows * group_row_cost(task, true);
	return gather(task, path, path->path.rows * (rows->parallel_workers + 1));
}

/* ---- offering it */

void
group_offer_favour(Path *path)
{
	if (mgpu_setting_enable_group != MGPU_ENABLE_FORCE)
		return;
	path->startup_cost /= 1e6;
	path->total_cost /= 1e6;
}

static void
add_cost(Path *path, Cost cost)
{
	path->startup_cost += cost;
	path->total_cost += cost;
}

/* child returns num_rows rows, singly or in packs; rows is where they come from.  task.executor: who is expected to read them. */
static void
add_group_path(group_offer *offer, Path *child, const Path *rows, double num_rows, group_method method)
{
	group_task *task = &offer->task;
	query	   *query = group_query(task, child != rows, method);
	CustomPath *path = custom_plan_path(&(node_path) {
		.query = query,
		.entries = task->outputs,
		.quals = task->having,
		.rel = offer->output_rel,
		.target = offer->target,
		.child = child,
		/* as Agg: a worker that needs all groups, below a join for instance, computes them all */
		.parallel_safe = offer->output_rel->consider_parallel && child->parallel_safe
	});

	query->by_job = child == rows && task->executor != TABLE_BY_NOBODY;
	group_path_cost(task, &path->path, child, num_rows, offer->num_groups, offer->folds);
	group_path_save(task, &path->path, rows, offer->uncounted);
	/* an MgpuScan has what they take */
	if (child == rows && task->executor == TABLE_BY_NOBODY && !scan_path_is_found(rows))
		add_cost(&path->path, slow_functions_cost(task->root, rows, task->columns));
	group_offer_favour(&path->path);
	offer->paths = lappend(offer->paths, path);
}

/* Offer what workers can do: fold rows if that makes them few, else pack them. */
static void
add_parallel_path(group_offer *offer)
{
	const group_task *task = &offer->task;
	Path	   *rows;
	double		num_parts;

	if (offer->input_rel->partial_pathlist == NIL || task->columns == NIL)
		return;
	rows = scan_path(task->root, scan_cheapest_path(task->root, offer->input_rel->partial_pathlist, task->columns), task->columns);
	if (!rows->parallel_safe)
		return;
	offer->task.executor = TABLE_BY_NOBODY;
	num_parts = offer->num_groups * (rows->parallel_workers + 1);
	/* a worker that has no memory for all groups sends some of them several times */
	if (offer->folds && task->combines && num_parts * PARTS_GAIN <= offer->num_rows && group_path_groups_fit(task, offer->num_groups))
		add_group_path(offer, make_group_packs(task, rows, offer->num_groups), rows, num_parts, GROUP_COMBINE);
	else
		add_group_path(offer, make_packs(task, rows, offer->num_rows), rows, offer->num_rows,
					   offer->folds ? GROUP_FOLD : GROUP_SORT);
}

Path *
group_offer_cheapest(const List *paths)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, paths)
		if (cheapest == NULL || ((const Path *) lfirst(cell))->total_cost < cheapest->total_cost)
			cheapest = lfirst(cell);
	return cheapest;
}

/* Whether a group of average size fits in memory, as it has to. */
static bool
groups_fit(const group_offer *offer)
{
	return offer->folds || mgpu_setting_enable_group == MGPU_ENABLE_FORCE ||
		offer->num_rows / offer->num_groups * group_row_bytes(&offer->task) <= get_hash_memory_limit();
}

const char *
group_offer_make(group_offer *offer)
{
	RelOptInfo *input_rel = offer->input_rel;
	group_task *task = &offer->task;
	group_method method;
	job_wish	wish = {.columns = task->columns,.outputs = task->outputs};

	offer->num_rows = input_rel->cheapest_total_path->rows;
	offer->num_groups = group_count(task->root, task->keys, offer->num_rows);
	offer->folds = group_path_folds(task, offer->num_rows, offer->num_groups);
	offer->uncounted = group_path_uncounted(task, group_offer_cheapest(offer->output_rel->pathlist), offer->num_groups);
	method = offer->folds ? GROUP_FOLD : GROUP_SORT;
	group_values_plan(task, offer->num_rows);
	wish.query = group_query(task, false, method);
	wish.num_results = offer->num_groups;
	offer->rows = job_rows(task->root, scan_cheapest_path(task->root, input_rel->pathlist, task->columns), &wish, &task->executor);
	offer->executor = task->executor;
	add_group_path(offer, offer->rows, offer->rows, offer->num_rows, method);
	/* a GPU's rows are in its own memory */
	if (task->executor == TABLE_BY_NOBODY && !groups_fit(offer))
		return "one group is expected to need more memory than work_mem times hash_mem_multiplier";
	add_parallel_path(offer);
	return NULL;
}

const char *
group_offer_add(RelOptInfo *rel, List *paths, bool by_job)
{
	ListCell   *cell;

	if (by_job)
		scan_offer_withdraw(rel);

	/* those that are not kept are freed */
	foreach(cell, paths)
		add_path(rel, lfirst(cell));
	return list_member_ptr(paths, group_offer_cheapest(rel->pathlist)) ? NULL : "PostgreSQL's own plan is expected to be faster";
}
