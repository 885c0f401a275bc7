/*
 * group_count.h
 *		How many groups are expected.
 */
#ifndef MGPU_QUERY_GROUP_COUNT_H
#define MGPU_QUERY_GROUP_COUNT_H

#include "nodes/pathnodes.h"

/* Groups of so many rows by some keys, which are expressions of a query: at least one, whatever the keys are. */
extern double group_count(PlannerInfo *root, List *keys, double num_rows);

#endif							/* MGPU_QUERY_GROUP_COUNT_H */
