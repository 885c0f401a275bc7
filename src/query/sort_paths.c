/*
 * sort_paths.c
 *		Offers MgpuSort nodes (sort_node.c) to the planner, where PostgreSQL sorts rows: for an ORDER BY without a
 *		known LIMIT, and below WindowAgg, GroupAggregate, Group and Unique.
 *
 * PostgreSQL's paths are copied with another sort in them.  Paths of our own making were rejected: they would
 * have to know all that PostgreSQL thinks of for these.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/sort_runs.h"
#include "keys/collation.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/job_rows.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "settings.h"

/* More keys are left to PostgreSQL: each of them is a sort of all rows. */
#define MOST_KEYS 4

/* Costs of a row, in units of cpu_operator_cost. */
#define SORT_COST 4.0			/* sorting it by a key */
#define RETURN_COST 1.0			/* returning it */
#define WRITE_COST 0.8			/* writing a value to a run and reading it */
#define MERGE_COST 0.4			/* comparing it with one of another run */

/* A merge of some runs into one, before the last merge, costs so many times what writing the runs first and reading them does. */
#define MORE_PASS_COST 2.5

static const char *const is_slower = "PostgreSQL's own plan is expected to be faster";

/* Whether a key is sorted by numbers or bytes: comparing values is no faster here than in PostgreSQL. */
static bool
is_fast(const element_type *type, Oid collation)
{
	if (type->key_kind != 0 || type->encode || type->is_enum)
		return true;
	return type->byte_form != BYTE_FORM_NONE &&
		(!OidIsValid(collation) || collation_orders_bytes(collation) || collation_has_strings(collation));
}

/* Returns why a key cannot or should not be sorted by, or NULL. */
static const char *
why_no_key(const top_task *task, int n)
{
	element_type type;
	Oid			operator = list_nth_oid(task->query->order_operators, n);

	element_type_fill(&type, exprType(list_nth(task->columns, list_nth_int(task->query->order_columns, n))));
	if (operator != type.lt_operator && operator != type.gt_operator)
		return "a sort key has an operator that is not its type's own";
	if (mgpu_setting_enable_sort != MGPU_ENABLE_FORCE && !is_fast(&type, list_nth_oid(task->query->order_collations, n)))
		return "a sort key has no numeric or byte form";
	return NULL;
}

static const char *
why_not(const top_task *task)
{
	if (mgpu_setting_enable_sort == MGPU_ENABLE_OFF)
		return "mgpu.enable_sort is off";
	if (!enable_sort)
		return "enable_sort is off";
	if (task->query->order_columns == NIL || list_length(task->query->order_columns) > MOST_KEYS)
		return "there are more than four sort keys, or none that differs";
	for (int i = 0; i < list_length(task->query->order_columns); i++)
		if (why_no_key(task, i))
			return why_no_key(task, i);
	return NULL;
}

/* Estimate of the most memory that a row takes, as the node counts it. */
static Size
bytes_of_row(const top_task *task)
{
	Size		bytes = most_bytes_of_row(task->cell_bytes, sizeof(uint32)) + task->value_bytes;
	ListCell   *cell;

	foreach(cell, task->query->order_columns)
		bytes += collation_key_bytes(list_nth_oid(task->query->order_collations, foreach_current_index(cell)),
									 custom_plan_value_bytes(task->root, list_nth(task->columns, lfirst_int(cell))));
	return bytes;
}

/* How many times as much as there is memory for the rows need. */
static double
num_runs_of(const top_task *task, double num_rows)
{
	return num_rows * bytes_of_row(task) / get_hash_memory_limit();
}

/* The cost of writing runs and merging them, if the rows do not fit in memory.  PostgreSQL's Sort has the same cost of a page. */
static Cost
runs_cost(const top_task *task, double num_rows)
{
	double		num_runs = num_runs_of(task, num_rows);
	double		more_passes = ceil(log(num_runs) / log(sort_runs_at_once())) - 1;
	Cost		pages = ceil(num_rows * (task->cell_bytes + task->value_bytes) / BLCKSZ) *
		2 * (0.75 * seq_page_cost + 0.25 * random_page_cost);
	Cost		values = num_rows * list_length(task->columns) * WRITE_COST * cpu_operator_cost;

	if (num_runs <= 1)
		return 0;
	return (1 + MORE_PASS_COST * more_passes) * (pages + values) + num_rows * log2(num_runs) * MERGE_COST * cpu_operator_cost;
}

