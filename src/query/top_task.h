/*
 * top_task.h
 *		What a query asks an MgpuTop or MgpuSort node to do.
 */
#ifndef MGPU_QUERY_TOP_TASK_H
#define MGPU_QUERY_TOP_TASK_H

#include "nodes/pathnodes.h"

#include "query/query.h"

typedef struct top_task
{
	PlannerInfo *root;
	const char *why_not;		/* a clause, once the node cannot do it */

	List	   *columns;		/* expressions that the child computes */
	WindowFunc *function;		/* the rows' number, or NULL */
	List	   *partitions;		/* expressions */
	query	   *query;			/* of the keys, the rule and the count; its kind is that of the node that is offered */

	Size		cell_bytes;		/* estimates for a row: the cells of its columns, */
	Size		value_bytes;	/* and its values of variable width */
	bool		compares;		/* the first order key has no codes */
} top_task;

/*
 * Find out what is asked for.  False: the node cannot do it, and why_not says why.  Windows are those of a
 * subquery, whose rows are to meet conditions; attribute numbers of conditions' variables are of the relation varno.
 */
extern bool top_task_of_window(top_task *task, PlannerInfo *root, List *conditions, Index varno);
extern bool top_task_of_distinct_on(top_task *task, PlannerInfo *root, const PathTarget *target);
extern bool top_task_of_order(top_task *task, PlannerInfo *root, const PathTarget *input);
extern bool top_task_of_sort(top_task *task, PlannerInfo *root, const SortPath *sort);

#endif							/* MGPU_QUERY_TOP_TASK_H */
