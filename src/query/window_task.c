/*
 * window_task.c
 *		What WindowAggs over an MgpuSort ask an MgpuWindow node to do.
 *
 * Their windows have the same partitions, and one order or none: then one sort serves them all.  The columns are those of the sort.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "compat.h"
#include "query/reductions.h"
#include "query/table_job.h"
#include "query/window_frame.h"
#include "query/window_task.h"

/* Rows of a frame that PostgreSQL takes back from an aggregate: more are left to it. */
#define MOST_ROWS_TAKEN_BACK 50

const char *const window_task_others = "there are several windows, which have other partitions or orders";

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
		{F_FIRST_VALUE, WINDOW_FIRST_VALUE}, {F_LAST_VALUE, WINDOW_LAST_VALUE}, {F_NTH_VALUE, WINDOW_NTH_VALUE},
		{F_NTILE, WINDOW_NTILE}, {F_PERCENT_RANK_, WINDOW_PERCENT_RANK}, {F_CUME_DIST_, WINDOW_CUME_DIST}
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

static int
column_of(const window_task *task, const Node *expr)
{
	ListCell   *cell;

	foreach(cell, task->columns)
		if (equal(lfirst(cell), expr))
			return foreach_current_index(cell);
	return -1;
}

/* What stands for a value where there is no such row: a constant, or the number of a column.  false: it is another. */
static bool
find_default(const window_task *task, const WindowFunc *function, Node **otherwise)
{
	int			column;

	*otherwise = list_length(function->args) > 2 ? lthird(function->args) : NULL;
	if (*otherwise == NULL || IsA(*otherwise, Const))
		return true;
	column = column_of(task, *otherwise);
	*otherwise = (Node *) makeInteger(column);
	return column >= 0;
}

/* The rows between a row and the one that lag or lead asks for. */
static bool
take_offset(window_task *task, const WindowFunc *function)
{
	const Const *offset = list_length(function->args) > 1 ? lsecond(function->args) : NULL;
	Node	   *otherwise;
	int64		rows = 1;

	if ((offset && (!IsA(offset, Const) || offset->constisnull)) || !find_default(task, function, &otherwise))
		return give_up(task, "an offset of lag or lead is not constant, or a default is neither that nor a column");
	if (offset)
		rows = DatumGetInt32(offset->constvalue);
	if (is_lag(function))
		rows = -rows;
	if (Max(rows, -rows) > PG_INT32_MAX)
		return give_up(task, "an offset of lag or lead is too large");
	task->query->offsets = lappend_int(task->query->offsets, (int) rows);
	task->query->defaults = lappend(task->query->defaults, otherwise);
	return true;
}

/* How many parts ntile makes, or which row nth_value asks for. */
static bool
take_number(window_task *task, const Const *number)
{
	if (!IsA(number, Const) || number->constisnull || DatumGetInt32(number->constvalue) <= 0)
		return give_up(task, "the number that ntile or nth_value asks for is not constant");
	task->query->offsets = lappend_int(task->query->offsets, DatumGetInt32(number->constvalue));
	task->query->defaults = lappend(task->query->defaults, NULL);
	return true;
}

/* The number of the frame of a function.  -1: what it asks for is the order's, and its window has none. */
static int
frame_of_function(const window_task *task, const WindowFunc *function, window_kind kind)
{
	ListCell   *cell;

	foreach(cell, task->windows)
	{
		const WindowClause *window = lfirst(cell);

		if (window->winref == function->winref)
			return window->orderClause || task->ordered->orderClause == NIL || kind == WINDOW_AGGREGATE ? foreach_current_index(cell) : -1;
	}
	return -1;
}

/* Whether an aggregate takes back rows that leave its frame. */
static bool
takes_back(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool		takes;

	if (!HeapTupleIsValid(tuple))
		return true;
	takes = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggminvtransfn);
	ReleaseSysCache(tuple);
	return takes;
}

/* Whether PostgreSQL takes back rows of a long frame, and the node does not. */
static bool
is_frame_too_long(const window_task *task, const WindowFunc *function, int frame)
{
	int			preceding = list_nth_int(task->query->preceding, frame);

	return preceding >= 0 && Max(preceding, list_nth_int(task->query->following, frame)) > MOST_ROWS_TAKEN_BACK && takes_back(function->winfnoid) &&
		!reduction_takes_back(known_reduction_of(function->winfnoid)->reduction, (const Node *) window_task_argument(function));
}

