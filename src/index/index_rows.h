/*
 * index_rows.h
 *		Collects the rows of an index that is built.
 */
#ifndef MGPU_INDEX_ROWS_H
#define MGPU_INDEX_ROWS_H

#include "index/index_items.h"

/* num_blocks: of the table; 0: it may grow.  The keys are set. */
extern void index_rows_start(index_rows *rows, const index_keys *keys, BlockNumber num_blocks, Size memory, thread_work *work);

/* Add a row.  Does nothing once why_not is set.  Values may be toasted. */
extern void index_rows_add(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead);

/* Make room for so many more items, with so many bytes of entries.  Those that are there may go to a file. */
extern void index_rows_reserve(index_rows *rows, uint64 num_items, Size entry_bytes);

/* Give a maker a block with room for so many bytes. */
extern void index_rows_add_block(index_rows *rows, index_maker *maker, Size needed);

/* Values do not fit in numbers. */
extern void index_rows_need_strings(index_rows *rows);

#endif							/* MGPU_INDEX_ROWS_H */
