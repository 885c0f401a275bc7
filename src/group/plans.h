/*
 * plans.h
 *		Queries of MgpuGroup and MgpuRows.
 */
#ifndef MGPU_GROUP_PLANS_H
#define MGPU_GROUP_PLANS_H

#include "group/task.h"
#include "plan/query.h"

/* packed: the child returns packs. */
extern query *group_query(const group_task *task, bool packed, group_method method);
extern query *group_rows_query(const group_task *task);

/* The target of a path that returns packs. */
extern PathTarget *group_pack_target(const group_task *task);

#endif							/* MGPU_GROUP_PLANS_H */
