/*
 * paths.c
 *		Offers MgpuGroup nodes (group_node.c) to the planner.
 *
 * A GROUP BY that the node supports gets paths beside those of PostgreSQL's Agg node,
 * and the cheapest path wins.  A GROUP BY gets no path if the node cannot run it or
 * might give another result than Agg.  There are two paths: over all rows and, if the
 * input has partial paths, over a Gather of MgpuRows nodes (rows_node.c).
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
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "plan/group.h"
#include "settings.h"

/*
 * Costs of a row in units of cpu_operator_cost.  PostgreSQL counts one unit for finding
 * a row's group under Agg.  In fact that takes ten times as long with a thousand groups
 * and fifty times as long with a hundred thousand.  The cost of finding groups in this
 * node is set equally low, so that plans compare as they run.
 */
#define AGG_COST 4.0			/* a transition under Agg, without finding the group */
#define RANK_COST 0.5			/* finding a row's group */
#define VALUE_COST 1.0			/* moving a value to its group and sorting it */
#define PACK_COST 0.25			/* packing and unpacking a column */

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

/* ---- can it be done? */

/* What the node computes. */
typedef struct group_task
{
	Expr	   *key;
	List	   *aggrefs;		/* each once */
	List	   *arguments;		/* expressions, each once */
	List	   *columns;		/* for each aggregate the number of its argument's column; the key's is 0 */
	Size		record_bytes;
	Size		widest;			/* column */
} group_task;

/*
 * Whether an expression has parts that the child cannot compute: subqueries, for
 * instance.  Fields of records count as such, because EXPLAIN would search a plan for
 * their names in vain.
 */
static bool
has_special_parts(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, FieldSelect) ||
		IsA(node, GroupingFunc) || IsA(node, WindowFunc))
		return true;
	return expression_tree_walker(node, has_special_parts, context);
}

static bool
is_simple(Expr *expr)
{
	return !has_special_parts((Node *) expr, NULL) && !contain_volatile_functions((Node *) expr) &&
		!expression_returns_set((Node *) expr);
}

/* Add a column of the child.  False: its width is not fixed, or its type has no order. */
static bool
take_column(group_task *task, Oid type_id, element_type *type)
{
	element_type_fill(type, type_id);
	if (type->typlen <= 0 || !OidIsValid(type->lt_operator) || !OidIsValid(type->gt_operator))
		return false;
	task->record_bytes += type->stride + sizeof(bool);
	task->widest = Max(task->widest, type->stride);
	return true;
}

static bool
take_key(group_task *task, PlannerInfo *root)
{
	SortGroupClause *clause = linitial(mgpu_group_clause(root));
	element_type type;

	task->key = (Expr *) get_sortgroupclause_expr(clause, root->processed_tlist);
	return is_simple(task->key) && take_column(task, exprType((Node *) task->key), &type) &&
		group_key_is_sortable(&type) &&
		lookup_type_cache(type.type_id, TYPECACHE_EQ_OPR)->eq_opr == clause->eqop;
}

static bool
has_constant_order(const Aggref *aggref, agg_kind kind)
{
	for (int i = agg_kind_args(kind); i < list_length(aggref->aggargtypes); i++)
	{
		const Expr *expr = agg_argument(aggref, i);

		/* a NULL order is an error, which the transition function raises */
		if (!IsA(expr, Const) || (kind == AGG_SORT && ((const Const *) expr)->constisnull))
			return false;
	}
	return true;
}

static int
find_argument(List *arguments, Expr *argument)
{
	ListCell   *cell;

	foreach(cell, arguments)
		if (equal(lfirst(cell), argument))
			return foreach_current_index(cell);
	return -1;
}

static bool
take_aggregate(group_task *task, Aggref *aggref)
{
	element_type type;
	Expr	   *argument;
	agg_kind	kind;
	int			column;

	if (list_member(task->aggrefs, aggref))
		return true;
	if (aggref->aggsplit != AGGSPLIT_SIMPLE || aggref->agglevelsup > 0 || aggref->aggfilter ||
		aggref->aggdistinct != NIL || aggref->aggorder != NIL || aggref->aggdirectargs != NIL ||
		!group_aggregate_kind(aggref, &kind) || !has_constant_order(aggref, kind))
		return false;
	argument = (Expr *) agg_argument(aggref, 0);
	column = find_argument(task->arguments, argument);
	if (column < 0)
	{
		if (!is_simple(argument) || !take_column(task, linitial_oid(aggref->aggargtypes), &type))
			return false;
		column = list_length(task->arguments);
		task->arguments = lappend(task->arguments, argument);
	}
	task->aggrefs = lappend(task->aggrefs, aggref);
	task->columns = lappend_int(task->columns, column + 1);
	return true;
}

/* Collect aggregates.  True: the expression has other parts than aggregates and the key. */
static bool
is_unfit(Node *node, group_task *task)
{
	if (node == NULL || equal(node, task->key))
		return false;
	if (IsA(node, Aggref))
		return !take_aggregate(task, (Aggref *) node);
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || has_special_parts(node, NULL))
		return true;
	return expression_tree_walker(node, is_unfit, task);
}

