/*
 * sort_below.c
 *		Offers MgpuSort nodes in place of the Sort, or of an index's order, below WindowAgg, GroupAggregate, Group and Unique.
 *
 * PostgreSQL's paths are copied with another sort in them.  Paths of our own making were rejected: they would
 * have to know all that PostgreSQL thinks of for these.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "keys/collation.h"
#include "query/custom_plan.h"
#include "query/offers.h"
#include "query/window_columns.h"
#include "query/window_task.h"

/* How these begin: rows come through them as they go, and cost what they cost below and something of their own. */
typedef struct path_above
{
	Path		path;
	Path	   *subpath;
} path_above;

/* The bytes of such a path, 0 for others. */
static Size
bytes_above(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_WindowAggPath:
			return sizeof(WindowAggPath);
		case T_AggPath:
			return sizeof(AggPath);
		case T_GroupPath:
			return sizeof(GroupPath);
		case MGPU_UNIQUE_PATH:
			return sizeof(mgpu_unique_path);
		case T_ProjectionPath:
			return sizeof(ProjectionPath);
		default:
			return 0;
	}
}

/* The path that a path's rows come from. */
static const Path *
bottom_of(const Path *path)
{
	while (bytes_above(path) > 0)
		path = ((const path_above *) path)->subpath;
	return path;
}

/* The Sort that a path's rows come through, or NULL; one of rows that are sorted in part is one, too. */
static const SortPath *
sort_of(const Path *path)
{
	path = bottom_of(path);
	return IsA(path, SortPath) || IsA(path, IncrementalSortPath) ? (const SortPath *) path : NULL;
}

/* What a Sort takes the place of: a Sort, or what reads rows in order, with a projection that has the columns that go up. */
static const Path *
place_of_sort(const Path *path)
{
	const SortPath *sort = sort_of(path);

	if (sort)
		return &sort->path;
	while (bytes_above(path) > 0 && !(IsA(path, ProjectionPath) && bytes_above(((const path_above *) path)->subpath) == 0))
		path = ((const path_above *) path)->subpath;
	return path;
}

/* Copy what lies above a Sort, with another path in its place. */
static Path *
copy_above(const Path *path, const Path *sort, Path *instead)
{
	Size		bytes = bytes_above(path);
	path_above *copy;

	if (path == sort)
		return instead;
	copy = palloc(bytes);
	memcpy(copy, path, bytes);
	copy->subpath = copy_above(copy->subpath, sort, instead);
	copy->path.startup_cost += instead->startup_cost - sort->startup_cost;
	copy->path.total_cost += instead->total_cost - sort->total_cost;
	mgpu_exchange_disabled_nodes(&copy->path, sort, instead);
	return &copy->path;
}

