/*
 * correlated_groups.h
 *		Groups in place of a subquery that aggregates the rows which belong to a row of the query around (correlated.c).
 */
#ifndef MGPU_CORRELATED_GROUPS_H
#define MGPU_CORRELATED_GROUPS_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

/* A subquery that becomes groups. */
typedef struct grouped_subquery
{
	Query	   *groups;			/* its target list: keys, then aggregates */
	List	   *outer;			/* OpExpr, of each key: the equality with a row of the query around, as that has it */
	int			number;			/* among the tables of that query */
	int			num_keys;
	bool		is_bad;			/* an aggregate is not taken */
} grouped_subquery;

/* Whether a subquery always has one row, of aggregates. */
extern bool correlated_has_one_row(const Query *query);

/*
 * Make groups of a subquery with one row, as table number `number` of the query around.  *column: what the subquery's column is there.  false: it
 * stays a subquery.
 */
extern bool correlated_make_groups(const Query *subquery, int number, grouped_subquery *made, Node **column);

/* Leave out groups that no row asks for which meets these conditions of the query around (correlated_wanted.c). */
extern void correlated_leave_wanted(const Query *query, const List *conditions, grouped_subquery *groups);

#endif							/* MGPU_CORRELATED_GROUPS_H */
