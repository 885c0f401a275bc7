/*
 * scan_path.h
 *		Paths of rows that may be read from pages as columns, and what they cost.
 */
#ifndef MGPU_QUERY_SCAN_PATH_H
#define MGPU_QUERY_SCAN_PATH_H

#include "nodes/pathnodes.h"

/* What a path costs less than PostgreSQL counts if its target is exprs and its tables are read as columns. */
extern Cost scan_saved_cost(PlannerInfo *root, const Path *path, List *exprs);

/* Of paths without parameters, that which costs least so. */
extern Path *scan_cheapest_path(PlannerInfo *root, List *paths, List *exprs);

/* A path with that cost and target over source. */
extern Path *scan_path(PlannerInfo *root, Path *source, List *exprs);

#endif							/* MGPU_QUERY_SCAN_PATH_H */
