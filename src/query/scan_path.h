/*
 * scan_path.h
 *		Paths of rows that may be read from pages as columns, and what they cost.
 */
#ifndef MGPU_QUERY_SCAN_PATH_H
#define MGPU_QUERY_SCAN_PATH_H

#include "nodes/pathnodes.h"

/*
 * The scan of a table that a job reads soonest, or an Append of those of its partitions; or NULL.  Where all pages are read, the planner may have dropped it.
 */
extern Path *scan_path_of_table(PlannerInfo *root, RelOptInfo *rel);

/* Whether a path is the scan of one table by one process, of all its pages or of those that an index names; how many rows it reads. */
extern bool scan_path_is_scan(const Path *path);
extern double scan_path_rows_read(const Path *path);

/* What such a scan costs a job; the part of a row's cost that it is. */
extern Cost scan_path_read_cost(PlannerInfo *root, const Path *path, bool by_gpu);
extern double scan_path_part(bool by_gpu);

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