static void
cost_path(const top_task *task, Path *path, const Path *child, table_executor executor)
{
	const QualCost *target_cost = &path->pathtarget->cost;

	path->rows = child->rows;
	path->startup_cost = START_COST + child->rows * cpu_operator_cost *
		(SORT_COST * list_length(task->query->order_columns) + COLUMN_COST * list_length(task->columns));
	if (executor != TABLE_BY_NOBODY)
		path->startup_cost = table_job_node_cost(task->root, child, executor) + path->startup_cost * table_job_part(executor);
	else
		path->startup_cost += child->total_cost + runs_cost(task, child->rows);
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

/* A path that does what a Sort does, and computes target.  NULL: there is none, and *reason says why. */
static Path *
make_path(const top_task *task, const SortPath *sort, PathTarget *target, const char **reason)
{
	job_wish	wish = {.query = task->query,.columns = task->columns,.num_results = sort->subpath->rows};
	CustomPath *path;
	Path	   *child;
	table_executor executor;

	*reason = why_not(task);
	if (*reason)
		return NULL;
	child = job_rows(task->root, sort->subpath, &wish, &executor);
	task->query->kind = QUERY_SORT;
	task->query->fits = executor != TABLE_BY_NOBODY || num_runs_of(task, child->rows) <= 1;
	path = custom_plan_path(&(node_path) {
		.query = task->query,
		.entries = task->columns,
		.rel = sort->path.parent,
		.target = target,
		.pathkeys = sort->path.pathkeys,
		.child = child,
		.parallel_safe = sort->path.parallel_safe && child->parallel_safe,
		.goes_back = true
	});
	cost_path(task, &path->path, child, executor);
	return &path->path;
}

const char *
sort_add_path(RelOptInfo *rel, Path *path)
{
	Cost		cost = path->total_cost;
	ListCell   *cell;
	bool		is_there = false;

	/* frees it, if another one is better */
	add_path(rel, path);
	foreach(cell, rel->pathlist)
	{
		is_there |= lfirst(cell) == path;
		if (((const Path *) lfirst(cell))->total_cost < cost)
			return is_slower;
	}
	return is_there ? NULL : is_slower;
}

/* ---- ORDER BY */

const char *
sort_offer(const top_task *task, const SortPath *sort, RelOptInfo *output_rel)
{
	const char *reason;
	Path	   *path;

	if (task->root->parse->limitCount && mgpu_setting_enable_sort != MGPU_ENABLE_FORCE)
		return "LIMIT is not a constant";
	path = make_path(task, sort, task->root->upper_targets[UPPERREL_FINAL], &reason);
	return path ? sort_add_path(output_rel, path) : reason;
}

/* ---- below other nodes */

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
		if (IsA(path, WindowAggPath) && mgpu_window_drops_rows((const WindowAggPath *) path))
			return true;
	return false;
}

/*
 * A Sort in place of a path that reads rows in order, or in part, by an index, or NULL: reading them in any order costs no less.  An index's rows lie
 * anywhere, so PostgreSQL's own Sort may have cost more.  in_part: the path's rows are sorted further.
 */
static const SortPath *
sort_instead(PlannerInfo *root, const Path *above, const Path *ordered, const SortPath *in_part)
{
	Path	   *rows = ordered->parent->cheapest_total_path;
	SortPath   *sort;

	if (ends_early(above) || !(IS_SIMPLE_REL(ordered->parent) || IS_JOIN_REL(ordered->parent)) || ordered->pathkeys == NIL || rows == NULL || rows->param_info ||
		rows->total_cost >= ordered->total_cost)
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
 * A copy of a Sort below window functions which also has arguments of aggregates that are expressions, so that MgpuWindow has them as columns.  A frame
 * has its own row, so each is computed anyway.
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
		Expr	   *argument = IsA(function, WindowFunc) && function->winagg && function->args && !function->aggfilter ? linitial(function->args) : NULL;

		if (argument && !IsA(argument, Const) && !list_member(target->exprs, argument) && custom_plan_is_simple(argument) &&
			!contain_agg_clause((Node *) argument) && !contain_subplans((Node *) argument))
			add_column_to_pathtarget(target, argument, 0);
	}
	*copy = *sort;
	copy->path.pathtarget = set_pathtarget_cost_width(root, target);
	return copy;
}

Path *
sort_path_below(PlannerInfo *root, const RelOptInfo *rel, bool of_windows, const char **reason)
{
	const Path *sorting = cheapest_path(rel, true);
	const Path *above = sorting ? sorting : cheapest_path(rel, false);
	const SortPath *sort = above ? sort_to_replace(root, above) : NULL;
	Path	   *path = NULL;
	top_task	task;

	*reason = "rows come in this order";
	if (sort == NULL)
		return NULL;
	if (of_windows)
		sort = with_arguments(root, sort);
	if (top_task_of_sort(&task, root, sort))
		path = make_path(&task, sort, sort->path.pathtarget, reason);
	else
		*reason = task.why_not;
	return path ? copy_above(above, place_of_sort(above), path) : NULL;
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
