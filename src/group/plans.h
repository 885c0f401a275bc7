/*
 * plans.h
 *		Turns paths of MgpuGroup and MgpuRows into plans.
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

/* The target of a path that returns packs. */
extern PathTarget *group_pack_target(const group_task *task);

#endif							/* MGPU_GROUP_PLANS_H */
