/*
 * window_paths.c
 *		Offers MgpuWindow nodes (window_node.c) to the planner.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/offers.h"
#include "query/reductions.h"
#include "settings.h"

/* Computing a function of a row, in units of cpu_operator_cost. */
#define FUNCTION_COST 0.5

/* A frame of some rows is computed anew for each row. */
#define MOST_FRAME_ROWS 50

/* What a WindowAgg over an MgpuSort asks the node to do. */
typedef struct window_task
{
	const char *why_not;		/* a clause, once the node cannot do it */
	const WindowClause *window;
	List	   *columns;		/* expressions: those of the sort */
	List	   *functions;		/* WindowFuncs, each once */
	query	   *query;
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
		{F_FIRST_VALUE, WINDOW_FIRST_VALUE}, {F_LAST_VALUE, WINDOW_LAST_VALUE}
	};

	for (int i = 0; i < (int) lengthof(kinds); i++)
		if (kinds[i].function == function->winfnoid)
		{
			*kind = kinds[i].kind;
			return true;
		}
	*kind = WINDOW_AGGREGATE;
	return known_reduction_of(function->winfnoid) != NULL;
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
	task->query->offsets = lappend_int(task->query->offsets, (int) rows);
	task->query->defaults = lappend(task->query->defaults, otherwise);
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
	task->query->functions = lappend_int(task->query->functions, kind);
	task->query->aggregates = lappend_oid(task->query->aggregates, function->winfnoid);
	task->query->arguments = lappend_int(task->query->arguments, column);
	if (kind == WINDOW_OTHER_ROW)
		return take_offset(task, function);
	task->query->offsets = lappend_int(task->query->offsets, 0);
	task->query->defaults = lappend(task->query->defaults, NULL);
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

/* A constant number of rows that are few.  false: it is another. */
static bool
take_rows(const Node *offset, int *rows)
{
	const Const *constant = (const Const *) offset;
	int64		value;

	if (offset == NULL || !IsA(constant, Const) || constant->constisnull || constant->consttype != INT8OID)
		return false;
	value = DatumGetInt64(constant->constvalue);
	*rows = (int) value;
	return value >= 0 && value <= MOST_FRAME_ROWS;
}

/* Frames that begin with the partition, and those of some rows around the row.  false: it is another. */
static bool
take_frame(query *query, const WindowClause *window)
{
	int			options = window->frameOptions;

	query->frame = frame_of(window);
	query->preceding = -1;
	if ((options & FRAMEOPTION_EXCLUSION) != 0)
		return false;
	if ((options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 &&
		(options & (FRAMEOPTION_END_CURRENT_ROW | FRAMEOPTION_END_UNBOUNDED_FOLLOWING)) != 0)
		return true;
	if ((options & FRAMEOPTION_ROWS) == 0)
		return false;
	query->preceding = 0;
	return ((options & FRAMEOPTION_START_CURRENT_ROW) != 0 ||
			((options & FRAMEOPTION_START_OFFSET_PRECEDING) != 0 && take_rows(window->startOffset, &query->preceding))) &&
		((options & FRAMEOPTION_END_CURRENT_ROW) != 0 ||
		 ((options & FRAMEOPTION_END_OFFSET_FOLLOWING) != 0 && take_rows(window->endOffset, &query->following)));
}

/* False: a key is no column. */
static bool
take_keys(window_task *task, const PlannerInfo *root)
{
	List	   *clauses = list_concat_copy(task->window->partitionClause, task->window->orderClause);
	query	   *query = task->query;
	ListCell   *cell;

	query->num_partition_keys = list_length(task->window->partitionClause);
	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		int			column = column_of(task, expr);

		if (column < 0)
			return give_up(task, "a key of the window is not among the columns");
		query->order_columns = lappend_int(query->order_columns, column);
		query->order_operators = lappend_oid(query->order_operators, clause->sortop);
		query->order_collations = lappend_oid(query->order_collations, exprCollation(expr));
	}
	return true;
}

static bool
take_window(window_task *task, const PlannerInfo *root, const WindowAggPath *path)
{
	memset(task, 0, sizeof(*task));
	task->window = path->winclause;
	task->query = query_create(QUERY_WINDOW);
	task->columns = lsecond(((const CustomPath *) path->subpath)->custom_private);
	if (mgpu_window_drops_rows(path))
		return give_up(task, "a condition on a window function stops it early");
	if (!take_frame(task->query, path->winclause))
		return give_up(task, "a frame neither begins with the partition and ends with it or the row, nor has a few rows around the row");
	return !is_unfit((Node *) path->path.pathtarget->exprs, task) && take_keys(task, root);
}

/* ---- paths */

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

		const query *below = IsA(path, WindowAggPath) ? custom_plan_query(path->subpath) : NULL;

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

const char *
window_offer(PlannerInfo *root, RelOptInfo *rel)
{
	const WindowAggPath *core = window_over_sort(rel);
	CustomPath *path;
	List	   *scan_tuple;
	window_task task;

	if (core == NULL)
		return "there are several windows";
	if (!take_window(&task, root, core))
		return task.why_not;
	if (!custom_plan_query(core->subpath)->fits && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "the rows are expected to need more memory than work_mem times hash_mem_multiplier";
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
