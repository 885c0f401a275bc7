/*
 * paths.c
 *		Offers MgpuGroup nodes (group_node.c) to the planner.
 *
 * A GROUP BY or DISTINCT that the node supports (task.c) gets paths beside those of
 * PostgreSQL's Agg node, and the cheapest path wins.  There are two paths: over all rows and,
 * if the input has partial paths, over a Gather of MgpuRows nodes (rows_node.c).
 *
 * The planner needs a target list for MgpuRows and matches it to the child's columns by
 * expression.  The target is record_send(ROW(columns)), which is only a name for the
 * bytes of packed rows.  No executor evaluates it.
 *
 * The hook must be set before the first query is planned, but nothing else need load
 * the library by then.  The planner asks for the cost of each transition function, and
 * the extension's transition functions have a support function in this library.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "core/sizes.h"
#include "plan/declined.h"
#include "plan/group.h"
#include "plan/row_source.h"
#include "plan/task.h"
#include "settings.h"

/*
 * Costs of a row in units of cpu_operator_cost.  PostgreSQL counts one unit for finding
 * a row's group under Agg.  In fact that takes ten times as long with a thousand groups
 * and fifty times as long with a hundred thousand.  The cost of finding groups in this
 * node is set equally low, so that plans compare as they run.
 */
#define AGG_COST 4.0			/* a transition under Agg, without finding the group */
#define RANK_COST 0.5			/* finding a row's group */
#define COLUMN_COST 0.1			/* keeping a value */
#define PACK_COST 0.25			/* packing and unpacking a column */
#define FOLD_COST 0.15			/* finding a row's group where rows are folded */

/* With more groups than these, sorting the rows is faster than finding each one's group. */
#define FOLD_MOST_GROUPS MGPU_SIZE(1e6, 50)

/* The node's start, as much as 100 us take elsewhere, whatever the number of rows. */
#define START_COST 20.0

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

/* ---- what it costs */

static Size
bytes_of_row(const group_task *task)
{
	return most_bytes_of_row(task->record_bytes, task->beside_bytes);
}

/* The cost of writing rows to files and reading them once, if so many have to be kept. */
static Cost
spill_cost(double num_rows, double kept_rows, const group_task *task)
{
	double		pages = ceil(num_rows * task->record_bytes / BLCKSZ);

	if (kept_rows * bytes_of_row(task) <= get_hash_memory_limit())
		return 0;
	return pages * (random_page_cost + seq_page_cost) + 2 * cpu_tuple_cost * num_rows;
}

static void
add_having_cost(PlannerInfo *root, Path *path, List *having)
{
	QualCost	cost;

	cost_qual_eval(&cost, having, root);
	path->startup_cost += cost.startup;
	path->total_cost += cost.startup + path->rows * cost.per_tuple;
	path->rows = clamp_row_est(path->rows * clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
}

/* Whether rows are to be folded as they come. */
static bool
folds(const group_task *task, double num_groups)
{
	return task->folds && num_groups <= FOLD_MOST_GROUPS;
}

/* Set costs and rows of path.  child returns num_rows rows, singly or in packs, in num_groups groups. */
static void
cost_path(const group_task *task, Path *path, const Path *child, double num_rows, double num_groups)
{
	const QualCost *target_cost = &path->pathtarget->cost;
	bool		fold = folds(task, num_groups);
	double		operators = (task->keys == NIL ? 0 : fold ? FOLD_COST : RANK_COST) +
		COLUMN_COST * list_length(task->columns) + task->operators;

	path->startup_cost = child->total_cost + START_COST + num_rows * cpu_operator_cost * operators +
		spill_cost(num_rows, fold ? num_groups : num_rows, task);
	path->total_cost = path->startup_cost +
		num_groups * (cpu_tuple_cost + cpu_operator_cost * list_length(task->outputs));
	path->rows = num_groups;
	if (task->having)
		add_having_cost(task->root, path, task->having);
	path->startup_cost += target_cost->startup;
	path->total_cost += target_cost->startup + path->rows * target_cost->per_tuple;
	mgpu_take_disabled_nodes(path, child);
	if (mgpu_setting_enable_group == MGPU_ENABLE_FORCE)
		path->startup_cost = path->total_cost = 0;
}

/* ---- the path and its plan */

/* A path that projects source to the task's columns. */
static Path *
make_rows(RelOptInfo *input_rel, Path *source, const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	Cost		saved = row_source_saved_cost(task->root, source, task->columns);
	Path	   *path;
	ListCell   *cell;

	foreach(cell, task->columns)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	set_pathtarget_cost_width(task->root, target);
	path = (Path *) create_projection_path(task->root, input_rel, source, target);
	path->total_cost -= saved;
	return path;
}

/* The path whose rows cost the node least. */
static Path *
cheapest_input(const group_task *task, List *paths)
{
	Path	   *cheapest = NULL;
	Cost		least = 0;
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *path = lfirst(cell);
		Cost		cost = path->total_cost - row_source_saved_cost(task->root, path, task->columns);

		if (path->param_info || (cheapest && cost >= least))
			continue;
		cheapest = path;
		least = cost;
	}
	return cheapest;
}

