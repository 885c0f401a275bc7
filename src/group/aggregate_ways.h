/*
 * aggregate_ways.h
 *		The aggregates that MgpuGroup runs, and the ways in which it does.
 */
#ifndef MGPU_GROUP_AGGREGATE_WAYS_H
#define MGPU_GROUP_AGGREGATE_WAYS_H

#include "group/aggregate.h"

/* Find out how an aggregate is run.  The way is NONE where it cannot be; then *why_not is a clause. */
extern group_plan group_plan_of(const Aggref *aggref, const char **why_not);

/*
 * The expression that the column of an aggregate's argument holds: the argument, or what a cast of it
 * to float8 has inside where that orders alike.  The latter is smaller to sort.
 */
extern Expr *group_argument(const Aggref *aggref, const group_plan *plan, int n);

/*
 * Make an aggregate of a running node, in the current context.  ereport(ERROR) unless the user may
 * run the aggregate and its owner may run its functions.
 */
extern group_aggregate *group_aggregate_start(const group_aggregate_source *source);

/* Way and sharing in words, for EXPLAIN. */
extern const char *group_way_name(const group_plan *plan);

#endif							/* MGPU_GROUP_AGGREGATE_WAYS_H */
