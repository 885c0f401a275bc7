/*
 * window_paths.c
 *		Offers MgpuWindow nodes (window_node.c) to the planner.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "plan/custom_plan.h"
#include "plan/costs.h"
#include "settings.h"
#include "sorted/window.h"

/* Computing a function of a row, in units of cpu_operator_cost. */
#define FUNCTION_COST 0.5

/* What a WindowAgg over an MgpuSort asks the node to do. */
typedef struct window_task
{
	const char *why_not;		/* a clause, once the node cannot do it */
	const WindowClause *window;
	List	   *columns;		/* expressions: those of the sort */
	List	   *functions;		/* WindowFuncs, each once */
	List	   *kinds;			/* these and the next: see window.h */
	List	   *arguments;
	List	   *offsets;
	List	   *defaults;
} window_task;

static bool
give_up(window_task *task, const char *why_not)
{
	task->why_not = why_not;
	return false;
}

/* ---- functions */

/* The function's kind.  False: it is not one of ours. */
static bool
kind_of(const WindowFunc *function, window_kind *kind)
{
	static const struct
	{
		Oid			function;
		window_kind kind;
	}			kinds[] = {
		{F_ROW_NUMBER, WINDOW_ROW_NUMBER}, {F_RANK_, WINDOW_RANK}, {F_DENSE_RANK_, WINDOW_DENSE_RANK},
		{F_LAG_ANYELEMENT, WINDOW_OTHER_ROW}, {F_LAG_ANYELEMENT_INT4, WINDOW_OTHER_ROW},
		{F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, WINDOW_OTHER_ROW},
		{F_LEAD_ANYELEMENT, WINDOW_OTHER_ROW}, {F_LEAD_ANYELEMENT_INT4, WINDOW_OTHER_ROW},
		{F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, WINDOW_OTHER_ROW},
		{F_FIRST_VALUE, WINDOW_FIRST_VALUE}, {F_LAST_VALUE, WINDOW_LAST_VALUE},
		{F_COUNT_, WINDOW_COUNT}, {F_COUNT_ANY, WINDOW_COUNT},
		{F_SUM_INT2, WINDOW_SUM_INT2}, {F_SUM_INT4, WINDOW_SUM_INT4},
		{F_SUM_FLOAT4, WINDOW_SUM_FLOAT4}, {F_SUM_FLOAT8, WINDOW_SUM_FLOAT8}
	};

	for (int i = 0; i < (int) lengthof(kinds); i++)
		if (kinds[i].function == function->winfnoid)
		{
			*kind = kinds[i].kind;
			return true;
		}
	return false;
}

static bool
is_lag(const WindowFunc *function)
{
	return function->winfnoid == F_LAG_ANYELEMENT || function->winfnoid == F_LAG_ANYELEMENT_INT4 ||
		function->winfnoid == F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE;
}

/* The rows between a row and the one that lag or lead asks for, and what stands for a value where there is none. */
static bool
take_offset(window_task *task, const WindowFunc *function)
{
	const Const *offset = list_length(function->args) > 1 ? lsecond(function->args) : NULL;
	Const	   *otherwise = list_length(function->args) > 2 ? lthird(function->args) : NULL;
	int64		rows = 1;

	if ((offset && (!IsA(offset, Const) || offset->constisnull)) || (otherwise && !IsA(otherwise, Const)))
		return give_up(task, "an offset or a default of lag or lead is not constant");
	if (offset)
		rows = DatumGetInt32(offset->constvalue);
	if (is_lag(function))
		rows = -rows;
	if (rows != (int) rows)
		return give_up(task, "an offset of lag or lead is too large");
	task->offsets = lappend_int(task->offsets, (int) rows);
	task->defaults = lappend(task->defaults, otherwise);
	return true;
}

static int
column_of(const window_task *task, const Node *expr)
{
	ListCell   *cell;

	foreach(cell, task->columns)
		if (equal(lfirst(cell), expr))
			return foreach_current_index(cell);
	return -1;
}

static bool
take_function(window_task *task, WindowFunc *function)
{
	window_kind kind;
	int			column = -1;

	if (list_member(task->functions, function))
		return true;
	if (!kind_of(function, &kind) || function->aggfilter)
		return give_up(task, "a window function is none that the node computes, or has a FILTER");
	if (function->winref != task->window->winref)
		return give_up(task, "there are several windows");
	if (function->args)
	{
		column = column_of(task, linitial(function->args));
		if (column < 0)
			return give_up(task, "a window function's argument is not a column");
	}
	task->functions = lappend(task->functions, function);
	task->kinds = lappend_int(task->kinds, kind);
	task->arguments = lappend_int(task->arguments, column);
	if (kind == WINDOW_OTHER_ROW)
		return take_offset(task, function);
	task->offsets = lappend_int(task->offsets, 0);
	task->defaults = lappend(task->defaults, NULL);
	return true;
}

