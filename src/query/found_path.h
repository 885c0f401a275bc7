/*
 * found_path.h
 *		Paths of a table's rows whose pages an index names.
 */
#ifndef MGPU_QUERY_FOUND_PATH_H
#define MGPU_QUERY_FOUND_PATH_H

#include "nodes/pathnodes.h"

/* The Bitmap Heap Scan of a table, without parameters and by one process, that reads the fewest pages; or NULL. */
extern Path *found_path_of_table(PlannerInfo *root, RelOptInfo *rel);

/* Whether a path is one that a job may read. */
extern bool found_path_is_one(const Path *path);

/* How many rows its index names. */
extern double found_path_rows(const Path *path);

/* How many pages it reads, and what its index costs. */
extern double found_path_pages(PlannerInfo *root, const Path *path);
extern Cost found_path_index_cost(const Path *path);

#endif							/* MGPU_QUERY_FOUND_PATH_H */
