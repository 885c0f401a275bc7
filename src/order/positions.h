/*
 * positions.h
 *		The sorted order of an array's elements, as positions.
 *
 * Present elements are ordered by rank, their number among the present elements.  Then ranks
 * become positions, which also count NULL elements, and NULL elements go before or after the
 * others of their segment.
 */
#ifndef MGPU_ORDER_POSITIONS_H
#define MGPU_ORDER_POSITIONS_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = rank of the i-th present element in order, segment by segment.  The source is
 * one-dimensional and of a sortable type, and may be loaded on return.  keys is open on return if
 * an element is present.  sorted_words and the return value are those of order_ranks.
 */
extern bool present_ranks(const sort_spec *spec, array_source *source, const element_type *type,
						  sort_keys *keys, uint32 *ranks, void *sorted_words);

/*
 * positions[i] = base + 0-based position of the i-th element in order.  On entry, the ranks of
 * the present elements are in positions from num_nulls on.  They are overwritten.
 */
extern void ranks_to_positions(const sort_spec *spec, const array_source *source, int32 base, int32 *positions);

/* present_ranks and ranks_to_positions in one call. */
extern void sorted_positions(const sort_spec *spec, array_source *source, const element_type *type,
							 int32 base, int32 *positions);

#endif							/* MGPU_ORDER_POSITIONS_H */
