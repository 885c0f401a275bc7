/*
 * vqsort_highway.h
 *		C interface of Highway's vqsort, in builds that have it
 *		(MGPU_WITH_HIGHWAY).
 *
 * Unsigned keys alone: Highway 1.0.3, which Debian 12 ships, turns infinities into
 * finite numbers and loses NaN when it sorts floats itself.
 */
#ifndef MGPU_VQSORT_HIGHWAY_H
#define MGPU_VQSORT_HIGHWAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Choose the instruction set.  Call this before threads start. */
void		mgpu_highway_prepare(void);

/* Ascending, in place, any thread; width 2, 4, 8 or 16 bytes. */
void		mgpu_highway_sort(void *keys, uint64_t num_items, uint32_t width);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_VQSORT_HIGHWAY_H */
