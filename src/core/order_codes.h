/*
 * order_codes.h
 *		Stable order of codes that fit a cache.
 *
 * A code and its position are packed into one 64-bit number, the code above the
 * position, and vqsort sorts these numbers.  Positions break ties, so the result is
 * stable although vqsort is not.  If code and position need more than 64 bits, the
 * minimum is subtracted from the codes, and then their low bits are dropped.  Items
 * with equal prefixes form short runs, which the same method orders over their own
 * range.  Each level adds at least 32 bits, so there are at most four levels.
 */
#ifndef MGPU_ORDER_CODES_H
#define MGPU_ORDER_CODES_H

#include "cpu_codec.h"

/*
 * Fill packed[0, num_codes): the low mgpu_order_bits(num_codes) bits of entry i are
 * the position of the i-th smallest code.  No heap memory.
 */
void		mgpu_order_codes_u32(const uint32_t *codes, uint64_t *packed, uint32_t num_codes);
void		mgpu_order_codes_u64(const uint64_t *codes, uint64_t *packed, uint32_t num_codes);
void		mgpu_order_codes_u128(const mgpu_u128 *codes, uint64_t *packed, uint32_t num_codes);

/* Bits that hold any position below num_codes. */
static inline unsigned
mgpu_order_bits(uint32_t num_codes)
{
	return num_codes <= 2 ? 1 : 32 - (unsigned) __builtin_clz(num_codes - 1);
}

static inline uint64_t
mgpu_order_mask(uint32_t num_codes)
{
	return (UINT64_C(1) << mgpu_order_bits(num_codes)) - 1;
}

#endif							/* MGPU_ORDER_CODES_H */
