/*
 * plans.h
 *		Turns paths of the plan nodes into plans.
 */
#ifndef MGPU_GROUP_PLANS_H
#define MGPU_GROUP_PLANS_H

#include "nodes/extensible.h"

#include "group/group_node.h"
#include "group/task.h"

/* MgpuGroup, MgpuGroup that returns packs of groups, and MgpuRows. */
extern const CustomPathMethods group_path_methods;
extern const CustomPathMethods partial_path_methods;
extern const CustomPathMethods rows_path_methods;

/* The custom_private of a path with one of the first two. */
extern List *group_path_private(const group_task *task, bool packed, group_method method);

/* The plan of a path whose custom_private has the plan's, then the expressions of the scan tuple. */
extern Plan *plan_of_path(const CustomPath *path, List *tlist, List *custom_plans, const CustomScanMethods *methods);

/* The window function that an entry of a scan tuple is. */
extern Oid	plan_function_of(const TargetEntry *entry);

/* Let EXPLAIN name the window functions in the scan tuple of a plan that is about to run. */
extern void plan_name_functions(CustomScan *scan);

/* The target of a path that returns packs. */
extern PathTarget *group_pack_target(const group_task *task);

#endif							/* MGPU_GROUP_PLANS_H */
