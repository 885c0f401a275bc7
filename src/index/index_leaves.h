/*
 * index_leaves.h
 *		Leaves of an index that threads fill: with rows in memory that have keys of their own, or numbers of which few are equal.
 */
#ifndef MGPU_INDEX_LEAVES_H
#define MGPU_INDEX_LEAVES_H

#include "index/index_levels.h"
#include "index/index_runs.h"

/*
 * How many of the cursor's next rows are seen to have keys that no row before or behind them has, if that matters, up to most;
 * numbers: and no NULLs.  The cursor's rows are in memory.
 */
extern uint32 index_count_singles(const index_cursor *cursor, uint32 most);

/* Whether the cursor's last row is known to have another key than the next one, which is in memory. */
extern bool index_ends_tuple(const index_cursor *cursor);

/*
 * Add as many leaves as the next rows fill.  The leaf before is full, and its last tuple has the rows from this one to the cursor's
 * last.  The next one has another key.
 */
extern void index_leaves_load(index_tree *tree, index_cursor *cursor, uint64 last);

/* Bytes of a row's tuple; numbers: without NULLs. */
static inline Size
index_row_bytes(const index_rows *rows, uint64 i)
{
	return rows->keys->are_numbers ? rows->keys->plain_bytes : index_item_tuple_bytes(index_strings(rows)[i]);
}

#endif							/* MGPU_INDEX_LEAVES_H */