static bool
make_task(PlannerInfo *root, RelOptInfo *grouped_rel, group_task *task)
{
	const Query *parse = root->parse;

	memset(task, 0, sizeof(*task));
	return parse->hasAggs && !parse->hasTargetSRFs && parse->groupingSets == NIL &&
		grouped_rel->reloptkind == RELOPT_UPPER_REL &&
		list_length(mgpu_group_clause(root)) == 1 && take_key(task, root) &&
		!is_unfit((Node *) grouped_rel->reltarget->exprs, task) && !is_unfit(parse->havingQual, task) &&
		task->aggrefs != NIL;
}

/* ---- what it costs */

/* The cost of writing rows to files and reading them once. */
static Cost
spill_cost(double num_rows, const group_task *task)
{
	double		pages = ceil(num_rows * task->record_bytes / BLCKSZ);

	if (num_rows * most_bytes_of_row(task->record_bytes, task->widest) <= get_hash_memory_limit())
		return 0;
	return pages * (random_page_cost + seq_page_cost) + 2 * cpu_tuple_cost * num_rows;
}

/* Set costs and rows of path.  child returns num_rows rows, singly or in packs. */
static void
cost_path(PlannerInfo *root, const group_task *task, Path *path, const Path *child, double num_rows)
{
	double		num_groups = estimate_num_groups(root, list_make1(task->key), num_rows, NULL, NULL);
	List	   *having = (List *) root->parse->havingQual;
	const QualCost *target_cost = &path->pathtarget->cost;
	AggClauseCosts costs;

	memset(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	path->startup_cost = child->total_cost + costs.finalCost.startup +
		num_rows * cpu_operator_cost * (VALUE_COST * list_length(task->arguments) + RANK_COST) +
		spill_cost(num_rows, task);
	path->total_cost = path->startup_cost + num_groups * (costs.finalCost.per_tuple + cpu_tuple_cost);
	path->rows = num_groups;
	if (having)
	{
		QualCost	having_cost;

		cost_qual_eval(&having_cost, having, root);
		path->startup_cost += having_cost.startup;
		path->total_cost += having_cost.startup + num_groups * having_cost.per_tuple;
		path->rows = clamp_row_est(num_groups * clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
	}
	path->startup_cost += target_cost->startup;
	path->total_cost += target_cost->startup + path->rows * target_cost->per_tuple;
	mgpu_take_disabled_nodes(path, child);
}

/* ---- the path and its plan */

/* The columns of the child's rows: the key, then the arguments. */
static List *
columns_of(const group_task *task)
{
	return lcons(task->key, list_copy(task->arguments));
}

/* A path that projects source to these columns. */
static Path *
make_rows(PlannerInfo *root, RelOptInfo *input_rel, Path *source, const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *cell;

	foreach(cell, columns_of(task))
		add_column_to_pathtarget(target, lfirst(cell), 0);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, input_rel, source, target);
}

static PathTarget *
make_pack_target(const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	RowExpr    *row = makeNode(RowExpr);

	row->args = columns_of(task);
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
make_packs(PlannerInfo *root, RelOptInfo *input_rel, const group_task *task)
{
	CustomPath *path;
	Path	   *rows;
	double		pack_rows = rows_of_pack(task->record_bytes);
	double		num_packs = ceil(input_rel->cheapest_total_path->rows / pack_rows);

	if (input_rel->partial_pathlist == NIL)
		return NULL;
	rows = make_rows(root, input_rel, linitial(input_rel->partial_pathlist), task);
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
	return (Path *) create_gather_path(root, input_rel, &path->path, path->path.pathtarget, NULL, &num_packs);
}

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *sources = linitial(path->custom_private);
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, sources)
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst(cell)),
														  list_length(scan->custom_scan_tlist) + 1, NULL, false));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = copyObject((List *) root->parse->havingQual);
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	foreach(cell, lthird(path->custom_private))
		types = lappend_oid(types, exprType(lfirst(cell)));
	scan->custom_private = list_make2(lsecond(path->custom_private), types);
	scan->methods = &group_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "MgpuGroup",
	.PlanCustomPath = make_plan
};

/* child returns num_rows rows, singly or, if packed, in packs. */
static void
add_group_path(PlannerInfo *root, RelOptInfo *grouped_rel, const group_task *task, Path *child, double num_rows,
			   bool packed)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = grouped_rel;
	path->path.pathtarget = grouped_rel->reltarget;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->custom_private = list_make3(lcons(task->key, list_copy(task->aggrefs)), task->columns,
									  packed ? columns_of(task) : NIL);
	path->methods = &path_methods;
	cost_path(root, task, &path->path, child, num_rows);
	if (mgpu_setting_enable_group == MGPU_ENABLE_FORCE)
		path->path.startup_cost = path->path.total_cost = 0;
	add_path(grouped_rel, &path->path);
}

static void
add_group_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	double		num_rows = input_rel->cheapest_total_path->rows;
	Path	   *packs;
	group_task	task;

	if (!make_task(root, grouped_rel, &task))
		return;
	add_group_path(root, grouped_rel, &task,
				   make_rows(root, input_rel, input_rel->cheapest_total_path, &task), num_rows, false);
	packs = make_packs(root, input_rel, &task);
	if (packs)
		add_group_path(root, grouped_rel, &task, packs, num_rows, true);
}

static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_hook)
		previous_hook(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_GROUP_AGG && mgpu_setting_enable_group != MGPU_ENABLE_OFF)
		add_group_paths(root, input_rel, output_rel);
}

void
group_path_init(void)
{
	RegisterCustomScanMethods(&group_scan_methods);
	RegisterCustomScanMethods(&rows_scan_methods);
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
}
