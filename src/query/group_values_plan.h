/*
 * group_values_plan.h
 *		Queries for the different values of groups.
 */
#ifndef MGPU_QUERY_GROUP_VALUES_PLAN_H
#define MGPU_QUERY_GROUP_VALUES_PLAN_H

#include "query/group_task.h"

/*
 * Make the queries of a task (query.values), whose groups are of so many rows: one for each list of columns that aggregates are fed different values
 * of.
 */
extern void group_values_plan(group_task *task, double num_rows);

#endif							/* MGPU_QUERY_GROUP_VALUES_PLAN_H */
