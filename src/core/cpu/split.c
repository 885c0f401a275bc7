/*
 * split.c
 *		Two-way splits of codes, and bucket order by recursive splits.
 *
 * A chunk that stays in cache is split by the middle bound, then each side by its
 * own middle bound, like a quicksort with known pivots.  That takes log2(buckets)
 * passes, each with a compare and two compress stores a vector.  Codes that stay in
 * front are compacted in place, where writes never overtake reads.  The others go to
 * a spill area and are copied behind them.
 *
 * Rejected: a search tree and a scatter for each item, 3.6 ns an item against 0.9
 * for splits into eight buckets.  That is more than vqsort saves by having buckets.
 * An AVX-512 variant gained nothing for codes of 4 bytes and a sixth for those of
 * 8.
 */
#include "core/cpu/split.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_VARIANTS 1
#include <immintrin.h>
#endif

#define DEFINE_SPLIT_PORTABLE(name, type) \
static uint64_t \
name(type *codes, uint64_t num_items, uint64_t begin, uint64_t front, type bound, type *spill) \
{ \
	uint64_t	num_spilled = begin - front; \
	for (uint64_t i = begin; i < num_items; i++) \
	{ \
		type		code = codes[i]; \
		bool		stays = code <= bound; \
		codes[front] = code; \
		spill[num_spilled] = code; \
		front += stays; \
		num_spilled += !stays; \
	} \
	memcpy(codes + front, spill, num_spilled * sizeof(type)); \
	return front; \
}

/* Items before begin are split already: front of them stand in front, the others in spill. */
DEFINE_SPLIT_PORTABLE(split_tail_4, uint32_t)
DEFINE_SPLIT_PORTABLE(split_tail_8, uint64_t)
DEFINE_SPLIT_PORTABLE(split_tail_16, mgpu_u128)

#ifdef HAVE_X86_VARIANTS

/*
 * For each of 256 masks, the lanes of a vector of 8 whose bit is set, lowest first.
 * A constructor fills the table, so that threads find it ready.
 */
static uint32_t compress_lanes[256][8] __attribute__((aligned(32)));

__attribute__((constructor))
static void
fill_compress_lanes(void)
{
	for (unsigned mask = 0; mask < 256; mask++)
	{
		unsigned	length = 0;

		for (unsigned lane = 0; lane < 8; lane++)
			if (mask >> lane & 1)
				compress_lanes[mask][length++] = lane;
	}
}

__attribute__((target("avx2")))
static __m256i
compress_8_lanes(__m256i items, unsigned mask)
{
	__m256i		lanes = _mm256_load_si256((const __m256i *) compress_lanes[mask]);

	return _mm256_permutevar8x32_epi32(items, lanes);
}

__attribute__((target("avx2,popcnt")))
static uint64_t
split_4_avx2(uint32_t *codes, uint64_t num_items, uint32_t bound, uint32_t *spill)
{
	__m256i		sign = _mm256_set1_epi32((int) MGPU_F32_SIGN);
	__m256i		bounds = _mm256_set1_epi32((int) (bound ^ MGPU_F32_SIGN));
	uint64_t	front = 0;
	uint64_t	begin = 0;
	uint32_t   *next_spill = spill;

	for (; begin + 8 <= num_items; begin += 8)
	{
		__m256i		items = _mm256_loadu_si256((const __m256i *) (codes + begin));
		__m256i		above = _mm256_cmpgt_epi32(_mm256_xor_si256(items, sign), bounds);
		unsigned	leaves = (unsigned) _mm256_movemask_ps(_mm256_castsi256_ps(above));
		unsigned	num_leaves = (unsigned) __builtin_popcount(leaves);

		_mm256_storeu_si256((__m256i *) (codes + front), compress_8_lanes(items, leaves ^ 0xFF));
		_mm256_storeu_si256((__m256i *) next_spill, compress_8_lanes(items, leaves));
		front += 8 - num_leaves;
		next_spill += num_leaves;
	}
	return split_tail_4(codes, num_items, begin, front, bound, spill);
}

/* Turn the mask of four 64-bit lanes into that of eight 32-bit lanes. */
static inline unsigned
double_bits(unsigned mask)
{
	mask = (mask | mask << 2) & 0x33;
	mask = (mask | mask << 1) & 0x55;
	return mask * 3;
}

__attribute__((target("avx2,popcnt")))
static uint64_t
split_8_avx2(uint64_t *codes, uint64_t num_items, uint64_t bound, uint64_t *spill)
{
	__m256i		sign = _mm256_set1_epi64x((long long) MGPU_F64_SIGN);
	__m256i		bounds = _mm256_set1_epi64x((long long) (bound ^ MGPU_F64_SIGN));
	uint64_t	front = 0;
	uint64_t	begin = 0;
	uint64_t   *next_spill = spill;

	for (; begin + 4 <= num_items; begin += 4)
	{
		__m256i		items = _mm256_loadu_si256((const __m256i *) (codes + begin));
		__m256i		above = _mm256_cmpgt_epi64(_mm256_xor_si256(items, sign), bounds);
		unsigned	leaves = (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(above));
		unsigned	num_leaves = (unsigned) __builtin_popcount(leaves);
		unsigned	lanes = double_bits(leaves);

		_mm256_storeu_si256((__m256i *) (codes + front), compress_8_lanes(items, lanes ^ 0xFF));
		_mm256_storeu_si256((__m256i *) next_spill, compress_8_lanes(items, lanes));
		front += 4 - num_leaves;
		next_spill += num_leaves;
	}
	return split_tail_8(codes, num_items, begin, front, bound, spill);
}

#endif							/* HAVE_X86_VARIANTS */

/* Move codes <= bound to the front and the others behind them.  Returns how many are in front. */
static uint64_t
split_codes(const mgpu_split *split, void *codes, uint64_t num_items, mgpu_u128 bound)
{
#ifdef HAVE_X86_VARIANTS
	bool		vectors = split->vectors && __builtin_cpu_supports("avx2");

	if (split->width == 4 && vectors)
		return split_4_avx2(codes, num_items, (uint32_t) bound, split->spill);
	if (split->width == 8 && vectors)
		return split_8_avx2(codes, num_items, (uint64_t) bound, split->spill);
#endif
	if (split->width == 4)
		return split_tail_4(codes, num_items, 0, 0, (uint32_t) bound, split->spill);
	if (split->width == 8)
		return split_tail_8(codes, num_items, 0, 0, (uint64_t) bound, split->spill);
	return split_tail_16(codes, num_items, 0, 0, bound, split->spill);
}

/* Split codes that belong to buckets first to last. */
static void
split_range(const mgpu_split *split, char *codes, uint64_t num_items, uint32_t first, uint32_t last)
{
	while (first < last && num_items > 0)
	{
		uint32_t	middle = first + (last - first) / 2;
		uint64_t	num_front = split_codes(split, codes, num_items, split->bounds->bound[middle]);

		split_range(split, codes, num_front, first, middle);
		codes += num_front * split->width;
		num_items -= num_front;
		first = middle + 1;
	}
	split->sizes[first] += (uint32_t) num_items;
}

void
mgpu_split_buckets(const mgpu_split *split, void *codes, uint64_t num_items)
{
	memset(split->sizes, 0, split->bounds->num_buckets * sizeof(*split->sizes));
	split_range(split, codes, num_items, 0, split->bounds->num_buckets - 1);
}
