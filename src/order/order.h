/*
 * order.h
 *		Orders keys.  All sorts by position go through this file.
 */
#ifndef MGPU_ORDER_H
#define MGPU_ORDER_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = index of the i-th key in order, inside each segment (segments is NULL: one segment).
 * Equal keys keep their order.  sorted_words is NULL, or a buffer for the sorted words, used if
 * these are the elements' own bytes.  Returns true if the buffer was filled.  Allocates in the
 * current context and frees what it allocates.
 */
extern bool order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
						uint32 *ranks, void *sorted_words);

/*
 * Order keys by Batcher's odd-even mergesort network, as one segment.  Keys must be values.
 * Equal keys come in any order.
 */
extern void order_by_network(const sort_spec *spec, const sort_keys *keys, uint32 *ranks);

#endif							/* MGPU_ORDER_H */
