/*
 * declined.h
 *		Why the planner took no MgpuGroup node.
 */
#ifndef MGPU_PLAN_DECLINED_H
#define MGPU_PLAN_DECLINED_H

#include "nodes/pathnodes.h"

struct ExplainState;

/* Called once, when the library is loaded. */
extern void declined_init(void);

/*
 * A query level's grouping or DISTINCT has been planned.  why_not is a constant clause, or NULL if the
 * node is the cheapest so far.
 */
extern void report_offer(const PlannerInfo *root, const char *why_not);

/* EXPLAIN prints such a node. */
extern void report_printed(struct ExplainState *es);

#endif							/* MGPU_PLAN_DECLINED_H */
