/*
 * float_masks.c
 *		See float_masks.h.
 *
 * A block is first tested for any zero or NaN; only a block that has some gets its
 * masks computed.  Neither step branches on an item.
 *
 * Rejected: a loop over the items of such blocks, since with one special item in
 * fifty nearly every block has one, and mispredicted branches made it ten times as
 * slow.  An AVX-512 variant gained less than 0.05 ns an item.
 */
#include "float_masks.h"

#include "key_codec.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_VARIANTS 1
#include <immintrin.h>
#endif

#define DEFINE_PORTABLE(bits) \
static mgpu_float_masks \
masks_##bits(const uint##bits##_t *items, uint32_t num_items) \
{ \
	mgpu_float_masks masks = {0}; \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		uint##bits##_t magnitude = items[i] & ~MGPU_F##bits##_SIGN; \
		uint64_t	is_nan = magnitude > MGPU_F##bits##_INF; \
		masks.zeros |= (uint64_t) (magnitude == 0) << i; \
		masks.negative_zeros |= (uint64_t) (items[i] == MGPU_F##bits##_SIGN) << i; \
		masks.nans |= is_nan << i; \
		masks.foreign_nans |= (is_nan & (items[i] != MGPU_F##bits##_NAN)) << i; \
	} \
	return masks; \
}

DEFINE_PORTABLE(32)
DEFINE_PORTABLE(64)

/*
 * The test uses the exponents alone, so infinities and subnormals pass it too:
 * compilers vectorize it at the baseline instruction set.
 */
#define DEFINE_HAS_SUSPECT(bits, smallest, infinity) \
static uint32_t \
has_suspect_##bits(const uint##bits##_t *items) \
{ \
	uint32_t	suspect = 0; \
	for (int i = 0; i < MGPU_FLOAT_BLOCK; i++) \
	{ \
		int32_t		magnitude = (int32_t) (items[i] >> (bits - 32)) & INT32_MAX; \
		suspect |= (magnitude < smallest) | (magnitude >= infinity); \
	} \
	return suspect; \
}

DEFINE_HAS_SUSPECT(32, 0x00800000, 0x7F800000)
DEFINE_HAS_SUSPECT(64, 0x00100000, 0x7FF00000)

#define DEFINE_NEXT_PORTABLE(bits) \
static uint64_t \
next_##bits(const uint##bits##_t *items, uint64_t block, uint64_t num_blocks, mgpu_float_masks *masks) \
{ \
	for (; block < num_blocks; block++) \
	{ \
		const uint##bits##_t *here = items + block * MGPU_FLOAT_BLOCK; \
		mgpu_float_masks found; \
		if (has_suspect_##bits(here) == 0) \
			continue; \
		found = masks_##bits(here, MGPU_FLOAT_BLOCK); \
		if ((found.zeros | found.nans) == 0) \
			continue; \
		*masks = found; \
		return block; \
	} \
	return num_blocks; \
}

DEFINE_NEXT_PORTABLE(32)
DEFINE_NEXT_PORTABLE(64)

#ifdef HAVE_X86_VARIANTS

/* Mask of the sign bits of a vector's lanes. */
#define SIGNS_32(vector) ((uint32_t) _mm256_movemask_ps(_mm256_castsi256_ps(vector)))
#define SIGNS_64(vector) ((uint32_t) _mm256_movemask_pd(_mm256_castsi256_pd(vector)))

/* Magnitudes have no sign bit, so signed comparisons give the unsigned result. */
#define DEFINE_NEXT_AVX2(bits, element, lanes) \
__attribute__((target("avx2"))) \
static uint64_t \
next_##bits##_avx2(const uint##bits##_t *items, uint64_t block, uint64_t num_blocks, mgpu_float_masks *masks) \
{ \
	const __m256i signs = _mm256_set1_##element((int##bits##_t) MGPU_F##bits##_SIGN); \
	const __m256i infinities = _mm256_set1_##element((int##bits##_t) MGPU_F##bits##_INF); \
	const __m256i own_nans = _mm256_set1_##element((int##bits##_t) MGPU_F##bits##_NAN); \
	const __m256i zero = _mm256_setzero_si256(); \
	for (; block < num_blocks; block++) \
	{ \
		const uint##bits##_t *here = items + block * MGPU_FLOAT_BLOCK; \
		__m256i		suspects = zero; \
		for (int i = 0; i < MGPU_FLOAT_BLOCK; i += lanes) \
		{ \
			__m256i		magnitudes = _mm256_andnot_si256(signs, _mm256_loadu_si256((const __m256i *) (here + i))); \
			suspects = _mm256_or_si256(suspects, _mm256_cmpeq_epi##bits(magnitudes, zero)); \
			suspects = _mm256_or_si256(suspects, _mm256_cmpgt_epi##bits(magnitudes, infinities)); \
		} \
		if (_mm256_testz_si256(suspects, suspects)) \
			continue; \
		*masks = (mgpu_float_masks) {0}; \
		for (int i = 0; i < MGPU_FLOAT_BLOCK; i += lanes) \
		{ \
			__m256i		bits_here = _mm256_loadu_si256((const __m256i *) (here + i)); \
			__m256i		magnitudes = _mm256_andnot_si256(signs, bits_here); \
			uint64_t	zeros = SIGNS_##bits(_mm256_cmpeq_epi##bits(magnitudes, zero)); \
			uint64_t	nans = SIGNS_##bits(_mm256_cmpgt_epi##bits(magnitudes, infinities)); \
			masks->zeros |= zeros << i; \
			masks->negative_zeros |= (zeros & SIGNS_##bits(bits_here)) << i; \
			masks->nans |= nans << i; \
			masks->foreign_nans |= (nans & ~(uint64_t) SIGNS_##bits(_mm256_cmpeq_epi##bits(bits_here, own_nans))) << i; \
		} \
		return block; \
	} \
	return num_blocks; \
}

DEFINE_NEXT_AVX2(32, epi32, 8)
DEFINE_NEXT_AVX2(64, epi64x, 4)

#endif

uint64_t
mgpu_float_next_special(const void *items, uint32_t width, uint64_t block, uint64_t num_blocks,
						bool vectors, mgpu_float_masks *masks)
{
#ifdef HAVE_X86_VARIANTS
	if (vectors && __builtin_cpu_supports("avx2"))
		return width == 4 ? next_32_avx2(items, block, num_blocks, masks) :
			next_64_avx2(items, block, num_blocks, masks);
#endif
	return width == 4 ? next_32(items, block, num_blocks, masks) : next_64(items, block, num_blocks, masks);
}

mgpu_float_masks
mgpu_float_masks_of(const void *items, uint32_t width, uint32_t num_items)
{
	return width == 4 ? masks_32(items, num_items) : masks_64(items, num_items);
}
