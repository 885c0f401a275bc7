/*
 * positions.h
 *		The sorted order of an array's elements, as positions.
 *
 * Elements that are there are put in order by rank, their number among themselves.
 * Then ranks become positions, which count NULL elements too, and NULL elements take
 * their place before or after the others of their segment.
 */
#ifndef MGPU_ORDER_POSITIONS_H
#define MGPU_ORDER_POSITIONS_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = rank of the i-th present element in order, segment by segment.  The
 * source is one-dimensional, of a sortable type, and may be loaded on return.  keys is
 * open on return if an element is present.  sorted_words as in order_ranks.
 */
extern bool present_ranks(const sort_spec *spec, array_source *source, const element_type *type,
						  sort_keys *keys, uint32 *ranks, void *sorted_words);

/*
 * positions[i] = base + 0-based position of the i-th element in order.  The ranks of
 * the present elements are in positions from num_nulls on, and are overwritten.
 */
extern void ranks_to_positions(const sort_spec *spec, const array_source *source, int32 base, int32 *positions);

/* Both. */
extern void sorted_positions(const sort_spec *spec, array_source *source, const element_type *type,
							 int32 base, int32 *positions);

#endif							/* MGPU_ORDER_POSITIONS_H */
