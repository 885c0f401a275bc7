/*
 * vqsort.h
 *		The sort of unsigned keys that all others of the core come down to.
 */
#ifndef MGPU_VQSORT_H
#define MGPU_VQSORT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The vectorized (or, without Highway, portable) ascending sort of unsigned
 * keys: width 2, 4, 8, or 16 (lo word first, as hwy::uint128_t).
 */
void		mgpu_vqsort(void *keys, uint64_t num_items, uint32_t width);

/* Choose its instruction set.  Call it before threads that sort are started. */
void		mgpu_vqsort_prepare(void);

/* Name of that sort for users: "vqsort (AVX3_ZEN4)", "portable radix". */
const char *mgpu_vqsort_name(void);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_VQSORT_H */
