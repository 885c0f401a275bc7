/*
 * group_paths.c
 *		Offers MgpuGroup nodes (group_node.c) to the planner.
 *
 * A GROUP BY or DISTINCT that the node supports (group_task.c) gets paths beside those of
 * PostgreSQL's Agg node, and the cheapest path wins.  There are two paths: over all rows and,
 * if the input has partial paths, over a Gather of nodes that pack rows (rows_node.c) or groups
 * (group_partial.c).
 *
 * The hook must be set before a query is planned.  For the extension's own aggregates nothing else need
 * load the library by then: the planner asks for the cost of each transition function, and those
 * have a support function in this library.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/wire.h"
#include "core/sizes.h"
#include "declined.h"
#include "query/aggregate_ways.h"
#include "query/custom_plan.h"
#include "query/group_cost.h"
#include "query/group_query.h"
#include "query/group_task.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "settings.h"

#define AGG_COST 4.0			/* a transition under Agg, without finding the group, in units of cpu_operator_cost */
#define PACK_COST 0.25			/* packing and unpacking a column, in the same units */

/* Workers fold rows if that makes of so many rows one group that the leader has to combine. */
#define PARTS_GAIN 4

PG_FUNCTION_INFO_V1(mgpu_agg_support);

static create_upper_paths_hook_type previous_hook;

/*
 * mgpu_agg_support(request internal) → internal: support function of the transition
 * functions.  It estimates the cost of a row under PostgreSQL's Agg node.  The call
 * also loads the library.
 */
Datum
mgpu_agg_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestCost *costs = (SupportRequestCost *) request;

	if (!IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(NULL);
	costs->startup = 0;
	costs->per_tuple = AGG_COST * cpu_operator_cost;
	PG_RETURN_POINTER(costs);
}

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

/* What a path is added to, and for what. */
typedef struct group_offer
{
	group_task	task;
	RelOptInfo *input_rel;
	RelOptInfo *output_rel;
	PathTarget *target;
	double		num_rows;
	double		num_groups;
	bool		folds;			/* rows are to be folded as they come */
	Cost		uncounted;		/* by PostgreSQL's own plan */
} group_offer;

/* child returns num_rows rows, singly or in packs; rows is where they come from. */
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

	task->on_device = table_job_is_likely(task->root, child, query, task->outputs);
	group_path_cost(task, &path->path, child, num_rows, offer->num_groups, offer->folds);
	group_path_save(task, &path->path, rows, offer->uncounted);
	/* below any other plan's; of several of the node's, the cheapest is taken all the same */
	if (mgpu_setting_enable_group == MGPU_ENABLE_FORCE)
	{
		path->path.startup_cost /= 1e6;
		path->path.total_cost /= 1e6;
	}
	add_path(offer->output_rel, &path->path);
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
	num_parts = offer->num_groups * (rows->parallel_workers + 1);
	/* a worker that has no memory for all groups sends some of them several times */
	if (offer->folds && num_parts * PARTS_GAIN <= offer->num_rows && group_path_groups_fit(task, offer->num_groups))
		add_group_path(offer, make_group_packs(task, rows, offer->num_groups), rows, num_parts, GROUP_COMBINE);
	else
		add_group_path(offer, make_packs(task, rows, offer->num_rows), rows, offer->num_rows,
					   offer->folds ? GROUP_FOLD : GROUP_SORT);
}

static Path *
cheapest_of(const RelOptInfo *rel)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
		if (cheapest == NULL || ((const Path *) lfirst(cell))->total_cost < cheapest->total_cost)
			cheapest = lfirst(cell);
	return cheapest;
}

/* Whether another path is cheaper, or a path of ours was not even kept. */
static bool
is_beaten(const RelOptInfo *rel)
{
	const query *cheapest = custom_plan_query(cheapest_of(rel));

	return cheapest == NULL || cheapest->kind != QUERY_GROUP;
}

/* Whether a group of average size fits in memory, as it has to. */
static bool
groups_fit(const group_offer *offer)
{
	return offer->folds || mgpu_setting_enable_group == MGPU_ENABLE_FORCE ||
		offer->num_rows / offer->num_groups * group_row_bytes(&offer->task) <= get_hash_memory_limit();
}

/* Returns why the node is not taken, NULL if it is the cheapest so far. */
static const char *
add_group_paths(group_offer *offer)
{
	RelOptInfo *input_rel = offer->input_rel;
	const group_task *task = &offer->task;
	Path	   *rows;

	offer->num_rows = input_rel->cheapest_total_path->rows;
	offer->num_groups = task->keys ? estimate_num_groups(task->root, task->keys, offer->num_rows, NULL, NULL) : 1;
	offer->folds = group_path_folds(task, offer->num_rows, offer->num_groups);
	offer->uncounted = group_path_uncounted(task, cheapest_of(offer->output_rel), offer->num_groups);
	if (!groups_fit(offer))
		return "one group is expected to need more memory than work_mem times hash_mem_multiplier";
	rows = scan_path(task->root, scan_cheapest_path(task->root, input_rel->pathlist, task->columns), task->columns);
	add_group_path(offer, rows, rows, offer->num_rows, offer->folds ? GROUP_FOLD : GROUP_SORT);
	add_parallel_path(offer);
	return is_beaten(offer->output_rel) ? "PostgreSQL's own plan is expected to be faster" : NULL;
}

/* The same for a stage of planning, that of GROUP BY or that of DISTINCT. */
static const char *
offer_node(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	group_offer offer = {.input_rel = input_rel, .output_rel = output_rel};
	bool		can_do;

	if (mgpu_setting_enable_group == MGPU_ENABLE_OFF)
		return "mgpu.enable_group is off";
	if (stage == UPPERREL_GROUP_AGG)
	{
		offer.target = output_rel->reltarget;
		can_do = group_task_of_grouping(&offer.task, root, offer.target);
	}
	else
	{
		offer.target = input_rel->cheapest_total_path->pathtarget;
		can_do = group_task_of_distinct(&offer.task, root, offer.target);
	}
	return can_do ? add_group_paths(&offer) : offer.task.why_not;
}

static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_hook)
		previous_hook(root, stage, input_rel, output_rel, extra);
	if (output_rel->reloptkind == RELOPT_UPPER_REL && (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT))
		report_offer(root, DECLINED_GROUP, offer_node(root, stage, input_rel, output_rel));
}

void
group_path_init(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
	declined_init();
}
