/*
 * window_rows.h
 *		The rows that MgpuWindow has at hand: all that are sorted, or those around a place in the order.
 */
#ifndef MGPU_EXEC_WINDOW_ROWS_H
#define MGPU_EXEC_WINDOW_ROWS_H

#include "exec/sort.h"
#include "query/window_reach.h"

typedef struct window_rows
{
	sort_state *sort;
	window_reach reach;			/* which rows have to be at hand for one of them */
	const row_compare *together;	/* rows that are equal in these keys are at hand together; no keys: they need not be */
	const chunk *rows;			/* those at hand ... */
	const uint32 *numbers;		/* ... in this order; NULL: they are in order */
	uint64		first;			/* the place of the first one at hand */
	chunk	   *part;			/* these; NULL: all rows are at hand, and are the sort's */
	chunk	   *last_part;		/* memory for the next ones */
	const chunk *next;			/* what is read, and not at hand yet; NULL: nothing is left */
	uint64		next_row;
} window_rows;

/* The number of the row at a place in the order. */
static inline uint64
window_row_at(const window_rows *input, uint64 place)
{
	return input->numbers ? input->numbers[place] : place - input->first;
}

/* The place behind the last row at hand. */
static inline uint64
window_rows_end(const window_rows *input)
{
	return input->first + input->rows->num_rows;
}

/* Sort, or start again.  False: not all rows are in memory, where that is asked for: WindowAgg has to compute. */
extern bool window_rows_start(window_rows *input);

/*
 * Have at hand what a place's row asks for; places go on one by one.  partition: where that of the row before begins.  False: there is no such row.  What is
 * at hand together has to fit in memory, for which the planner looks at the mean.
 */
extern bool window_rows_reach(window_rows *input, uint64 place, uint64 partition);

#endif							/* MGPU_EXEC_WINDOW_ROWS_H */
