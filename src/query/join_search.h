/*
 * join_search.h
 *		Joins as a table job does them best, which PostgreSQL's planner may not keep.
 */
#ifndef MGPU_QUERY_JOIN_SEARCH_H
#define MGPU_QUERY_JOIN_SEARCH_H

#include "nodes/pathnodes.h"

/*
 * The rows of a relation as a job takes least for them: scans of a table or its partitions, or joins (query/join_path.h); NULL if there
 * is no such path.  The planner may not have it.
 */
extern Path *join_search_path(PlannerInfo *root, RelOptInfo *rel);

/* Whether a path is what a relation has as a smaller side, and what that costs, read and as a build. */
extern bool join_search_knows_side(const Path *side, Cost *cost);

/* Equalities that a hash join has of the conditions of a join. */
extern List *join_search_clauses(const JoinPathExtraData *extra, JoinType type, const RelOptInfo *joined, const RelOptInfo *outer, const RelOptInfo *inner);

#endif							/* MGPU_QUERY_JOIN_SEARCH_H */
