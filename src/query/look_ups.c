/*
 * look_ups.c
 *		What look-ups in indexes and scans cost, in paths of PostgreSQL's that compete with a job.
 *
 * PostgreSQL counts them in two ways that are far from what they take.  Pages in memory cost as if they were read from a disk.  And where tables are joined by
 * a key of several columns, each column is taken to say nothing about the others, so that a few rows are expected where hundreds of thousands come, whose
 * look-ups in the next table seem to cost nothing.  Here, a row that refers to a key of several columns is expected to find it, as PostgreSQL
 * does if a foreign key says so.
 *
 * A job that competes counts the difference as its own, since PostgreSQL's paths cannot be changed.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "compat.h"
#include "query/look_ups.h"
#include "query/scan_path.h"

/*
 * A look-up in an index in memory, and a row that it fetches from anywhere in a table, or has in the index itself, in units of cpu_tuple_cost.  Measured
 * with joins of TPC-H: 4 and 1.2 us, and 0.08 of the last, where a cost of 1 is that of 10 us of a process.
 */
#define LOOK_UP_COST 42
#define FETCH_COST 13
#define INDEX_ROW_COST 0.8

/*
 * Of what PostgreSQL counts too much for the pages of scans, what a job that competes counts.  The rest stands for rows of joins, of which PostgreSQL
 * counts too little: measured with joins of TPC-H and TPC-DS.
 */
#define PAGES_PART 0.2

/* Of PostgreSQL's cost, what a job costs at least that is only cheaper for its look-ups: what is planned above goes by it. */
#define LEAST_PART 0.5

/* ---- paths */

static bool
is_join(const Path *path)
{
	return IsA(path, NestPath) || IsA(path, HashPath) || IsA(path, MergePath);
}

/* ---- rows */

/* Whether a table has a unique index whose columns, more than one, are all among these. */
static bool
has_key(const RelOptInfo *rel, const Bitmapset *columns)
{
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		const IndexOptInfo *index = lfirst(cell);
		int			num_met = 0;

		for (int i = 0; i < index->nkeycolumns; i++)
			num_met += index->indexkeys[i] > 0 && bms_is_member(index->indexkeys[i], columns);
		if (index->unique && index->indpred == NIL && num_met > 1 && num_met == index->nkeycolumns)
			return true;
	}
	return false;
}

/* Add a column to those of its table. */
static void
add_column(Bitmapset **columns, const Node *node)
{
	const Var  *var = (const Var *) (IsA(node, RelabelType) ? (const Node *) ((const RelabelType *) node)->arg : node);

	if (IsA(var, Var) && var->varlevelsup == 0 && var->varattno > 0)
		columns[var->varno] = bms_add_member(columns[var->varno], var->varattno);
}

/* The table of which a join's equalities have all columns of a key, or NULL. */
static const RelOptInfo *
table_of_key(PlannerInfo *root, const List *clauses)
{
	Bitmapset **columns = palloc0(root->simple_rel_array_size * sizeof(Bitmapset *));
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *info = lfirst(cell);

		if (!OidIsValid(info->hashjoinoperator))
			continue;
		add_column(columns, get_leftop(info->clause));
		add_column(columns, get_rightop(info->clause));
	}
	for (int i = 1; i < root->simple_rel_array_size; i++)
		if (bms_num_members(columns[i]) > 1 && root->simple_rel_array[i] && has_key(root->simple_rel_array[i], columns[i]))
			return root->simple_rel_array[i];
	return NULL;
}

/* How many rows a path is likely to have, at least those that PostgreSQL expects. */
static double
likely_rows(PlannerInfo *root, const Path *path)
{
	const JoinPath *join = (const JoinPath *) path;
	const Path *inner;
	const RelOptInfo *keys;
	double		num_outer;
	double		num_inner;

	if (scan_path_below(path) && !IsA(path, AggPath) && !IsA(path, GroupPath) && !IsA(path, GroupingSetsPath))
		return Max(path->rows, likely_rows(root, scan_path_below(path)));
	if (!is_join(path) || join->jointype != JOIN_INNER)
		return path->rows;
	inner = join->innerjoinpath;
	num_outer = likely_rows(root, join->outerjoinpath);
	num_inner = inner->param_info ? inner->parent->rows : likely_rows(root, inner);
	keys = table_of_key(root, inner->param_info ? list_concat_copy(join->joinrestrictinfo, inner->param_info->ppi_clauses) : join->joinrestrictinfo);
	if (keys)
		return Max(path->rows, num_outer * num_inner / Max(keys->tuples, 1));
	return path->rows * num_outer / Max(join->outerjoinpath->rows, 1);
}

/* Rows that a path of a look-up fetches, before conditions that are not the index's; of a join that ends at the first match, one. */
static double
rows_fetched(const Path *path, bool ends_early)
{
	double		num_rows;

	if (scan_path_below(path))
		return rows_fetched(scan_path_below(path), ends_early);
	if (IsA(path, IndexPath))
		num_rows = ((const IndexPath *) path)->indexselectivity * path->parent->tuples;
	else
		num_rows = path->rows;
	return ends_early ? Min(num_rows, 1) : num_rows;
}

/* ---- costs */

/* What a row of a path of look-ups costs. */
static Cost
fetch_cost(const Path *path)
{
	while (scan_path_below(path))
		path = scan_path_below(path);
	return path->pathtype == T_IndexOnlyScan ? INDEX_ROW_COST : FETCH_COST;
}

/* What a look-up of a join costs in memory. */
static Cost
look_up_cost(const JoinPath *join)
{
	bool		ends_early = join->inner_unique || join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI;

	return (LOOK_UP_COST + fetch_cost(join->innerjoinpath) * rows_fetched(join->innerjoinpath, ends_early)) * cpu_tuple_cost;
}

/* What PostgreSQL counts of a join's look-ups, less what they are likely to cost. */
static Cost
saving_of_join(PlannerInfo *root, const JoinPath *join)
{
	Cost		counted = join->path.total_cost - join->outerjoinpath->total_cost;
	double		num_rows = join->outerjoinpath->rows;

	return Max(counted - num_rows * look_up_cost(join), 0) - (likely_rows(root, join->outerjoinpath) - num_rows) * look_up_cost(join);
}

/* The same of all look-ups of a path, and a part of it of scans. */
static Cost
saving_of_path(PlannerInfo *root, const Path *path)
{
	const JoinPath *join = (const JoinPath *) path;

	if (scan_path_below(path))
		return saving_of_path(root, scan_path_below(path));
	if (!is_join(path))
		return PAGES_PART * scan_cached_saving(root, path);
	if (!IsA(path, NestPath) || join->innerjoinpath->param_info == NULL)
		return saving_of_path(root, join->outerjoinpath) + saving_of_path(root, join->innerjoinpath);
	return saving_of_path(root, join->outerjoinpath) + saving_of_join(root, join);
}

/* The cheapest path of PostgreSQL's own, or NULL. */
static const Path *
cheapest_of_core(const RelOptInfo *rel)
{
	const Path *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->param_info == NULL && !scan_path_is_found(path) && (cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest;
}

Cost
look_ups_beside(PlannerInfo *root, const RelOptInfo *rel, Cost cost)
{
	const Path *path = cheapest_of_core(rel);
	const Path *partial = rel->partial_pathlist ? linitial(rel->partial_pathlist) : NULL;

	if (path == NULL || !scan_is_cached(root))
		return cost;
	if (partial && partial->total_cost + parallel_setup_cost < path->total_cost)
		path = partial;
	return Max(cost + saving_of_path(root, path), Min(cost, path->total_cost * LEAST_PART));
}
