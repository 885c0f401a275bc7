/*
 * scan_path.c
 *		Paths of rows that may be read from pages as columns, and what they cost.
 *
 * Whether they are is decided when the plan runs (scan/row_source.h).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "compat.h"
#include "query/custom_plan.h"
#include "query/found_path.h"
#include "query/scan_path.h"
#include "query/slow_functions.h"
#include "run/run_table.h"
#include "scan/heap_reader.h"
#include "settings.h"

/*
 * The part of a page's cost that a page in shared buffers does not take, and one in the system's cache.  Measured: it takes 0.3 us, or 1.5 to be
 * copied, and a page's cost is that of 8 us.
 */
#define BUFFERED_PART 0.95
#define CACHED_PART 0.8

/*
 * The same of an index's cost, that of its rows included.  Measured: a bitmap's row takes 30 to 60 ns, and has a cost of 0.025, of which a job's scan of all
 * rows takes 130 ns.
 */
#define CACHED_INDEX_PART 0.65

/* Pages that an index names are not kept by a GPU: each takes as long as so many of those that are. */
#define NOT_KEPT_TIMES 8

/* The part of a row's cost, beyond its page's, that reading pages as columns saves. */
#define SAVED_PART 0.7

/* The part that a GPU leaves of a row's cost on its page, and one thread. */
#define GPU_SCAN_PART 0.02
#define THREAD_SCAN_PART 0.4

double
scan_path_part(bool by_gpu)
{
	return by_gpu ? GPU_SCAN_PART : THREAD_SCAN_PART / run_table_threads();
}

bool
scan_path_is_scan(const Path *path)
{
	return (path->pathtype == T_SeqScan && !path->parallel_aware) || found_path_is_one(path);
}

double
scan_path_rows_read(const Path *path)
{
	return found_path_is_one(path) ? found_path_rows(path) : path->parent->tuples;
}

/* Pages of all tables, each of which the planner counts as often as it is there. */
static double
pages_of_tables(const PlannerInfo *root)
{
	List	   *seen = NIL;
	double		num_pages = 0;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];
		const RangeTblEntry *entry = root->simple_rte_array[i];

		if (rel == NULL || entry->rtekind != RTE_RELATION || list_member_oid(seen, entry->relid))
			continue;
		seen = lappend_oid(seen, entry->relid);
		num_pages += rel->pages;
	}
	list_free(seen);
	return num_pages;
}

/* The part of a page's cost that pages do not take, as all tables of a statement are likely to be in a cache; or 0. */
static double
cached_part(const PlannerInfo *root)
{
	double		num_pages = Min(root->total_table_pages, pages_of_tables(root));

	return num_pages <= NBuffers ? BUFFERED_PART : num_pages <= effective_cache_size ? CACHED_PART : 0;
}

/* What a job's pages cost: those that are cached do not take what PostgreSQL counts. */
static Cost
pages_cost(PlannerInfo *root, const RelOptInfo *rel, double num_pages)
{
	double		random;
	double		in_turn;
	double		cached = cached_part(root);

	get_tablespace_page_costs(rel->reltablespace, &random, &in_turn);
	/* as PostgreSQL counts a bitmap's: the fewer there are, the further they are apart */
	return num_pages * (in_turn * (1 - cached) + (cached > 0 ? 0 : (random - in_turn) * (1 - sqrt(num_pages / Max(rel->pages, 1)))));
}

Cost
scan_path_read_cost(PlannerInfo *root, const Path *path, bool by_gpu)
{
	const RelOptInfo *rel = path->parent;
	double		num_pages = found_path_is_one(path) ? Min(found_path_pages(root, path), rel->pages) : rel->pages;
	double		num_rows = rel->tuples * num_pages / Max(rel->pages, 1);
	Cost		cost = pages_cost(root, rel, num_pages) + scan_path_part(by_gpu) * num_rows * (cpu_tuple_cost + rel->baserestrictcost.per_tuple + slow_comparisons_cost(rel));

	if (!found_path_is_one(path))
		return cost;
	if (by_gpu)
		cost *= NOT_KEPT_TIMES;
	return cost + found_path_index_cost(path) * (scan_is_cached(root) ? 1 - CACHED_INDEX_PART : 1);
}

/* The scan of a table that a job reads soonest, or NULL. */
static Path *
scan_of_table(PlannerInfo *root, RelOptInfo *rel)
{
	Path	   *all = enable_seqscan ? create_seqscan_path(root, rel, NULL, 0) : NULL;
	Path	   *found = found_path_of_table(root, rel);
	bool		by_gpu = run_may_use_gpu();

	if (all == NULL || found == NULL)
		return all ? all : found;
	return scan_path_read_cost(root, found, by_gpu) < scan_path_read_cost(root, all, by_gpu) ? found : all;
}

static List *
list_of(Path *path)
{
	return path ? list_make1(path) : NIL;
}

/* The scans of a table and all below it, in the planner's order; or NIL, where some are none of heap tables. */
static List *
scans_below(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *entry = planner_rt_fetch(rel->relid, root);
	List	   *scans = NIL;
	ListCell   *cell;

	if (entry->rtekind != RTE_RELATION || entry->tablesample || !bms_is_empty(rel->lateral_relids))
		return NIL;
	if (!entry->inh)
		return entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_MATVIEW ? list_of(scan_of_table(root, rel)) : NIL;
	foreach(cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst(cell);
		RelOptInfo *child = info->parent_relid == rel->relid ? find_base_rel(root, info->child_relid) : NULL;
		List	   *of_child;

		if (child == NULL || IS_DUMMY_REL(child))
			continue;
		of_child = scans_below(root, child);
		if (of_child == NIL)
			return NIL;
		scans = list_concat(scans, of_child);
	}
	return scans;
}

