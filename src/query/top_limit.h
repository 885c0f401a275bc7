/*
 * top_limit.h
 *		How many of its first rows a query wants.
 */
#ifndef MGPU_QUERY_TOP_LIMIT_H
#define MGPU_QUERY_TOP_LIMIT_H

#include "nodes/pathnodes.h"

/* A larger limit is none. */
#define TOP_MOST_ROWS (64 * 1024 * 1024)

/*
 * The largest value of a window function that is wanted of a subquery, whose PlannerInfo is root.  It comes from run
 * conditions, and from conditions on the relation varno that the subquery is; the latter are checked again above.
 * 0: there is none, and *why_not says why.
 */
extern int64 top_limit_of(PlannerInfo *root, const WindowClause *window, const WindowFunc *function, List *conditions,
						  Index varno, const char **why_not);

/* LIMIT and OFFSET together, 0 if the number of rows is not known to be limited. */
extern int64 top_limit_of_query(const Query *query);

#endif							/* MGPU_QUERY_TOP_LIMIT_H */
