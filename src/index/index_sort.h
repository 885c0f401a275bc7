/*
 * index_sort.h
 *		Sorts the items of an index that is built: different numbers of 8, 12 or 16 bytes.
 */
#ifndef MGPU_INDEX_SORT_H
#define MGPU_INDEX_SORT_H

#include "threads.h"

/*
 * Sort items of a width of 8, 12 (index_narrow.h) or 16 bytes.  Returns them sorted, in new memory of the current context, or where
 * they are, if they are in order.
 */
extern void *index_sort(void *items, uint64 num_items, uint32 width, thread_work *work);

#endif							/* MGPU_INDEX_SORT_H */
