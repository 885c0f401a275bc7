/*
 * found_path.c
 *		Paths of a table's rows whose pages an index names: Bitmap Heap Scans, which jobs read as they read whole tables.
 *
 * PostgreSQL takes an Index Scan where the rows lie in the index's order, as times do in a table that grows.  A job cannot follow one, so a bitmap is made of
 * the same index.  PostgreSQL takes a bitmap's pages to lie anywhere; here they are as many as it counts for the Index Scan, which knows the order.
 */
#include "postgres.h"

#include <math.h>

#include "access/amapi.h"
#include "catalog/pg_am.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "compat.h"
#include "query/found_path.h"

static const Path *
bitmap_of(const Path *path)
{
	return ((const BitmapHeapPath *) path)->bitmapqual;
}

bool
found_path_is_one(const Path *path)
{
	return IsA(path, BitmapHeapPath) && !path->parallel_aware && path->param_info == NULL;
}

Cost
found_path_index_cost(const Path *path)
{
	Cost		cost;
	Selectivity part;

	cost_bitmap_tree_node(unconstify(Path *, bitmap_of(path)), &cost, &part);
	return cost;
}

double
found_path_rows(const Path *path)
{
	Cost		cost;
	Selectivity part;

	cost_bitmap_tree_node(unconstify(Path *, bitmap_of(path)), &cost, &part);
	return part * path->parent->tuples;
}

/* How far a table's rows lie in the order of an index, from -1 to 1, as it knows that itself; its own share of rows. */
static double
order_of_index(PlannerInfo *root, const IndexPath *path)
{
	amcostestimate_function estimate = (amcostestimate_function) path->indexinfo->amcostestimate;
	Cost		startup_cost;
	Cost		total_cost;
	Selectivity part;
	double		order;
	double		num_pages;

	/* it names all pages of a range that may have a row */
	if (path->indexinfo->relam == BRIN_AM_OID)
		return 1;
	estimate(root, unconstify(IndexPath *, path), 1.0, &startup_cost, &total_cost, &part, &order, &num_pages);
	return order;
}

double
found_path_pages(PlannerInfo *root, const Path *path)
{
	const Path *bitmap = bitmap_of(path);
	double		num_apart = compute_bitmap_pages(root, path->parent, unconstify(Path *, bitmap), 1.0, NULL, NULL);
	double		num_together = ceil(found_path_rows(path) / Max(path->parent->tuples, 1) * path->parent->pages);
	double		order = IsA(bitmap, IndexPath) ? order_of_index(root, (const IndexPath *) bitmap) : 0;

	/* as PostgreSQL's cost_index */
	return num_apart + order * order * (num_together - num_apart);
}

/* A path's rows by a bitmap, or NULL.  What the planner computes above the rows is left out. */
static Path *
bitmap_path(PlannerInfo *root, RelOptInfo *rel, Path *path)
{
	const IndexPath *index;

	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	index = (const IndexPath *) path;
	if (path->param_info || path->parallel_aware)
		return NULL;
	/* the planner may free its own */
	if (IsA(path, BitmapHeapPath))
		return (Path *) create_bitmap_heap_path(root, rel, unconstify(Path *, bitmap_of(path)), NULL, 1.0, 0);
	if (!IsA(path, IndexPath) || index->indexclauses == NIL || index->indexorderbys || !index->indexinfo->amhasgetbitmap)
		return NULL;
	return (Path *) create_bitmap_heap_path(root, rel, path, NULL, 1.0, 0);
}

Path *
found_path_of_table(PlannerInfo *root, RelOptInfo *rel)
{
	Path	   *found = NULL;
	double		least = 0;
	ListCell   *cell;

	foreach(cell, enable_bitmapscan ? rel->pathlist : NIL)
	{
		Path	   *path = bitmap_path(root, rel, lfirst(cell));
		double		num_pages = path ? found_path_pages(root, path) : 0;

		if (path && (found == NULL || num_pages < least))
		{
			found = path;
			least = num_pages;
		}
	}
	return found;
}
