/*
 * window_cells.h
 *		Windows over rows that a job has sorted, as columns: batches of rows for the job of a node above.
 *
 * The job's answer are numbers of 8 bytes and marks, which say where partitions begin and rows differ in the order.  Functions are computed
 * for some rows at a time, one function after the other.  Row by row, as MgpuWindow does it for whoever wants rows, each takes ten times as long.
 */
#ifndef MGPU_EXEC_WINDOW_CELLS_H
#define MGPU_EXEC_WINDOW_CELLS_H

#include "exec/device_query.h"
#include "exec/window.h"

/* Rows of a batch, at most. */
#define CELLS_BATCH_ROWS 4096

/* A column of MgpuWindow's scan tuple: a job's, from this column of its spec on, or a function's result. */
typedef struct cell_value
{
	value_cells cells;
	int			column;			/* -1: a function's result that is no other row's value */
	bool		shows_less;		/* a numeric that may show fewer digits than its form has */
	int			sum;			/* QUOTIENT: a mean: the value that is the sum, behind which the count is; 0: it is none */
} cell_value;

/* The rows of a frame that were added so far. */
typedef struct cell_sum
{
	int64		count;
	int128		integer;
	double		real;
	float4		narrow;
	int64		extreme;		/* bits of the least or greatest value */
} cell_sum;

typedef struct cell_function
{
	window_kind kind;
	reduction	what;			/* of an aggregate */
	cell_value	argument;		/* column -1: none */
	cell_value	otherwise;		/* lag, lead: the column that has what stands for a missing row, or -1: */
	bool		has_constant;	/* it is this one, or NULL */
	int64		constant;
	int			frame;
	int64		offset;
	cell_sum	sum;
	uint64		from;			/* the first row that was added ... */
	uint64		behind;			/* ... and the row behind the last */
} cell_function;

typedef struct cell_frame
{
	window_frame end;
	int			preceding;
	int			following;
	bool		has_range;		/* it begins with a distance in the order's key: */
	window_range range;
	cell_value	key;
	uint64	   *firsts;			/* the first row of the frame of each row of a batch */
	uint64		first;			/* that of the last row */
} cell_frame;

/* Where each row of a batch stands. */
typedef struct cell_stands
{
	uint64		start[CELLS_BATCH_ROWS];	/* of its partition */
	uint64		end[CELLS_BATCH_ROWS];	/* behind that, or behind the rows at hand */
	uint64		peers_end[CELLS_BATCH_ROWS];	/* behind rows that are equal in the order */
	int64		rank[CELLS_BATCH_ROWS];
	int64		dense_rank[CELLS_BATCH_ROWS];
	int64		found[CELLS_BATCH_ROWS];	/* the row whose value a function has: CELLS_NO_ROW, or CELLS_OTHERWISE */
} cell_stands;

#define CELLS_NO_ROW (-1)
#define CELLS_OTHERWISE (-2)

typedef struct window_cells
{
	const device_query *sorted;
	int			num_values;		/* of a row: the sort's columns, functions, and what means are made of, which are functions, too */
	int			num_columns;
	cell_value *values;
	cell_function *functions;
	int			num_frames;
	cell_frame *frames;
	int			num_partition_keys;
	window_reach reach;
	uint64		num_rows;
	Size		most_bytes;		/* of rows at hand */

	/* rows at hand, by their place in the order */
	uint64		first;
	uint64		end;
	uint64		capacity;		/* of the memory that they were read to; 0: they are the answer's */
	uint32	   *marks;
	int64	   *cells[MGPU_GROUP_MAX_COLUMNS];
	uint32		pinned_marks;	/* of the first row of a partition that goes on at hand, though it is not at hand itself */
	int64		pinned_cells[MGPU_GROUP_MAX_COLUMNS];

	/* where rows of the partition that was looked at last end, though they are not at hand */
	bool		counts;			/* a function asks for that */
	uint64		looked_from;
	uint64		looked_end;

	/* the next row, and the one before it */
	uint64		next;
	uint64		start;
	int64		rank;
	int64		dense_rank;
	bool		fails;			/* a sum is beyond its number, or rows that are looked at together beyond memory */
	cell_stands *stands;
	MemoryContext values_context;	/* of a batch's values */
} window_cells;

/* In the current context: what a window's rows are as cells of a job that sorts them.  NULL: some have none. */
extern window_cells *window_cells_create(const query *query, const CustomScan *scan, const table_job *job);

/* Whether rows that are all looked at together, so many as expected, are likely to be in memory: to sort them would be in vain. */
extern bool window_cells_may_start(const window_cells *cells, const table_job *job, double num_rows);

/* The rows are there.  false: they cannot be looked at together. */
extern bool window_cells_start(window_cells *cells, const device_query *sorted);

/* Write the next rows' values of some attributes of the scan tuple to a batch (core/input_batch.h): its bytes, or 0 at the end, or if it fails. */
extern uint32 window_cells_fill(window_cells *cells, const table_job *job, char *batch, Size bytes);

extern void window_cells_free(window_cells *cells);

/* A numeric that shows digits of its own, as it is stored. */
#define WINDOW_NUMERIC_BYTES 32

/* Have at hand what the next rows look at.  false: that is too much. */
extern bool window_cells_reach(window_cells *cells, uint32 num_rows);

/* Of rows behind those at hand, the first one with a mark, or the end of all. */
extern uint64 window_cells_look_ahead(window_cells *cells, uint32 marks);

/* The first row of the frame of a batch's row, and that behind its last. */
extern void window_cells_find_frame(const window_cells *cells, const cell_frame *frame, uint32 i, uint64 *first, uint64 *behind);

/* ---- of the above (window_sums.c): the value of an aggregate for each row of a batch, from `next` on.  NULL where is_null says so. */
extern void window_sums_compute(window_cells *cells, cell_function *function, uint32 num_rows, int64 *results, bool *are_null);

/* Whether it is one of those, and the form of what it returns. */
extern bool window_sums_describe(cell_function *function, reduction what, Oid result_type, value_cells *result);

static inline bool
window_cell_is_null(const window_cells *cells, int column, uint64 place)
{
	return ((place >= cells->first ? cells->marks[place - cells->first] : cells->pinned_marks) >> column & 1) != 0;
}

static inline int64
window_cell(const window_cells *cells, int column, uint64 place)
{
	return place >= cells->first ? cells->cells[column][place - cells->first] : cells->pinned_cells[column];
}

#endif							/* MGPU_EXEC_WINDOW_CELLS_H */
