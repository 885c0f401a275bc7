/*
 * window.h
 *		A running MgpuWindow node.
 */
#ifndef MGPU_EXEC_WINDOW_H
#define MGPU_EXEC_WINDOW_H

#include "exec/reduced.h"
#include "exec/window_range.h"
#include "exec/window_rows.h"

typedef struct window_function
{
	window_kind kind;
	int			column;			/* of the argument, or -1 */
	int			offset;			/* in rows */
	Datum		otherwise;		/* where there is no such row */
	bool		otherwise_is_null;
	int			otherwise_column;	/* that has it, or -1 */

	int			frame;			/* its number */

	/* of an aggregate: the frame so far, and what is returned for it; of WINDOW_FIRST_VALUE: what the partition begins with */
	reduction	reduction;
	bool		takes_back;		/* rows that a frame loses which moves; its state has a context of its own then */
	reduced_values values;
	reduced_state state;
	Datum		result;
	bool		result_is_null;
} window_function;

/* Of a window; all have one order, or none. */
typedef struct frame_state
{
	window_frame end;
	int			preceding;		/* as a query has them */
	int			following;
	const window_range *range;	/* or the distance in the order's key with which it begins */
	MemoryContext states;		/* what states of the partition, or of the frame, point to ... */
	MemoryContext results;		/* ... and results */
	uint64		first;			/* place of its first row ... */
	uint64		behind;			/* ... and behind its last */
} frame_state;

typedef struct window_state
{
	node_state	node;			/* its child is the WindowAgg */
	window_rows input;
	bool		has_rows;		/* it has them; else the child computes */
	row_compare partition;		/* the partition keys */
	row_compare order;			/* the order keys */
	row_compare keys;			/* both */
	int			num_frames;
	frame_state *frames;
	int			num_functions;
	window_function *functions;
	/* rows by their place in the order */
	uint64		place;			/* of the next row */
	uint64		first;			/* of its partition ... */
	uint64		behind;			/* ... and behind its last, if a function asks for that; ... */
	uint64		behind_peers;	/* ... and behind those that are equal in the order, if one does */
	bool		has_end;		/* a function asks for the partition's end, ... */
	bool		has_peers_end;	/* ... or for the peers' */
	int64		rank;
	int64		dense_rank;
} window_state;

/* Whether two rows at hand, by their places, are equal in some keys. */
extern bool window_rows_are_equal(const window_state *state, const row_compare *keys, uint64 a, uint64 b);

/* Of ntile: the part of a partition's row, from 1 on. */
extern int32 window_part_of(uint64 row, uint64 num_rows, uint64 num_parts);

/* Find where the row at state->place stands, which is the next after the one before, and its frames' aggregates. */
extern void window_find_place(window_state *state);

#endif							/* MGPU_EXEC_WINDOW_H */
