/*
 * vqsort.h
 *		The sort of unsigned keys beneath all other sorts of the core.
 */
#ifndef MGPU_VQSORT_H
#define MGPU_VQSORT_H

#include <stdint.h>

/*
 * Sort unsigned keys in ascending order, vectorized with Highway, portable without.
 * width: 2, 4, 8 or 16 bytes (low word first, as hwy::uint128_t).
 */
void		mgpu_vqsort(void *keys, uint64_t num_items, uint32_t width);

/* Choose the instruction set.  Call this before starting threads that sort. */
void		mgpu_vqsort_prepare(void);

#endif							/* MGPU_VQSORT_H */
