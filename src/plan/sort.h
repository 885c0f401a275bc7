/*
 * sort.h
 *		MgpuSort, a plan node that sorts rows.
 */
#ifndef MGPU_PLAN_SORT_H
#define MGPU_PLAN_SORT_H

#include "plan/top_task.h"

/* Offer the node for an ORDER BY.  Returns why it is not taken, NULL if it is the cheapest so far. */
extern const char *sort_offer(const top_task *task, RelOptInfo *input_rel, RelOptInfo *output_rel);

#endif							/* MGPU_PLAN_SORT_H */
