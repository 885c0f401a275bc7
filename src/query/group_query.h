/*
 * group_query.h
 *		Queries of MgpuGroup and MgpuRows.
 */
#ifndef MGPU_QUERY_GROUP_QUERY_H
#define MGPU_QUERY_GROUP_QUERY_H

#include "query/group_task.h"
#include "query/query.h"

/* packed: the child returns packs. */
extern query *group_query(const group_task *task, bool packed, group_method method);
extern query *group_rows_query(const group_task *task);

/* The target of a path that returns packs. */
extern PathTarget *group_pack_target(const group_task *task);

#endif							/* MGPU_QUERY_GROUP_QUERY_H */
