/*
 * order.h
 *		Puts keys in order: the one place that sorts anything by positions.
 */
#ifndef MGPU_ORDER_H
#define MGPU_ORDER_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = index of the i-th key in order, inside each segment if there are
 * segments (NULL: one).  Equal keys keep their order.  sorted_words is NULL, or room
 * for the keys' words, where these are the elements: true if they have been put there
 * in order.  Allocates in the current context and frees what it allocates.
 */
extern bool order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
						uint32 *ranks, void *sorted_words);

/* The same by Batcher's odd-even mergesort network: keys are values, equal ones come in any order. */
extern void order_by_network(const sort_spec *spec, const sort_keys *keys, uint32 *ranks);

#endif							/* MGPU_ORDER_H */
