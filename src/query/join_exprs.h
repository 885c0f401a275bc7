/*
 * join_exprs.h
 *		The expressions of joins (join_path.h), by the names that table jobs have for columns.
 */
#ifndef MGPU_QUERY_JOIN_EXPRS_H
#define MGPU_QUERY_JOIN_EXPRS_H

#include "nodes/pathnodes.h"

/*
 * Columns of the rows, then for each join its clauses, both kinds of conditions, and the columns of its smaller side that are asked for.  But for
 * the last, variables of smaller sides are builds'.  NIL: no job has such joins.
 */
extern List *join_exprs_make(PlannerInfo *root, List *columns, const List *joins);

#endif							/* MGPU_QUERY_JOIN_EXPRS_H */
