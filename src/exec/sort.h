/*
 * sort.h
 *		MgpuSort's rows, for MgpuWindow, which computes window functions over them.
 */
#ifndef MGPU_EXEC_SORT_H
#define MGPU_EXEC_SORT_H

#include "batch/row_order.h"
#include "batch/sort_runs.h"
#include "exec/device_rows.h"
#include "exec/node.h"

/* A running node. */
typedef struct sort_state
{
	node_state	node;			/* its rows are all, or those of the next run */
	Size		key_bytes;		/* keys of variable width, of the first num_counted rows */
	uint64		num_counted;
	row_order	order;
	group_input input;			/* one group; its context has all memory derived from the rows */
	const uint32 *numbers;		/* of the rows, in order; NULL: they are in order */
	device_rows device;			/* if a GPU has sorted them */
	uint64		place;			/* of the next row to return */
	row_compare run_order;
	sort_runs  *runs;			/* have all rows if they do not fit, else NULL */
	uint64		num_in_runs;

	/* for EXPLAIN */
	device_query *as_cells;		/* a job that has had the rows for one above; NULL: none has */
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

/* How many rows there are, once they are sorted. */
static inline uint64
sort_num_rows(const sort_state *state)
{
	if (state->runs)
		return state->num_in_runs;
	return state->device.query ? state->device.num_rows : state->node.rows->num_rows;
}

/* Read and sort all rows, unless that has been done.  If all are in memory, they are in rows, by sort_row_at. */
extern void sort_prepare(sort_state *state);

/*
 * Have a job read the rows and put them in order by a query of another form, as numbers (table_question), for a job above.  NULL: none can.  The node's
 * own rows stay unread.  Once the answer is not wanted any more, say so: done if the job above has taken all.
 */
extern device_query *sort_read_cells(sort_state *state, const query *query, device_accepts_fn accepts, void *context);
extern void sort_end_cells(sort_state *state, bool done);

/* The next row's number in the chunk that is returned, which both are valid until the next call.  NULL: there are no more. */
extern const chunk *sort_next(sort_state *state, uint64 *row);

/* Fetch values of rows that come soon after a place in the order: they lie anywhere. */
extern void sort_fetch_ahead(const sort_state *state, uint64 place);

#endif							/* MGPU_EXEC_SORT_H */
