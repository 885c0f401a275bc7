/*
 * look_ups.h
 *		What look-ups in indexes cost, in paths of PostgreSQL's that compete with a job.
 */
#ifndef MGPU_QUERY_LOOK_UPS_H
#define MGPU_QUERY_LOOK_UPS_H

#include "nodes/pathnodes.h"

/*
 * What the look-ups in PostgreSQL's cheapest path of some rows are likely to cost less than it counts; below 0: more.  0 where the statement's tables are larger
 * than effective_cache_size.
 */
extern Cost look_ups_saving(PlannerInfo *root, const RelOptInfo *rel);

#endif							/* MGPU_QUERY_LOOK_UPS_H */
