/*
 * radix_sort.h
 *		A radix sort of unsigned keys, portable.
 */
#ifndef MGPU_RADIX_SORT_H
#define MGPU_RADIX_SORT_H

#include <stdint.h>

/*
 * Sort num_items > 0 unsigned keys in ascending order.  width: 2, 4, 8 or 16 bytes
 * (low word first).  scratch is aligned as the keys are.  Fastest where it is as
 * large as the keys; with less, they are first cut into parts that fit it.  Needs
 * 20 kB of stack and, for keys that do not fit the scratch, 5 kB a byte of the key.
 */
void		mgpu_radix_sort(void *keys, uint64_t num_items, uint32_t width, void *scratch, uint64_t scratch_bytes);

#endif							/* MGPU_RADIX_SORT_H */
