/*
 * order_collated.h
 *		Makes sure that collated strings (keys/collated.h) are in the server's order.
 */
#ifndef MGPU_ORDER_ORDER_COLLATED_H
#define MGPU_ORDER_ORDER_COLLATED_H

#include <locale.h>
#include <stdatomic.h>

#include "core/byte_keys.h"

#include "array/array_segments.h"
#include "threads.h"

typedef struct collated_order
{
	const mgpu_byte_keys *keys;
	locale_t	locale;
	const segment_list *segments;	/* NULL: one */
	int64		num_items;
	uint32	   *ranks;			/* of the strings, in order of their bytes */
	_Atomic bool is_wrong;
} collated_order;

/*
 * Compare each string with the next as the server does, and move those that are near their places.
 * False: the ranks, which are all there, are still in another order.
 */
extern bool order_collate_neighbours(collated_order *order, thread_work *work);

/* Sort the ranks by the server's comparison, stably. */
extern void order_by_collation(collated_order *order);

#endif							/* MGPU_ORDER_ORDER_COLLATED_H */
