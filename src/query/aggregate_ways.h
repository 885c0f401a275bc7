/*
 * aggregate_ways.h
 *		The aggregates that MgpuGroup runs, and the ways in which it does.
 */
#ifndef MGPU_QUERY_AGGREGATE_WAYS_H
#define MGPU_QUERY_AGGREGATE_WAYS_H

#include "nodes/primnodes.h"

#include "order/sort_spec.h"

/* How an aggregate is run. */
typedef enum group_way
{
	GROUP_WAY_NONE,
	GROUP_WAY_REDUCE,			/* count, sum, avg … (agg_reduce.c) */
	GROUP_WAY_SORT,				/* one sort of all groups' values (agg_sorted.c) */
	GROUP_WAY_ARRAY,			/* array_agg in any order (agg_array.c) */
	GROUP_WAY_FEED				/* the aggregate's own transition function (agg_feed.c) */
} group_way;

/* What an aggregate of GROUP_WAY_SORT makes of a group's sorted values. */
typedef enum sorted_result
{
	SORTED_ARRAY,
	SORTED_PERCENTILE_CONT,
	SORTED_PERCENTILE_DISC,
	SORTED_MODE,
	SORTED_COUNT_DISTINCT
} sorted_result;

/* How the planner and the executor look at an Aggref. */
typedef struct group_plan
{
	group_way	way;
	sorted_result result;		/* GROUP_WAY_SORT only, as is order */
	sort_order	order;
	const Expr *fraction;		/* of a percentile, else NULL */
} group_plan;

/* The ORDER BY or DISTINCT by which an aggregate's rows are sorted: the longer includes the other. */
extern List *group_sort_clauses(const Aggref *aggref);
extern Oid	group_type_of_clause(const Aggref *aggref, SortGroupClause *clause);
extern sort_order group_order_of_clause(const Aggref *aggref, SortGroupClause *clause);

/* The functions of an aggregate; InvalidOid for those that it does not have. */
typedef struct aggregate_functions
{
	char		kind;			/* pg_aggregate.aggkind */
	Oid			functions[2];	/* transition, final */
} aggregate_functions;

extern aggregate_functions group_functions_of(Oid aggregate);

/* Find out how an aggregate is run.  The way is NONE where it cannot be; then *why_not is a clause. */
extern group_plan group_plan_of(const Aggref *aggref, const char **why_not);

/*
 * The expression that the column of an aggregate's argument holds: the argument, or what a cast of it
 * to float8 has inside where that orders alike.  The latter is smaller to sort.
 */
extern Expr *group_argument(const Aggref *aggref, const group_plan *plan, int n);

/* Whether each group's different values, and how many rows have them, are all that it wants, so that a job may find these. */
static inline bool
group_is_fed_values(const Aggref *aggref, const group_plan *plan)
{
	return (plan->way == GROUP_WAY_FEED && aggref->aggdistinct != NIL) || (plan->way == GROUP_WAY_SORT && plan->result == SORTED_MODE);
}

/* Way and sharing in words, for EXPLAIN. */
extern const char *group_way_name(const group_plan *plan);

/* Size of an aggregate's state of a folded group: of a reduced_state. */
#define GROUP_STATE_BYTES 48

/* Bytes that an aggregate holds for a row beside its columns. */
static inline Size
group_plan_row_bytes(const group_plan *plan)
{
	return plan->way == GROUP_WAY_SORT ? 2 * sizeof(Datum) : plan->way == GROUP_WAY_REDUCE ? 0 : sizeof(uint32);
}

#endif							/* MGPU_QUERY_AGGREGATE_WAYS_H */
