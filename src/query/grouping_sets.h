/*
 * grouping_sets.h
 *		GROUPING SETS, ROLLUP and CUBE as several plain groupings of the same rows.
 */
#ifndef MGPU_QUERY_GROUPING_SETS_H
#define MGPU_QUERY_GROUPING_SETS_H

#include "nodes/pathnodes.h"

#include "query/table_job.h"

/* What groups are made of: a GROUP BY, or one of its grouping sets. */
typedef struct grouping
{
	List	   *clauses;		/* of the keys: SortGroupClauses */
	PathTarget *target;			/* what is returned of a group */
	List	   *having;
	List	   *columns;		/* other clauses, whose keys are the first columns that are read */
} grouping;

/* The grouping of a query without grouping sets; target is what is to be returned. */
extern grouping grouping_of_query(const PlannerInfo *root, PathTarget *target);

/* That of one of its sets, a list of sortgrouprefs: keys that it does not have are NULL.  columns: as above. */
extern grouping grouping_of_set(const PlannerInfo *root, PathTarget *target, const List *set, List *columns);

/* The expression of a key, as of rows. */
extern Expr *grouping_key(const PlannerInfo *root, const SortGroupClause *clause);

/* Whether the rows of a path may be read once for each set: from a table as columns, or by a job of joins; always the same rows. */
extern bool grouping_may_reread(PlannerInfo *root, const Path *rows, table_executor executor);

#endif							/* MGPU_QUERY_GROUPING_SETS_H */
