/*
 * vqsort.c
 *		mgpu_vqsort: Highway's vqsort, or a portable sort in its place.
 *
 * The portable sort is an American flag sort (McIlroy, Bostic, McIlroy 1993): a
 * radix sort from the top digit down, in place, by cycles of swaps; ranges of a few
 * items are ranked.  It needs 4 kB of stack for each byte of a key, and no heap.
 * std::sort and qsort were rejected: five to ten times slower on random keys.
 */
#include "vqsort.h"

#include <string.h>

#include "cpu_vector.h"
#include "search.h"
#include "small_sort.h"
#if MGPU_WITH_HIGHWAY
#include "vqsort_highway.h"
#endif

/* Sort a few codes by their ranks.  The xor with sign makes codes signed. */
#define DEFINE_SORT_SMALL(type, ranked_type, ranks, sign) \
static void \
sort_small_##type(type *codes, uint32_t num_items) \
{ \
	ranked_type items[MGPU_SMALL_SPACE]; \
	uint32_t	positions[MGPU_SMALL_SPACE]; \
	for (uint32_t i = 0; i < num_items; i++) \
		items[i] = (ranked_type) (codes[i] ^ sign); \
	ranks(items, num_items, positions); \
	for (uint32_t i = 0; i < num_items; i++) \
		codes[positions[i]] = (type) items[i] ^ sign; \
}

DEFINE_SORT_SMALL(uint16_t, int32_t, mgpu_small_ranks_i32, 0)
DEFINE_SORT_SMALL(uint32_t, int32_t, mgpu_small_ranks_i32, MGPU_F32_SIGN)
DEFINE_SORT_SMALL(uint64_t, int64_t, mgpu_small_ranks_i64, MGPU_F64_SIGN)
DEFINE_SORT_SMALL(mgpu_u128, mgpu_u128, mgpu_small_ranks_u128, 0)

static void
sort_small(void *keys, uint32_t num_items, uint32_t width)
{
	if (width == 2)
		sort_small_uint16_t(keys, num_items);
	else if (width == 4)
		sort_small_uint32_t(keys, num_items);
	else if (width == 8)
		sort_small_uint64_t(keys, num_items);
	else
		sort_small_mgpu_u128(keys, num_items);
}

#if MGPU_WITH_HIGHWAY

/*
 * hwy::uint128_t is aligned to 16 bytes, arrays of uuid to 8.  Such an array,
 * without its last item, is moved up by one word and sorted.  It is then moved back
 * in two pieces, around the last item's place.
 */
static void
sort_misaligned_u128(mgpu_u128 *keys, uint64_t num_items)
{
	mgpu_u128	last = keys[num_items - 1];
	mgpu_u128  *moved = (mgpu_u128 *) ((char *) keys + 8);
	uint64_t	num_moved = num_items - 1;
	uint64_t	position = 0;
	uint64_t	end = num_moved;

	memmove(moved, keys, num_moved * sizeof(*keys));
	mgpu_highway_sort(moved, num_moved, 16);
	MGPU_SEARCH(position, end, moved[middle] < last);
	memmove(keys, moved, position * sizeof(*keys));
	memmove(keys + position + 1, moved + position, (num_moved - position) * sizeof(*keys));
	keys[position] = last;
}

static void
sort_large(void *keys, uint64_t num_items, uint32_t width)
{
	if (width == 16 && (uintptr_t) keys % 16 != 0)
		sort_misaligned_u128(keys, num_items);
	else
		mgpu_highway_sort(keys, num_items, width);
}

void
mgpu_vqsort_prepare(void)
{
	mgpu_highway_prepare();
}

#else

/*
 * Sort keys that agree above the digit at shift by that digit, then each digit's
 * range by the next digit.  A range with one digit is not moved.
 */
#define DEFINE_FLAG_SORT(type) \
static void \
flag_sort_##type(type *keys, uint64_t num_items, unsigned shift) \
{ \
	uint64_t	next[256]; \
	uint64_t	end[256] = {0}; \
	uint64_t	begin = 0; \
	for (uint64_t i = 0; i < num_items; i++) \
		end[(uint8_t) (keys[i] >> shift)]++; \
	for (int digit = 0; digit < 256; digit++) \
	{ \
		next[digit] = begin; \
		begin += end[digit]; \
		end[digit] = begin; \
	} \
	if (end[(uint8_t) (keys[0] >> shift)] - next[(uint8_t) (keys[0] >> shift)] < num_items) \
		for (int digit = 0; digit < 256; digit++) \
			while (next[digit] < end[digit]) \
			{ \
				type		key = keys[next[digit]]; \
				uint8_t		home; \
				while ((home = (uint8_t) (key >> shift)) != digit) \
				{ \
					type		other = keys[next[home]]; \
					keys[next[home]++] = key; \
					key = other; \
				} \
				keys[next[digit]++] = key; \
			} \
	if (shift == 0) \
		return; \
	begin = 0; \
	for (int digit = 0; digit < 256; digit++) \
	{ \
		uint64_t	length = end[digit] - begin; \
		if (length > mgpu_small_limit(sizeof(type))) \
			flag_sort_##type(keys + begin, length, shift - 8); \
		else if (length > 1) \
			sort_small_##type(keys + begin, (uint32_t) length); \
		begin = end[digit]; \
	} \
}

DEFINE_FLAG_SORT(uint16_t)
DEFINE_FLAG_SORT(uint32_t)
DEFINE_FLAG_SORT(uint64_t)
DEFINE_FLAG_SORT(mgpu_u128)

static void
sort_large(void *keys, uint64_t num_items, uint32_t width)
{
	if (width == 2)
		flag_sort_uint16_t(keys, num_items, 8);
	else if (width == 4)
		flag_sort_uint32_t(keys, num_items, 24);
	else if (width == 8)
		flag_sort_uint64_t(keys, num_items, 56);
	else
		flag_sort_mgpu_u128(keys, num_items, 120);
}

void
mgpu_vqsort_prepare(void)
{
}

#endif							/* MGPU_WITH_HIGHWAY */

/* Below this number of items, ranking is faster than a network. */
#define NETWORK_MIN_ITEMS 8

void
mgpu_vqsort(void *keys, uint64_t num_items, uint32_t width)
{
	static const uint32_t head = 0;
	static const mgpu_flips codes = {0};

	if (num_items >= NETWORK_MIN_ITEMS && num_items <= mgpu_vector_sort_max(width))
		mgpu_vector_sort_segments(keys, keys, &head, 1, (uint32_t) num_items, width, &codes);
	else if (num_items <= mgpu_small_limit(width))
		sort_small(keys, (uint32_t) num_items, width);
	else
		sort_large(keys, num_items, width);
}
