/*
 * cpu_vector_sort.c
 *		Sorting networks in vector registers.  See cpu_vector.h.
 *
 * Bitonic networks (Batcher 1968) with whole vectors as comparators: a vector is
 * compared with a shuffle of itself, and one masked maximum over the minima puts
 * each lane's result in place.  From four vectors on, most comparators need no
 * shuffle (cpu_avx512_columns.h).  Up to sixteen vectors stay in registers.  vqsort's
 * own base case takes 400 ns for 128 to 256 items; this takes 15 ns for one vector
 * and 80 ns for sixteen.
 */
#include "cpu_avx512_columns.h"
#include "cpu_vector.h"

#ifdef HAVE_AVX512_VARIANT

uint32_t
mgpu_vector_items(uint32_t width)
{
	if ((width != 4 && width != 8) || !__builtin_cpu_supports("avx512f"))
		return 0;
	return 64 / width;
}

/* Sort any vector: build ever longer bitonic sequences of alternating direction. */
INLINE __m512i
sort_vector_32(__m512i items)
{
	EXCHANGE(32, items, NEAR_1(items), 0x6666);
	EXCHANGE(32, items, NEAR_2(items), 0x3C3C);
	EXCHANGE(32, items, NEAR_1(items), 0x5A5A);
	EXCHANGE(32, items, NEAR_4(items), 0x0FF0);
	EXCHANGE(32, items, NEAR_2(items), 0x33CC);
	EXCHANGE(32, items, NEAR_1(items), 0x55AA);
	return clean_32(items);
}

INLINE __m512i
sort_vector_64(__m512i items)
{
	EXCHANGE(64, items, NEAR_2(items), 0x66);
	EXCHANGE(64, items, NEAR_4(items), 0x3C);
	EXCHANGE(64, items, NEAR_2(items), 0x5A);
	return clean_64(items);
}

#define DEFINE_SORT_OF(bits, num_vectors) \
TARGET static void \
sort_##num_vectors##_##bits(const void *codes, void *sorted, uint32_t num_codes, const mgpu_flips *flips) \
{ \
	sort_padded_##bits(codes, sorted, num_codes, num_vectors, flips); \
}

/* Everything for one width; num_vectors is a constant power of two. */
#define DEFINE_SORT(bits, num_lanes, mask_type) \
INLINE void \
sort_two_##bits(__m512i *items) \
{ \
	__m512i		first = sort_vector_##bits(items[0]); \
	__m512i		second = reverse_##bits(sort_vector_##bits(items[1])); \
	items[0] = clean_##bits(_mm512_min_epu##bits(first, second)); \
	items[1] = clean_##bits(_mm512_max_epu##bits(first, second)); \
} \
INLINE void \
sort_padded_##bits(const void *codes, void *sorted, uint32_t num_codes, const int num_vectors, \
				   const mgpu_flips *flips) \
{ \
	__m512i		items[MGPU_MAX_VECTORS]; \
	__m512i		flip_in = _mm512_set1_epi##bits((int##bits##_t) flips->in); \
	__m512i		flip_out = _mm512_set1_epi##bits((int##bits##_t) flips->out); \
	_Pragma("GCC unroll 16") \
	for (int i = 0; i < num_vectors; i++) \
	{ \
		/* lanes without an item become codes of all ones, which sort last */ \
		items[i] = _mm512_mask_loadu_epi##bits(~flip_in, lanes_used_##bits(num_codes, i), \
											   (const char *) codes + i * 64); \
		items[i] = _mm512_xor_si512(items[i], flip_in); \
	} \
	if (num_vectors >= 4) \
		sort_columns_##bits(items, (unsigned) num_vectors); \
	else if (num_vectors == 2) \
		sort_two_##bits(items); \
	else \
		items[0] = sort_vector_##bits(items[0]); \
	_Pragma("GCC unroll 16") \
	for (int i = 0; i < num_vectors; i++) \
		_mm512_mask_storeu_epi##bits((char *) sorted + i * 64, lanes_used_##bits(num_codes, i), \
									 _mm512_xor_si512(items[i], flip_out)); \
} \
DEFINE_SORT_OF(bits, 4) \
DEFINE_SORT_OF(bits, 8) \
DEFINE_SORT_OF(bits, 16)

DEFINE_SORT(32, 16, __mmask16)
DEFINE_SORT(64, 8, __mmask8)

/*
 * Very short segments share a vector.  Each round exchanges neighbours of one
 * segment, first at even lanes and then at odd ones (odd-even transposition); it
 * takes as many rounds as the longest segment has items.
 */
#define MAX_ROUNDS 8

typedef struct segment_group
{
	uint32_t	num_segments;
	uint32_t	num_items;
	uint32_t	followers;		/* bit of each lane that does not begin a segment */
	uint32_t	num_rounds;		/* 0: some segment is too long */
} segment_group;

