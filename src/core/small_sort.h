/*
 * small_sort.h
 *		Ranks of a handful of items, without branches on their values.
 *
 * The rank of an item is the number of items that a stable sort puts before it.
 * Counting them costs n * n comparisons that never mispredict, eight at a time;
 * up to some tens of items that beats every sort that branches, and vqsort,
 * whose call costs about 300 ns.
 */
#ifndef MGPU_SMALL_SORT_H
#define MGPU_SMALL_SORT_H

#include <stdint.h>

#include "cpu_codec.h"

/* Most items a call takes; arrays need room for MGPU_SMALL_ROOM. */
#define MGPU_SMALL_MAX 128
#define MGPU_SMALL_ROOM (MGPU_SMALL_MAX + 8)

/*
 * Up to how many items this machine ranks faster than it calls vqsort, by bytes
 * a key; at most MGPU_SMALL_MAX.
 */
uint32_t	mgpu_small_limit(uint32_t key_width);

/*
 * ranks[i] = position of items[i] in the sorted order, for 0 <= i < num_items.
 * Items compare as signed numbers.  Both arrays are of MGPU_SMALL_ROOM; what
 * lies behind num_items may be read and written, and means nothing.
 */
void		mgpu_small_ranks_i32(int32_t *items, uint32_t num_items, uint32_t *ranks);
void		mgpu_small_ranks_i64(int64_t *items, uint32_t num_items, uint32_t *ranks);

/* The same for unsigned 128-bit codes. */
void		mgpu_small_ranks_u128(mgpu_u128 *items, uint32_t num_items, uint32_t *ranks);

#endif							/* MGPU_SMALL_SORT_H */
