/*
 * unsigned_sort.h
 *		The sort of unsigned keys beneath all other sorts of the core.
 */
#ifndef MGPU_UNSIGNED_SORT_H
#define MGPU_UNSIGNED_SORT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sort unsigned keys in ascending order.  width: 2, 4, 8 or 16 bytes (low word first).
 * scratch: NULL, or memory as large as the keys, which makes a radix sort twice as fast.
 */
void		mgpu_sort_unsigned(void *keys, uint64_t num_items, uint32_t width, void *scratch);

/*
 * Sort some keys in vectors; flip turns a key into its unsigned code by xor.  False, with nothing
 * done: they are too few or too many, or the machine has no vectors for them.
 */
bool		mgpu_sort_flipped(void *keys, uint64_t num_items, uint32_t width, uint64_t flip);

/*
 * Whether this machine sorts many keys of a width by radix, and not by Highway's
 * vqsort.  The first call for a width measures both, in less than a millisecond.
 * mgpu_cpu_tunables.radix overrides that.
 */
bool		mgpu_radix_is_faster(uint32_t width);

/* Nanoseconds a key of the faster of both, measured as above, on some thousand keys. */
double		mgpu_unsigned_sort_ns(uint32_t width);

/* Choose the instruction set.  Call this before starting threads that sort. */
void		mgpu_unsigned_sort_prepare(void);

#endif							/* MGPU_UNSIGNED_SORT_H */
