/*
 * window.h
 *		MgpuWindow, a plan node that computes window functions over the sorted rows of an MgpuSort node.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		PostgreSQL's WindowAgg over the MgpuSort, which returns the scan tuple
 *	 custom_scan_tlist	the scan tuple: the columns of the sort, then the window functions
 *	 custom_private		a query
 */
#ifndef MGPU_EXEC_WINDOW_H
#define MGPU_EXEC_WINDOW_H

#include "batch/row_compare.h"
#include "exec/sort.h"

typedef struct window_function
{
	window_kind kind;
	int			column;			/* of the argument, or -1 */
	int			offset;			/* in rows */
	Datum		otherwise;		/* where there is no such row */
	bool		otherwise_is_null;

	/* of the frame so far: a count, or a sum */
	int64		integer;
	double		real;
	bool		has_value;
} window_function;

/* A running node. */
typedef struct window_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	PlanState  *core;			/* the WindowAgg */
	sort_state *sort;			/* its child */
	bool		prepared;		/* the rows are sorted */

	row_compare partition;		/* the partition keys */
	row_compare order;			/* the order keys */
	window_frame frame;
	int			num_functions;
	window_function *functions;
	bool		has_aggregates;

	/* rows by their place in the order */
	uint64		place;			/* of the next row */
	uint64		first;			/* of its partition */
	uint64		frame_end;		/* behind its frame */
	int64		rank;
	int64		dense_rank;
} window_state;

/* Compute all functions of the row at a place, which is the one after the last (window_values.c).  May leave memory behind. */
extern void window_compute(window_state *state, Datum *values, bool *is_null);

#endif							/* MGPU_EXEC_WINDOW_H */
