/*
 * sort.h
 *		MgpuSort, a plan node that sorts rows.
 *
 * Contents of its CustomScan: those of MgpuTop (top.h), without partition keys and a window function.
 */
#ifndef MGPU_EXEC_SORT_H
#define MGPU_EXEC_SORT_H

#include "nodes/extensible.h"

#include "batch/row_order.h"
#include "exec/device_rows.h"
#include "exec/row_history.h"
#include "batch/sort_runs.h"
#include "query/top_task.h"
#include "scan/row_source.h"

extern const CustomExecMethods sort_exec_methods;

/* A running node. */
typedef struct sort_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	row_source *source;
	row_history history;
	chunk	   *rows;
	Size		row_bytes;		/* most memory that a row takes, but for its values of variable width */
	Size		key_bytes;		/* keys of variable width, of the first num_counted rows */
	uint64		num_counted;
	row_order	order;
	group_input input;			/* one group; its context has all memory derived from the rows */
	const uint32 *numbers;		/* of the rows, in order; NULL: they are in order */
	device_rows device;			/* if a GPU has sorted them */
	uint64		place;			/* of the next row to return */
	row_compare run_order;
	sort_runs  *runs;			/* have all rows if they do not fit, else NULL */
	bool		sorted;			/* all rows have been read and sorted */

	/* for EXPLAIN */
	Size		most_bytes;
	const char *executor;
	const char *algorithm;
	int			num_threads;
} sort_state;

/* The number of the row at a place in the order. */
static inline uint64
sort_row_at(const sort_state *state, uint64 place)
{
	return state->numbers ? state->numbers[place] : place;
}

/* Whether all rows, which are sorted, are in memory. */
static inline bool
sort_has_all_rows(const sort_state *state)
{
	return state->runs == NULL && (state->device.query == NULL || !state->device.query->request.in_files);
}

/* Read and sort all rows, unless that has been done.  If all are in memory, they are in rows, by sort_row_at. */
extern void sort_prepare(sort_state *state);

/* Fetch values of rows that come soon after a place in the order: they lie anywhere. */
extern void sort_fetch_ahead(const sort_state *state, uint64 place);

/* ExplainCustomScan (sort_explain.c). */
extern void sort_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_EXEC_SORT_H */