/* Aggregates of ours leave out NULLs. */
Expr *
window_task_argument(const WindowFunc *function)
{
	Expr	   *argument = function->args ? linitial(function->args) : NULL;

	return function->aggfilter ? table_choice(function->aggfilter, argument ? argument : (Expr *) makeBoolConst(true, false)) : argument;
}

static bool
take_function(window_task *task, WindowFunc *function)
{
	window_kind kind;
	int			frame;
	int			column = -1;
	Expr	   *argument = window_task_argument(function);

	if (list_member(task->functions, function))
		return true;
	if (!kind_of(function, &kind) || mgpu_treats_nulls(function))
		return give_up(task, "a window function is none that the node computes");
	frame = frame_of_function(task, function, kind);
	if (frame < 0)
		return give_up(task, "a rank or another row of a window that has no order");
	if (kind == WINDOW_AGGREGATE && is_frame_too_long(task, function, frame))
		return give_up(task, "a frame has many rows, which PostgreSQL takes back from an aggregate one by one");
	if (argument && kind != WINDOW_NTILE)
	{
		column = column_of(task, (Node *) argument);
		if (column < 0)
			return give_up(task, "a window function's argument is not a column");
	}
	task->functions = lappend(task->functions, function);
	task->query->functions = lappend_int(task->query->functions, kind);
	task->query->of_frames = lappend_int(task->query->of_frames, frame);
	task->query->aggregates = lappend_oid(task->query->aggregates, function->winfnoid);
	task->query->arguments = lappend_int(task->query->arguments, column);
	if (kind == WINDOW_OTHER_ROW)
		return take_offset(task, function);
	if (kind == WINDOW_NTILE || kind == WINDOW_NTH_VALUE)
		return take_number(task, llast(function->args));
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
	if (column_of(task, node) >= 0)
		return false;
	if (IsA(node, WindowFunc))
		return !take_function(task, (WindowFunc *) node);
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, FieldSelect))
		return !give_up(task, "the select list has a subquery or a record's field");
	return expression_tree_walker(node, is_unfit, task);
}

/* ---- the window */

static bool
take_frame(window_task *task, const WindowClause *window)
{
	query	   *query = task->query;
	int			preceding;
	int			following;

	if (!window_frame_find(window, &preceding, &following))
		return give_up(task, "a frame neither begins with the partition, nor has a few rows around the row, or a range before it");
	query->frames = lappend_int(query->frames, window_frame_end(window));
	query->preceding = lappend_int(query->preceding, preceding);
	query->following = lappend_int(query->following, following);
	query->ranges = lappend(query->ranges, copyObject(window_frame_range(window)));
	return true;
}

/* One of several windows: of the same partitions as the others, and in their order or in none. */
static bool
take_one_window(window_task *task, const WindowAggPath *path)
{
	const WindowClause *window = path->winclause;

	if (mgpu_window_conditions(path) && window->partitionClause == NIL)
		return give_up(task, "a condition on a window function stops it early");
	if (task->ordered && !equal(window->partitionClause, task->ordered->partitionClause))
		return give_up(task, window_task_others);
	if (task->ordered == NULL || task->ordered->orderClause == NIL)
		task->ordered = window;
	if (window->orderClause && !equal(window->orderClause, task->ordered->orderClause))
		return give_up(task, window_task_others);
	task->windows = lappend(task->windows, (void *) window);
	return take_frame(task, window);
}

/* False: a key is no column. */
static bool
take_keys(window_task *task, const PlannerInfo *root)
{
	List	   *clauses = list_concat_copy(task->ordered->partitionClause, task->ordered->orderClause);
	query	   *query = task->query;
	ListCell   *cell;

	query->num_partition_keys = list_length(task->ordered->partitionClause);
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

/* ---- the whole */

const Path *
window_task_below(const Path *path)
{
	while (IsA(path, WindowAggPath))
		path = ((const WindowAggPath *) path)->subpath;
	return path;
}

bool
window_task_make(window_task *task, const PlannerInfo *root, const WindowAggPath *path)
{
	const Path *below = window_task_below(&path->path);

	memset(task, 0, sizeof(*task));
	task->query = query_create(QUERY_WINDOW);
	for (const Path *window = &path->path; window != below; window = ((const WindowAggPath *) window)->subpath)
		if (!take_one_window(task, (const WindowAggPath *) window))
			return false;
	task->conditions = mgpu_window_conditions(path);
	task->columns = lsecond(((const CustomPath *) below)->custom_private);
	return !is_unfit((Node *) path->path.pathtarget->exprs, task) && !is_unfit((Node *) task->conditions, task) && take_keys(task, root);
}
