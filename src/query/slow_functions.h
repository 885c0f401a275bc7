/*
 * slow_functions.h
 *		What functions take that PostgreSQL counts like an addition, where one process calls them.
 */
#ifndef MGPU_QUERY_SLOW_FUNCTIONS_H
#define MGPU_QUERY_SLOW_FUNCTIONS_H

#include "nodes/pathnodes.h"

/*
 * What the calls in an expression, or a list of some, cost one process that computes it for rows of a path, beyond what they cost each of the workers that would
 * share a scan of these.  0: no workers would, or they do below the path.
 */
extern Cost slow_functions_cost(PlannerInfo *root, const Path *rows, List *exprs);

/* What conditions of a table's row cost beyond what PostgreSQL counts, where a job computes them: texts that are compared in the order of a language. */
extern Cost slow_comparisons_cost(const RelOptInfo *rel);

#endif							/* MGPU_QUERY_SLOW_FUNCTIONS_H */
