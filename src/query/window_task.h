/*
 * window_task.h
 *		What WindowAggs over an MgpuSort ask an MgpuWindow node to do.
 */
#ifndef MGPU_QUERY_WINDOW_TASK_H
#define MGPU_QUERY_WINDOW_TASK_H

#include "nodes/pathnodes.h"

#include "query/query.h"

typedef struct window_task
{
	const char *why_not;		/* a clause, once the node cannot do it */
	List	   *windows;		/* WindowClauses, of each frame */
	const WindowClause *ordered;	/* that which has an order, if one has */
	List	   *columns;		/* expressions: those of the sort */
	List	   *functions;		/* WindowFuncs, each once */
	List	   *conditions;		/* that rows meet, of these: of the last window */
	query	   *query;
} window_task;

/* Make one of a WindowAgg, and of those below it.  False: the node cannot do it, and task->why_not says why. */
extern bool window_task_make(window_task *task, const PlannerInfo *root, const WindowAggPath *path);

/* What a function is computed of: its first argument where its FILTER is true.  NULL: of nothing. */
extern Expr *window_task_argument(const WindowFunc *function);

/* Where the rows of windows come from: through other windows. */
extern const Path *window_task_below(const Path *path);

/* Why windows are left to PostgreSQL. */
extern const char *const window_task_others;

#endif							/* MGPU_QUERY_WINDOW_TASK_H */
