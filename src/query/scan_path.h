/*
 * scan_path.h
 *		Paths of rows that may be read from pages as columns, and what they cost.
 */
#ifndef MGPU_QUERY_SCAN_PATH_H
#define MGPU_QUERY_SCAN_PATH_H

#include "nodes/pathnodes.h"

/* A sequential scan of a table, or an Append of those of its partitions, by one process; or NULL.  The planner may have dropped it. */
extern Path *scan_path_of_table(PlannerInfo *root, RelOptInfo *rel);

/* What a path costs less than PostgreSQL counts if its target is exprs and its tables are read as columns. */
extern Cost scan_saved_cost(PlannerInfo *root, const Path *path, List *exprs);

/* Whether all tables of a statement are likely to be in a cache: shared buffers, or the system's. */
extern bool scan_is_cached(const PlannerInfo *root);

/*
 * What the pages of a path's tables cost less than PostgreSQL counts, if they are in memory: PostgreSQL's cost of a page is that of reading
 * it from a disk.  0 where the statement's tables are not likely to be.
 */
extern Cost scan_cached_saving(PlannerInfo *root, const Path *path);

/* The only path below one that hands its rows on, or groups them; or NULL. */
extern const Path *scan_path_below(const Path *path);

/* Whether a path has its rows from an MgpuScan, and does no more than to sort and group them. */
extern bool scan_path_is_found(const Path *path);

/* Of paths without parameters, that which costs least so. */
extern Path *scan_cheapest_path(PlannerInfo *root, List *paths, List *exprs);

/* A path with that cost and target over source. */
extern Path *scan_path(PlannerInfo *root, Path *source, List *exprs);

#endif							/* MGPU_QUERY_SCAN_PATH_H */
