/*
 * index_runs.h
 *		Sorted runs of index rows in temporary files, and all rows of a build in order.
 */
#ifndef MGPU_INDEX_RUNS_H
#define MGPU_INDEX_RUNS_H

#include "index/index_items.h"

/* Sort the rows in memory, write them to a file, and forget them. */
extern void index_rows_spill(index_rows *rows);

/* Forget all rows, and close the files. */
extern void index_rows_end(index_rows *rows);

/* A row on its way to the index. */
typedef struct index_cursor
{
	index_rows *rows;
	uint64		next;			/* of the items in memory */
	struct binaryheap *heap;	/* of runs; NULL: all rows are in memory */
	bool		has_row;
	bool		merges;			/* rows of equal keys, to one tuple; set by the caller, as is the next one */
	bool		equals_matter;	/* they are merged, or not allowed */

	/* the row; the tuple is valid until the next one is fetched, the entry of a string one longer */
	IndexTuple	tuple;
	bool		is_dead;
	bool		is_equal;		/* to the one before */
	bool		is_single;		/* the next one is not equal to it; false: that is not known */
	mgpu_u128	number;			/* with its place */
	uint64		code;			/* a string's first 8 bytes */
	const index_entry *entry;
	uint64		made[INDEX_NUMBER_TUPLE_BYTES / sizeof(uint64)];	/* of a number */
	char	   *entries[2];		/* those of runs: this one's and the last one's */
	Size		spaces[2];
} index_cursor;

/* Sort all rows, of which no more come. */
extern void index_cursor_start(index_cursor *cursor, index_rows *rows);

/* Fetch the next row.  False: there is none. */
extern bool index_cursor_next(index_cursor *cursor);

/* Pass over rows in memory: the row before this one becomes the last that was fetched. */
extern void index_cursor_skip(index_cursor *cursor, uint64 next);

/* Whether a key of the row is NULL. */
extern bool index_cursor_has_null(const index_cursor *cursor);

#endif							/* MGPU_INDEX_RUNS_H */