static PathTarget *
make_pack_target(const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	RowExpr    *row = makeNode(RowExpr);

	row->args = list_copy(task->columns);
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	add_column_to_pathtarget(target, (Expr *) makeFuncExpr(F_RECORD_SEND, BYTEAOID, list_make1(row), InvalidOid,
														   InvalidOid, COERCE_EXPLICIT_CALL), 0);
	target->width = PACK_BYTES;
	return target;
}

static Plan *
make_pack_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->custom_scan_tlist = copyObject(tlist);
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->methods = &rows_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods pack_path_methods = {
	.CustomName = "MgpuRows",
	.PlanCustomPath = make_pack_plan
};

/* A Gather path of packs of the same rows; NULL if there is no such path. */
static Path *
make_packs(RelOptInfo *input_rel, const group_task *task)
{
	CustomPath *path;
	Path	   *rows;
	double		pack_rows = rows_of_pack(task->record_bytes);
	double		num_packs = ceil(input_rel->cheapest_total_path->rows / pack_rows);

	if (input_rel->partial_pathlist == NIL || task->columns == NIL)
		return NULL;
	rows = make_rows(input_rel, cheapest_input(task, input_rel->partial_pathlist), task);
	if (!rows->parallel_safe)
		return NULL;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = input_rel;
	path->path.pathtarget = make_pack_target(task);
	path->path.parallel_safe = true;
	path->path.parallel_workers = rows->parallel_workers;
	path->path.rows = ceil(rows->rows / pack_rows);
	path->path.startup_cost = rows->startup_cost;
	path->path.total_cost = rows->total_cost +
		rows->rows * cpu_operator_cost * PACK_COST * list_length(rows->pathtarget->exprs);
	mgpu_take_disabled_nodes(&path->path, rows);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(rows);
	path->methods = &pack_path_methods;
	return (Path *) create_gather_path(task->root, input_rel, &path->path, path->path.pathtarget, NULL, &num_packs);
}

/* What make_plan needs: lists of outputs, uses, equality operators, packed columns or NIL, HAVING, whether rows fold. */
static List *
private_of(const group_task *task, bool packed, bool fold)
{
	return lappend(list_make5(task->outputs, task->uses, task->equalities, packed ? task->columns : NIL, task->having),
				   list_make1_int(fold));
}

static List *
types_of(List *exprs)
{
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, exprs)
		types = lappend_oid(types, exprType(lfirst(cell)));
	return types;
}

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *outputs = linitial(path->custom_private);
	List	   *equalities = lthird(path->custom_private);
	List	   *collations = NIL;
	ListCell   *cell;

	foreach(cell, outputs)
	{
		int			number = foreach_current_index(cell) + 1;

		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst(cell)), number, NULL, false));
		if (number <= list_length(equalities))
			collations = lappend_oid(collations, exprCollation(lfirst(cell)));
	}
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = copyObject((List *) list_nth(path->custom_private, 4));
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_make5(lsecond(path->custom_private), equalities, collations,
									  types_of(lfourth(path->custom_private)), llast(path->custom_private));
	scan->methods = &group_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "MgpuGroup",
	.PlanCustomPath = make_plan
};

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
} group_offer;

/* child returns the rows, singly or, if packed, in packs. */
static void
add_group_path(const group_offer *offer, Path *child, bool packed)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = offer->output_rel;
	path->path.pathtarget = offer->target;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = private_of(&offer->task, packed, folds(&offer->task, offer->num_groups));
	path->methods = &path_methods;
	cost_path(&offer->task, &path->path, child, offer->num_rows, offer->num_groups);
	add_path(offer->output_rel, &path->path);
}

/* Whether another path is cheaper, or a path of ours was not even kept. */
static bool
is_beaten(const RelOptInfo *rel)
{
	const Path *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
		if (cheapest == NULL || ((const Path *) lfirst(cell))->total_cost < cheapest->total_cost)
			cheapest = lfirst(cell);
	return !IsA(cheapest, CustomPath) || ((const CustomPath *) cheapest)->methods != &path_methods;
}

/* Whether a group of average size fits in memory, as it has to. */
static bool
groups_fit(const group_offer *offer)
{
	return folds(&offer->task, offer->num_groups) || mgpu_setting_enable_group == MGPU_ENABLE_FORCE ||
		offer->num_rows / offer->num_groups * bytes_of_row(&offer->task) <= get_hash_memory_limit();
}

/* Returns why the node is not taken, NULL if it is the cheapest so far. */
static const char *
add_group_paths(group_offer *offer)
{
	RelOptInfo *input_rel = offer->input_rel;
	const group_task *task = &offer->task;
	Path	   *packs;

	offer->num_rows = input_rel->cheapest_total_path->rows;
	offer->num_groups = task->keys ? estimate_num_groups(task->root, task->keys, offer->num_rows, NULL, NULL) : 1;
	if (!groups_fit(offer))
		return "one group is expected to need more memory than work_mem times hash_mem_multiplier";
	add_group_path(offer, make_rows(input_rel, cheapest_input(task, input_rel->pathlist), task), false);
	packs = make_packs(input_rel, task);
	if (packs)
		add_group_path(offer, packs, true);
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
		report_offer(root, offer_node(root, stage, input_rel, output_rel));
}

void
group_path_init(void)
{
	RegisterCustomScanMethods(&group_scan_methods);
	RegisterCustomScanMethods(&rows_scan_methods);
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
	declined_init();
}