/* Group the first segments that fit a vector.  Reads 17 heads. */
INLINE segment_group
group_segments(const uint32_t *heads, const uint32_t num_lanes)
{
	__m512i		offsets = _mm512_sub_epi32(_mm512_loadu_si512(heads + 1), _mm512_set1_epi32((int) heads[0]));
	__mmask16	fit = _mm512_cmple_epu32_mask(offsets, _mm512_set1_epi32((int) num_lanes));
	uint32_t	bits = (uint32_t) _mm512_reduce_or_epi32(_mm512_maskz_sllv_epi32(fit, _mm512_set1_epi32(1), offsets));
	segment_group group = {0};
	uint32_t	four;

	if (fit == 0)
		return group;
	group.num_segments = (uint32_t) __builtin_ctz(~(uint32_t) fit);
	group.num_items = 31 - (uint32_t) __builtin_clz(bits);
	group.followers = ~(bits | 1) & ((1u << group.num_items) - 1);
	/* a segment of more than four items has four followers side by side */
	four = group.followers & group.followers >> 1;
	four &= four >> 2;
	group.num_rounds = four == 0 ? 4 : (four & four >> 4) == 0 ? MAX_ROUNDS : 0;
	return group;
}

/* Exchange each lane of lowers with the lane above it. */
#define EXCHANGE_ABOVE(bits, mask_type, items, partners, lowers) \
do { \
	__m512i		partner_items = (partners); \
	__m512i		smaller = _mm512_mask_min_epu##bits(items, (mask_type) (lowers), items, partner_items); \
	items = _mm512_mask_max_epu##bits(smaller, (mask_type) ((lowers) << 1), items, partner_items); \
} while (0)

INLINE __m512i
odd_neighbours_32(__m512i items)
{
	return _mm512_permutexvar_epi32(_mm512_set_epi32(15, 13, 14, 11, 12, 9, 10, 7, 8, 5, 6, 3, 4, 1, 2, 0), items);
}

INLINE __m512i
odd_neighbours_64(__m512i items)
{
	return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 6, 3, 4, 1, 2, 0), items);
}

#define even_neighbours_32(items) NEAR_1(items)
#define even_neighbours_64(items) NEAR_2(items)

#define DEFINE_SORT_GROUP(bits, mask_type) \
INLINE void \
sort_group_##bits(const void *codes, void *sorted, const segment_group *group, const mgpu_flips *flips) \
{ \
	mask_type	used = (mask_type) ((1u << group->num_items) - 1); \
	uint32_t	lowers = group->followers >> 1; \
	__m512i		items = _mm512_maskz_loadu_epi##bits(used, codes); \
	items = _mm512_xor_si512(items, _mm512_set1_epi##bits((int##bits##_t) flips->in)); \
	for (uint32_t round = 0; round < group->num_rounds; round += 2) \
	{ \
		EXCHANGE_ABOVE(bits, mask_type, items, even_neighbours_##bits(items), lowers & 0x5555); \
		EXCHANGE_ABOVE(bits, mask_type, items, odd_neighbours_##bits(items), lowers & 0xAAAA); \
	} \
	items = _mm512_xor_si512(items, _mm512_set1_epi##bits((int##bits##_t) flips->out)); \
	_mm512_mask_storeu_epi##bits(sorted, used, items); \
}

DEFINE_SORT_GROUP(32, __mmask16)
DEFINE_SORT_GROUP(64, __mmask8)

/*
 * Segments of up to two vectors, the common case where there are many, are sorted
 * within the loop: a call costs as much as the network.
 */
#define DEFINE_SORT_SEGMENTS(bits, num_lanes) \
TARGET static uint64_t \
sort_segments_##bits(const void *codes, void *sorted, const uint32_t *heads, uint64_t num_segments, \
					 uint32_t end, const mgpu_flips *flips) \
{ \
	for (uint64_t i = 0; i < num_segments; i++) \
	{ \
		uint32_t	length = (i + 1 < num_segments ? heads[i + 1] : end) - heads[i]; \
		uint64_t	offset = (uint64_t) (heads[i] - heads[0]) * (bits / 8); \
		const void *from = (const char *) codes + offset; \
		void	   *to = (char *) sorted + offset; \
		if (length <= MAX_ROUNDS && num_segments - i > 16) \
		{ \
			segment_group group = group_segments(heads + i, num_lanes); \
			if (group.num_rounds > 0) \
			{ \
				sort_group_##bits(from, to, &group, flips); \
				i += group.num_segments - 1; \
				continue; \
			} \
		} \
		if (length <= num_lanes) \
			sort_padded_##bits(from, to, length, 1, flips); \
		else if (length <= 2 * num_lanes) \
			sort_padded_##bits(from, to, length, 2, flips); \
		else if (length <= 4 * num_lanes) \
			sort_4_##bits(from, to, length, flips); \
		else if (length <= 8 * num_lanes) \
			sort_8_##bits(from, to, length, flips); \
		else if (length <= MGPU_MAX_VECTORS * num_lanes) \
			sort_16_##bits(from, to, length, flips); \
		else \
			return i; \
	} \
	return num_segments; \
}

DEFINE_SORT_SEGMENTS(32, 16)
DEFINE_SORT_SEGMENTS(64, 8)

uint64_t
mgpu_vector_sort_segments(const void *items, void *sorted, const uint32_t *heads,
						  uint64_t num_segments, uint32_t end, const mgpu_flips *flips)
{
	if (flips->width == 4)
		return sort_segments_32(items, sorted, heads, num_segments, end, flips);
	return sort_segments_64(items, sorted, heads, num_segments, end, flips);
}

#else

uint32_t
mgpu_vector_items(uint32_t width)
{
	return 0;
}

/* Never called on machines without vectors. */
uint64_t
mgpu_vector_sort_segments(const void *items, void *sorted, const uint32_t *heads,
						  uint64_t num_segments, uint32_t end, const mgpu_flips *flips)
{
	return 0;
}

#endif