/* Takes all functions of an expression.  True: the node cannot compute it. */
static bool
is_unfit(Node *node, void *task)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc))
		return !take_function(task, (WindowFunc *) node);
	if (column_of(task, node) >= 0)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, FieldSelect))
		return !give_up(task, "the select list has a subquery or a record's field");
	return expression_tree_walker(node, is_unfit, task);
}

/* ---- the window */

static window_frame
frame_of(const WindowClause *window)
{
	if (window->frameOptions & FRAMEOPTION_END_UNBOUNDED_FOLLOWING)
		return WINDOW_PARTITION;
	return window->frameOptions & FRAMEOPTION_ROWS ? WINDOW_ROWS : WINDOW_PEERS;
}

static bool
has_simple_frame(const WindowClause *window)
{
	int			options = window->frameOptions;

	return (options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 && (options & FRAMEOPTION_EXCLUSION) == 0 &&
		(options & (FRAMEOPTION_END_CURRENT_ROW | FRAMEOPTION_END_UNBOUNDED_FOLLOWING)) != 0;
}

/* The custom_private of a node's plan, NIL if a key is no column. */
static List *
private_of(const window_task *task, const PlannerInfo *root)
{
	List	   *clauses = list_concat_copy(task->window->partitionClause, task->window->orderClause);
	List	   *columns = NIL;
	List	   *operators = NIL;
	List	   *collations = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		int			column = column_of(task, expr);

		if (column < 0)
			return NIL;
		columns = lappend_int(columns, column);
		operators = lappend_oid(operators, clause->sortop);
		collations = lappend_oid(collations, exprCollation(expr));
	}
	return list_concat(list_make4(columns, operators, collations,
								  list_make2_int(list_length(task->window->partitionClause), frame_of(task->window))),
					   list_make4(task->kinds, task->arguments, task->offsets, task->defaults));
}

static bool
take_window(window_task *task, const WindowAggPath *path)
{
	memset(task, 0, sizeof(*task));
	task->window = path->winclause;
	task->columns = lsecond(((const CustomPath *) path->subpath)->custom_private);
	if (mgpu_window_drops_rows(path))
		return give_up(task, "a condition on a window function stops it early");
	if (!has_simple_frame(path->winclause))
		return give_up(task, "a frame does not begin with the partition, or ends elsewhere than with it or the row");
	return !is_unfit((Node *) path->path.pathtarget->exprs, task);
}

/* ---- paths */

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	return custom_plan_of_path(path, tlist, custom_plans, &window_scan_methods);
}

static const CustomPathMethods path_methods = {
	.CustomName = "MgpuWindow",
	.PlanCustomPath = make_plan
};

static void
cost_path(const window_task *task, Path *path, const WindowAggPath *core)
{
	const QualCost *target_cost = &path->pathtarget->cost;

	path->rows = core->path.rows;
	path->startup_cost = core->subpath->startup_cost + target_cost->startup;
	path->total_cost = core->subpath->total_cost + target_cost->startup +
		path->rows * (FUNCTION_COST * cpu_operator_cost * list_length(task->functions) + target_cost->per_tuple);
	mgpu_take_disabled_nodes(path, core->subpath);
}

/* A relation's WindowAgg over an MgpuSort, or NULL. */
static const WindowAggPath *
window_over_sort(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const WindowAggPath *path = lfirst(cell);

		if (IsA(path, WindowAggPath) && sort_is_path(path->subpath))
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

const char *
window_offer(PlannerInfo *root, RelOptInfo *rel)
{
	const WindowAggPath *core = window_over_sort(rel);
	CustomPath *path;
	List	   *private;
	List	   *scan_tuple;
	window_task task;

	if (core == NULL)
		return "there are several windows";
	if (!take_window(&task, core))
		return task.why_not;
	if (!sort_path_fits(core->subpath) && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "the rows are expected to need more memory than work_mem times hash_mem_multiplier";
	private = private_of(&task, root);
	if (private == NIL)
		return "a key of the window is not among the columns";
	scan_tuple = list_concat_copy(task.columns, task.functions);
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = core->path.pathtarget;
	path->path.pathkeys = core->path.pathkeys;
	path->path.parallel_safe = core->path.parallel_safe;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(make_child(root, core, scan_tuple));
	path->custom_private = list_make2(private, scan_tuple);
	path->methods = &path_methods;
	cost_path(&task, &path->path, core);
	return sort_add_path(rel, &path->path);
}

void
window_path_init(void)
{
	RegisterCustomScanMethods(&window_scan_methods);
}
