/*
 * scan_path.c
 *		Paths of rows that may be read from pages as columns, and what they cost.
 *
 * Whether they are is decided when the plan runs (scan/row_source.h).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "query/scan_path.h"
#include "scan/heap_reader.h"
#include "settings.h"

/* The part of a row's cost, beyond its page's, that reading pages as columns saves. */
#define SAVED_PART 0.7

Cost
scan_saved_cost(PlannerInfo *root, const Path *path, List *exprs)
{
	const RelOptInfo *rel = path->parent;
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
	if (path->pathtype != T_SeqScan || get_rel_persistence(planner_rt_fetch(rel->relid, root)->relid) == RELPERSISTENCE_TEMP ||
		!heap_reader_takes(exprs, extract_actual_clauses(rel->baserestrictinfo, false)))
		return 0;
	/* a parallel path's rows are those of one process */
	return SAVED_PART * (cpu_tuple_cost + rel->baserestrictcost.per_tuple) * rel->tuples * path->rows / Max(rel->rows, 1);
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