/* The cheapest path, or the cheapest that sorts; NULL: there is none. */
static const Path *
cheapest_path(const RelOptInfo *rel, bool sorts)
{
	const Path *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->param_info == NULL && (!sorts || sort_of(path)) && (cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest;
}

/* Whether a condition on a window function ends the reading: of rows in order, few are read. */
static bool
ends_early(const Path *path)
{
	for (; bytes_above(path) > 0; path = ((const path_above *) path)->subpath)
		if (IsA(path, WindowAggPath) && ((const WindowAggPath *) path)->winclause->partitionClause == NIL && mgpu_window_conditions((const WindowAggPath *) path))
			return true;
	return false;
}

/*
 * A Sort in place of a path that reads rows in order, or in part, by an index, or NULL: reading them in any order costs no less.  An index's rows lie
 * anywhere, so PostgreSQL's own Sort may have cost more.  Rows of windows below may be in order, too: as columns they are sorted again in less time than
 * they come one by one.  in_part: the path's rows are sorted further.
 */
static const SortPath *
sort_instead(PlannerInfo *root, const Path *above, const Path *ordered, const SortPath *in_part)
{
	Path	   *rows = ordered->parent->cheapest_total_path;
	SortPath   *sort;

	if (ends_early(above) || !(IS_SIMPLE_REL(ordered->parent) || IS_JOIN_REL(ordered->parent)) || ordered->pathkeys == NIL || rows == NULL || rows->param_info ||
		(rows->total_cost >= ordered->total_cost && window_columns_below(rows) == NULL))
		return NULL;
	sort = create_sort_path(root, ordered->parent, rows, in_part ? in_part->path.pathkeys : ordered->pathkeys, -1);
	sort->path.pathtarget = ordered->pathtarget;
	return sort;
}

/* The Sort in place of which a node is offered, below `above`; or NULL. */
static const SortPath *
sort_to_replace(PlannerInfo *root, const Path *above)
{
	const Path *replaced = place_of_sort(above);
	const SortPath *instead;

	if (IsA(replaced, SortPath))
		return (const SortPath *) replaced;
	if (!IsA(replaced, IncrementalSortPath))
		return sort_instead(root, above, replaced, NULL);
	instead = sort_instead(root, above, ((const SortPath *) replaced)->subpath, (const SortPath *) replaced);
	return instead ? instead : (const SortPath *) replaced;
}

/*
 * A copy of a Sort below window functions which also has arguments that are expressions, so that MgpuWindow has them as columns: they are computed for
 * each row anyway.
 */
static const SortPath *
with_arguments(PlannerInfo *root, const SortPath *sort)
{
	PathTarget *target = copy_pathtarget(sort->path.pathtarget);
	SortPath   *copy = palloc(sizeof(SortPath));
	ListCell   *cell;

	foreach(cell, pull_var_clause((Node *) root->upper_targets[UPPERREL_WINDOW]->exprs,
								  PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
	{
		const WindowFunc *function = lfirst(cell);
		Expr	   *argument = IsA(function, WindowFunc) ? window_task_argument(function) : NULL;

		if (argument && !IsA(argument, Const) && !list_member(target->exprs, argument) && custom_plan_is_simple(argument) &&
			!contain_agg_clause((Node *) argument) && !contain_subplans((Node *) argument))
			add_column_to_pathtarget(target, argument, 0);
	}
	*copy = *sort;
	copy->path.pathtarget = set_pathtarget_cost_width(root, target);
	return copy;
}

/* ---- partitions, which may come in any order */

/* The partition keys of all windows above a sort; NIL: there are none, or some have others. */
static const List *
partition_keys(const PlannerInfo *root, const Path *above)
{
	const WindowClause *first = NULL;

	for (; bytes_above(above) > 0; above = ((const path_above *) above)->subpath)
	{
		const WindowAggPath *window = (const WindowAggPath *) above;

		if (!IsA(window, WindowAggPath))
			continue;
		if (first && !equal(first->partitionClause, window->winclause->partitionClause))
			return NIL;
		first = window->winclause;
	}
	return first ? get_sortgrouplist_exprs(first->partitionClause, root->processed_tlist) : NIL;
}

/* Whether texts may be told apart, but not ordered, by their bytes. */
static bool
is_equal_by_bytes(const Node *key, Oid collation)
{
	Oid			type_id = getBaseType(exprType(key));

	return (type_id == TEXTOID || type_id == VARCHAROID) && OidIsValid(collation) && !collation_orders_bytes(collation) &&
		get_collation_isdeterministic(collation);
}

/* Whether somebody above the windows in this statement may want its rows in the order in which a sort leaves them. */
static bool
order_is_wanted(const PlannerInfo *root, const SortPath *sort)
{
	return (root->sort_pathkeys && pathkeys_contained_in(root->sort_pathkeys, sort->path.pathkeys)) ||
		(root->distinct_pathkeys && pathkeys_contained_in(root->distinct_pathkeys, sort->path.pathkeys));
}

/* Have partitions in the order of their bytes, which jobs can do, and comparisons take less time.  Whether any are. */
static bool
order_partitions_by_bytes(top_task *task, const PlannerInfo *root, const Path *above, const SortPath *sort)
{
	const List *partitions = order_is_wanted(root, sort) ? NIL : partition_keys(root, above);
	bool		any = false;
	ListCell   *cell;

	foreach(cell, task->query->order_collations)
	{
		const Node *key = list_nth(task->columns, list_nth_int(task->query->order_columns, foreach_current_index(cell)));

		if (!list_member(partitions, key) || !is_equal_by_bytes(key, lfirst_oid(cell)))
			continue;
		lfirst_oid(cell) = C_COLLATION_OID;
		any = true;
	}
	return any;
}

/* What is above a sort has its rows in no order that PostgreSQL knows. */
static void
forget_order(Path *path, const Path *sort)
{
	for (; path != sort; path = ((path_above *) path)->subpath)
		path->pathkeys = NIL;
}

Path *
sort_path_below(PlannerInfo *root, const RelOptInfo *rel, bool of_windows, const char **reason)
{
	const Path *sorting = cheapest_path(rel, true);
	const Path *above = sorting ? sorting : cheapest_path(rel, false);
	const SortPath *sort = above ? sort_to_replace(root, above) : NULL;
	Path	   *path;
	Path	   *copy;
	top_task	task;
	bool		by_bytes;

	*reason = "rows come in this order";
	if (sort == NULL)
		return NULL;
	if (of_windows)
		sort = with_arguments(root, sort);
	if (!top_task_of_sort(&task, root, sort))
	{
		*reason = task.why_not;
		return NULL;
	}
	by_bytes = of_windows && order_partitions_by_bytes(&task, root, above, sort);
	path = sort_make_path(&task, sort, sort->path.pathtarget, reason);
	if (path == NULL)
		return NULL;
	copy = copy_above(above, place_of_sort(above), path);
	if (by_bytes)
		forget_order(copy, path);
	return copy;
}

void
sort_offer_below(PlannerInfo *root, RelOptInfo *rel)
{
	const char *reason;
	Path	   *path = sort_path_below(root, rel, false, &reason);

	if (path)
		(void) sort_add_path(rel, path);
}

const SortPath *
sort_of_rel(const RelOptInfo *rel, const Path **above)
{
	*above = cheapest_path(rel, true);
	return *above ? sort_of(*above) : NULL;
}

const char *
sort_add_copy(RelOptInfo *rel, const Path *above, const SortPath *sort, Path *instead)
{
	return sort_add_path(rel, copy_above(above, &sort->path, instead));
}
