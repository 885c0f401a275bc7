/*
 * look_ups.h
 *		What look-ups in indexes and scans cost, in paths of PostgreSQL's that compete with a job.
 */
#ifndef MGPU_QUERY_LOOK_UPS_H
#define MGPU_QUERY_LOOK_UPS_H

#include "nodes/pathnodes.h"

/*
 * What a job of some rows costs beside PostgreSQL's paths of them: its own cost, and what look-ups and pages of the cheapest of these are likely to cost less than PostgreSQL
 * counts.  That may be below 0.  Where the statement's tables are larger than effective_cache_size, they cost what it counts.
 */
extern Cost look_ups_beside(PlannerInfo *root, const RelOptInfo *rel, Cost cost);

#endif							/* MGPU_QUERY_LOOK_UPS_H */
