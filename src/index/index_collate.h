/*
 * index_collate.h
 *		Puts rows whose strings are collated in the order of the index's own functions.
 */
#ifndef MGPU_INDEX_COLLATE_H
#define MGPU_INDEX_COLLATE_H

#include "index/index_items.h"

/* Of rows in memory, in the order of their strings. */
extern void index_collate(index_rows *rows);

#endif							/* MGPU_INDEX_COLLATE_H */
