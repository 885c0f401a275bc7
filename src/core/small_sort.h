/*
 * small_sort.h
 *		Ranks of a few items, without branches on their values.
 *
 * The rank of an item is the number of items that a stable sort puts before it.
 * Counting takes n * n comparisons that never mispredict, eight at a time.  Up to
 * some tens of items this beats every sort that branches, and vqsort, whose call
 * costs about 300 ns.
 */
#ifndef MGPU_SMALL_SORT_H
#define MGPU_SMALL_SORT_H

#include <stdint.h>

#include "cpu_codec.h"

/* Most items of a call.  Arrays need MGPU_SMALL_SPACE entries, as vectors overrun the items. */
#define MGPU_SMALL_MAX 128
#define MGPU_SMALL_SPACE (MGPU_SMALL_MAX + 8)

/*
 * Most items that this machine ranks faster than vqsort sorts them, by bytes a key;
 * at most MGPU_SMALL_MAX.
 */
uint32_t	mgpu_small_limit(uint32_t key_width);

/*
 * ranks[i] = position of items[i] in the sorted order.  Items compare as signed
 * numbers.  Both arrays have MGPU_SMALL_SPACE entries; those from num_items on are
 * scratch.
 */
void		mgpu_small_ranks_i32(int32_t *items, uint32_t num_items, uint32_t *ranks);
void		mgpu_small_ranks_i64(int64_t *items, uint32_t num_items, uint32_t *ranks);

/* The same for unsigned 128-bit codes. */
void		mgpu_small_ranks_u128(mgpu_u128 *items, uint32_t num_items, uint32_t *ranks);

/* Sort at most MGPU_SMALL_MAX unsigned keys of 2, 4, 8 or 16 bytes by their ranks. */
void		mgpu_small_sort(void *keys, uint32_t num_items, uint32_t width);

#endif							/* MGPU_SMALL_SORT_H */