/*
 * What the scans below a table return.  Once the planner has given the table a target with expressions, children that are no partitions still return
 * its columns, as those do that it has planned itself.
 */
static PathTarget *
target_of_scans(RelOptInfo *rel)
{
	const Path *path = rel->pathlist && !IS_PARTITIONED_REL(rel) ? linitial(rel->pathlist) : NULL;

	while (path && IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path ? path->pathtarget : rel->reltarget;
}

Path *
scan_path_of_table(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *scans = scans_below(root, rel);
	Path	   *append;

	if (scans == NIL || !planner_rt_fetch(rel->relid, root)->inh)
		return scans ? linitial(scans) : NULL;
	append = (Path *) mgpu_create_append_path(root, rel, scans);
	append->pathtarget = target_of_scans(rel);
	return append;
}

Cost
scan_saved_cost(PlannerInfo *root, const Path *path, List *exprs)
{
	const RelOptInfo *rel = path->parent;
	List	   *conditions;
	Cost		saved = 0;
	ListCell   *cell;

	if (!mgpu_setting_enable_columns)
		return 0;
	if (IsA(path, ProjectionPath))
		return scan_saved_cost(root, ((const ProjectionPath *) path)->subpath, exprs);
	if (IsA(path, AppendPath))
	{
		foreach(cell, ((const AppendPath *) path)->subpaths)
			saved += scan_saved_cost(root, lfirst(cell), ((const Path *) lfirst(cell))->pathtarget->exprs);
		return saved;
	}
	if (path->pathtype != T_SeqScan || get_rel_persistence(planner_rt_fetch(rel->relid, root)->relid) == RELPERSISTENCE_TEMP)
		return 0;
	conditions = extract_actual_clauses(rel->baserestrictinfo, false);
	if (!heap_reader_takes(exprs, conditions))
		return 0;
	/* a condition that is met row by row takes what it takes in PostgreSQL's scan, which workers may share: rows that it leaves take less */
	if (!heap_reader_computes(conditions))
		return SAVED_PART * cpu_tuple_cost * path->rows;
	/* a parallel path's rows are those of one process */
	return SAVED_PART * (cpu_tuple_cost + rel->baserestrictcost.per_tuple) * rel->tuples * path->rows / Max(rel->rows, 1);
}

static Cost
cost_of_pages(const Path *path)
{
	Cost		cost = 0;
	Cost		per_page;
	ListCell   *cell;

	if (path->pathtype == T_SeqScan)
	{
		get_tablespace_page_costs(path->parent->reltablespace, NULL, &per_page);
		return path->parent->pages * per_page;
	}
	if (IsA(path, ProjectionPath))
		return cost_of_pages(((const ProjectionPath *) path)->subpath);
	if (IsA(path, HashPath))
		return cost_of_pages(((const JoinPath *) path)->outerjoinpath) + cost_of_pages(((const JoinPath *) path)->innerjoinpath);
	foreach(cell, IsA(path, AppendPath) ? ((const AppendPath *) path)->subpaths : NIL)
		cost += cost_of_pages(lfirst(cell));
	return cost;
}

bool
scan_is_cached(const PlannerInfo *root)
{
	return cached_part(root) > 0;
}

Cost
scan_cached_saving(PlannerInfo *root, const Path *path)
{
	return cached_part(root) * cost_of_pages(path);
}

/* How paths begin that have one path below. */
typedef struct path_above
{
	Path		path;
	Path	   *subpath;
} path_above;

const Path *
scan_path_below(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_ProjectionPath:
		case T_MaterialPath:
		case T_MemoizePath:
		case T_SortPath:
		case T_IncrementalSortPath:
		case T_GatherPath:
		case T_GatherMergePath:
		case T_AggPath:
		case T_GroupPath:
		case T_GroupingSetsPath:
		case MGPU_UNIQUE_PATH:
			return ((const path_above *) path)->subpath;
		default:
			return NULL;
	}
}

bool
scan_path_is_found(const Path *path)
{
	const query *query;

	while (scan_path_below(path))
		path = scan_path_below(path);
	query = custom_plan_query(path);
	if (query && query->kind == QUERY_SORT)
		return scan_path_is_found(linitial(((const CustomPath *) path)->custom_paths));
	return query && query->kind == QUERY_SCAN;
}

Path *
scan_cheapest_path(PlannerInfo *root, List *paths, List *exprs)
{
	Path	   *cheapest = NULL;
	Cost		least = 0;
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *path = lfirst(cell);
		Cost		cost = path->total_cost - scan_saved_cost(root, path, exprs);

		if (path->param_info || (cheapest && cost >= least))
			continue;
		cheapest = path;
		least = cost;
	}
	return cheapest;
}

Path *
scan_path(PlannerInfo *root, Path *source, List *exprs)
{
	PathTarget *target = create_empty_pathtarget();
	Cost		saved = scan_saved_cost(root, source, exprs);
	Path	   *path;
	ListCell   *cell;

	foreach(cell, exprs)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	set_pathtarget_cost_width(root, target);
	path = (Path *) create_projection_path(root, source->parent, source, target);
	path->total_cost -= saved;
	return path;
}
