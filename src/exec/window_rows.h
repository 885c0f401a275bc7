/*
 * window_rows.h
 *		The rows that MgpuWindow has at hand: all that are sorted, or some partitions of them.
 */
#ifndef MGPU_EXEC_WINDOW_ROWS_H
#define MGPU_EXEC_WINDOW_ROWS_H

#include "exec/sort.h"

typedef struct window_rows
{
	sort_state *sort;
	const row_compare *partition;	/* the partition keys */
	const chunk *rows;			/* those at hand ... */
	const uint32 *numbers;		/* ... in this order; NULL: they are in order */
	chunk	   *part;			/* NULL: all are the sort's */
	const chunk *next;			/* what is read, and not at hand yet; NULL: nothing is left */
	uint64		next_row;
} window_rows;

/* The number of the row at a place in the order. */
static inline uint64
window_row_at(const window_rows *input, uint64 place)
{
	return input->numbers ? input->numbers[place] : place;
}

/*
 * Sort, or start again.  False: rows are not all in memory, and have no partitions: WindowAgg has to compute.  A partition has to fit in memory, for which
 * the planner looks at their mean.
 */
extern bool window_rows_start(window_rows *input);

/* Have the next partitions at hand, of some rows together.  False: there are no more, or all rows were. */
extern bool window_rows_next(window_rows *input);

#endif							/* MGPU_EXEC_WINDOW_ROWS_H */
