/*
 * index_order.h
 *		Sorts the rows of an index that are in memory.
 */
#ifndef MGPU_INDEX_ORDER_H
#define MGPU_INDEX_ORDER_H

#include "index/index_items.h"

/* Sort the items that are in memory. */
extern void index_rows_sort(index_rows *rows);

/* Have index_may_be_equal know more of the strings that are in memory. */
extern void index_rows_compare(index_rows *rows);

#endif							/* MGPU_INDEX_ORDER_H */
