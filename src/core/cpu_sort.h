/*
 * cpu_sort.h
 *		Direct entry to the CPU's sorts, for small arrays and for callers that
 *		hold everything in memory already: no run, no allocation, no interrupts.
 */
#ifndef MGPU_CPU_SORT_H
#define MGPU_CPU_SORT_H

#include "executor.h"
#include "sizes.h"
#include "vqsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Largest call that sort_now takes: under 50 ms of work and no heap memory for
 * keys alone; MGPU_CPU_NOW_PAIRS items for pairs (their scratch is on the
 * stack).  Beyond it, use mgpu_cpu_executor.
 */
#define MGPU_CPU_NOW_KEYS_BYTES MGPU_SIZE(UINT64_C(4) << 20, 16384)
#define MGPU_CPU_NOW_PAIRS MGPU_SIZE(1024, 256)

/*
 * Sort keys[0, num_items) in place, in PostgreSQL's order, stored bytes in and
 * out (floats: -0 and NaN come back canonical, see float_ties.h).
 */
void		mgpu_cpu_sort_keys_now(void *keys, uint64_t num_items, uint32_t key_kind,
								   uint32_t key_width, uint32_t descending);

/* Stable: indices[i] = 0-based position of the i-th smallest; keys untouched. */
void		mgpu_cpu_argsort_now(const void *keys, uint32_t *indices, uint32_t num_items,
								 uint32_t key_kind, uint32_t key_width, uint32_t descending);

/* Unsigned codes of any width in place, ascending; those in order or reversed are noticed. */
void		mgpu_sort_codes(void *codes, uint64_t num_items, uint32_t width);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_CPU_SORT_H */
