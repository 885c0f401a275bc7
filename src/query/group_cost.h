/*
 * group_cost.h
 *		What paths of MgpuGroup cost.
 */
#ifndef MGPU_QUERY_GROUP_COST_H
#define MGPU_QUERY_GROUP_COST_H

#include "query/group_task.h"

/* Most memory that a row takes. */
extern Size group_row_bytes(const group_task *task);

/* Whether rows are to be folded as they come. */
extern bool group_path_folds(const group_task *task, double num_rows, double num_groups);

/* Whether as many folded groups are expected to fit in the memory of a process. */
extern bool group_path_groups_fit(const group_task *task, double num_groups);

/* The cost of a row. */
extern Cost group_row_cost(const group_task *task, bool fold);

/* Set costs and rows of path.  child returns num_rows rows, singly or in packs, in num_groups groups. */
extern void group_path_cost(const group_task *task, Path *path, const Path *child, double num_rows, double num_groups, bool fold);

/* The same of num_groups groups that are merged from num_merged of a job. */
extern void group_path_cost_merged(const group_task *task, Path *path, double num_merged, double num_groups);

/* What PostgreSQL's own plan takes beyond the costs that it counts. */
extern Cost group_path_uncounted(const group_task *task, const Path *own, double num_groups);

/* Take that off the costs of a path, which stay at least those of reading its rows.  Then plans compare as they run. */
extern void group_path_save(const group_task *task, Path *path, const Path *rows, Cost uncounted);

#endif							/* MGPU_QUERY_GROUP_COST_H */
