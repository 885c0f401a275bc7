/*
 * byte_order.h
 *		Sorts byte strings by jobs of 64-bit codes.
 */
#ifndef MGPU_BYTE_ORDER_H
#define MGPU_BYTE_ORDER_H

#include "byte_source.h"
#include "sort_spec.h"

/*
 * ranks[i] = index of the i-th string in order, in each segment if there are
 * segments (NULL: none; else of these num_items); equal strings keep their order.
 * data_bytes is what mgpu_last_run() shows.
 */
extern void byte_order_ranks(const sort_spec *spec, const segment_list *segments,
							 const byte_source *bytes, int64 num_items, Size data_bytes,
							 uint32 *ranks);

#endif							/* MGPU_BYTE_ORDER_H */
