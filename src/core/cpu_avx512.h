/*
 * cpu_avx512.h
 *		HAVE_AVX512_VARIANT, and comparators on AVX-512 vectors of 32-bit and
 *		64-bit codes.
 */
#ifndef MGPU_CPU_AVX512_H
#define MGPU_CPU_AVX512_H

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX512_VARIANT 1

#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx512f")))
#define INLINE __attribute__((target("avx512f"), always_inline)) static inline

/* Compare lanes with their partners: lanes in mask get the maximum, others the minimum. */
#define EXCHANGE(bits, items, partners, mask) \
do { \
	__m512i		partner_items = (partners); \
	items = _mm512_mask_max_epu##bits(_mm512_min_epu##bits(items, partner_items), mask, items, partner_items); \
} while (0)

/* Partners at a distance in 32-bit lanes; a 64-bit lane counts as two. */
#define NEAR_1(items) _mm512_shuffle_epi32(items, _MM_PERM_CDAB)
#define NEAR_2(items) _mm512_shuffle_epi32(items, _MM_PERM_BADC)
#define NEAR_4(items) _mm512_shuffle_i64x2(items, items, 0xB1)
#define NEAR_8(items) _mm512_shuffle_i64x2(items, items, 0x4E)

/* Sort a bitonic vector. */
INLINE __m512i
clean_32(__m512i items)
{
	EXCHANGE(32, items, NEAR_8(items), 0xFF00);
	EXCHANGE(32, items, NEAR_4(items), 0xF0F0);
	EXCHANGE(32, items, NEAR_2(items), 0xCCCC);
	EXCHANGE(32, items, NEAR_1(items), 0xAAAA);
	return items;
}

INLINE __m512i
clean_64(__m512i items)
{
	EXCHANGE(64, items, NEAR_8(items), 0xF0);
	EXCHANGE(64, items, NEAR_4(items), 0xCC);
	EXCHANGE(64, items, NEAR_2(items), 0xAA);
	return items;
}

INLINE __m512i
reverse_32(__m512i items)
{
	return _mm512_permutexvar_epi32(_mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
									items);
}

INLINE __m512i
reverse_64(__m512i items)
{
	return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), items);
}

/* Mask of the lanes of vector i that hold an item, if vectors from 0 on hold num_items. */
#define DEFINE_LANES_USED(bits, num_lanes, mask_type) \
INLINE mask_type \
lanes_used_##bits(uint32_t num_items, int i) \
{ \
	uint32_t	before = (uint32_t) i * num_lanes; \
	if (num_items >= before + num_lanes) \
		return (mask_type) -1; \
	return num_items <= before ? 0 : (mask_type) ((1u << (num_items - before)) - 1); \
}

DEFINE_LANES_USED(32, 16, __mmask16)
DEFINE_LANES_USED(64, 8, __mmask8)

#endif

#endif							/* MGPU_CPU_AVX512_H */
