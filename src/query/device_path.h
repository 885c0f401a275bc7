/*
 * device_path.h
 *		Whether a GPU is expected to read a table's rows, to group or to sort them, and what that costs.
 */
#ifndef MGPU_QUERY_DEVICE_PATH_H
#define MGPU_QUERY_DEVICE_PATH_H

#include "nodes/pathnodes.h"

/* The part of a row's cost above its page that is left if a GPU does the work. */
#define DEVICE_PART 0.05

/*
 * rows: a path whose rows have these columns.  may_add_floats: unless floats would be added up in one group, in their
 * order.  What is found out when the query runs may still be that the CPU does it.
 */
extern bool device_path_is_likely(PlannerInfo *root, const Path *rows, List *columns, bool may_add_floats);

/* The cost of such a path's rows, where it is likely. */
extern Cost device_path_scan_cost(const Path *rows);

#endif							/* MGPU_QUERY_DEVICE_PATH_H */
