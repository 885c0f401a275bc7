/*
 * group_count.h
 *		How many groups are expected.
 */
#ifndef MGPU_QUERY_GROUP_COUNT_H
#define MGPU_QUERY_GROUP_COUNT_H

#include "nodes/pathnodes.h"

/* Groups of so many rows by some keys, which are expressions of a query: at least one, whatever the keys are. */
extern double group_count(PlannerInfo *root, List *keys, double num_rows);

/* Rows of the largest of these groups, as far as statistics tell: common values and NULL make large ones. */
extern double group_largest(PlannerInfo *root, List *keys, double num_rows);

#endif							/* MGPU_QUERY_GROUP_COUNT_H */
