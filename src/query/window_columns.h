/*
 * window_columns.h
 *		Windows whose rows a job above takes as columns (exec/rows_below.h).
 */
#ifndef MGPU_QUERY_WINDOW_COLUMNS_H
#define MGPU_QUERY_WINDOW_COLUMNS_H

#include "nodes/pathnodes.h"

#include "query/query.h"
#include "query/reductions.h"
#include "query/window_task.h"

/* The query by which a job sorts the rows of windows: by partitions, which marks tell apart.  NULL: it cannot. */
extern query *window_columns_query(const query *windows, const query *sort);

/* Whether aggregates of frames are computed over numbers. */
extern bool window_columns_has(reduction what);

/* Whether a job is expected to sort the rows of such windows, and to have their functions as columns.  sort: the MgpuSort below. */
extern bool window_columns_are_likely(PlannerInfo *root, const window_task *task, const CustomPath *sort);

/* Bytes of such a row, and memory for those that are looked at together. */
extern double window_columns_row_bytes(const window_task *task);
extern double window_columns_memory(void);

/* The windows that a path's rows come from, if a job above may have them as columns, or NULL. */
extern const CustomPath *window_columns_below(const Path *rows);

/* A copy of the cheapest path of a subquery whose rows are such, or NULL. */
extern Path *window_columns_source(const RelOptInfo *rel);

/* Whether a job is expected to take the rows of such a path. */
extern bool window_columns_are_taken(const Path *rows);

/* What they cost it. */
extern Cost window_columns_cost(const Path *rows);

#endif							/* MGPU_QUERY_WINDOW_COLUMNS_H */
