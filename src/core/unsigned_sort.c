/*
 * unsigned_sort.c
 *		See unsigned_sort.h.
 *
 * A few keys are sorted by a network or by their ranks, many by Highway's vqsort or
 * by radix.  vqsort is fastest where its instructions are.  It is slow on Zen 4,
 * which stores compressed vectors by microcode: there vqsort of Highway 1.0 takes 44
 * ns a key of 4 bytes, 10 million of them, and a radix sort 7.  Other processors and
 * versions differ as much by width.  So both are timed once, rather than a list of
 * processors kept.
 *
 * By radix, only the bits in which keys differ are sorted by.  Many keys that fit the scratch take a
 * pass for every eight bits, lowest first, to the scratch and back.  Others are cut by their highest
 * eight bits, in place by cycles of swaps (American flag sort; McIlroy, Bostic, McIlroy 1993), and
 * each part is sorted by the same rule.  A few keys are ranked.  std::sort and qsort were rejected:
 * five to ten times slower on random keys.
 */
#include "unsigned_sort.h"

#include <string.h>

#include "cpu_threads.h"
#include "cpu_tuning.h"
#include "cpu_vector.h"
#include "search.h"
#include "small_sort.h"
#if MGPU_WITH_HIGHWAY
#include "vqsort_highway.h"
#endif

/* ---- by radix */

#define DIGIT_BITS 8
#define NUM_DIGITS 256

/* Keys that differ in more bits, and fewer keys for each pass, are cut: a pass has a fixed cost. */
#define MAX_PASSES 8
#define PASS_ITEMS 64

/* Fewer keys are ranked. */
#define RANKED_ITEMS 64

static bool
fit_passes(uint64_t num_items, unsigned num_passes)
{
	return num_passes <= MAX_PASSES && num_items >= num_passes * PASS_ITEMS && num_items <= UINT32_MAX;
}

#define DEFINE_RADIX(type) \
static void \
pass_##type(const type *from, type *to, uint32_t num_items, unsigned shift, uint32_t *counts) \
{ \
	uint32_t	begin = 0; \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
	{ \
		uint32_t	count = counts[digit]; \
		counts[digit] = begin; \
		begin += count; \
	} \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		type		key = from[i]; \
		to[counts[(uint8_t) (key >> shift)]++] = key; \
	} \
} \
static void \
sort_by_passes_##type(type *keys, uint32_t num_items, unsigned num_passes, type *scratch) \
{ \
	uint32_t	counts[MAX_PASSES][NUM_DIGITS] = {{0}}; \
	type	   *from = keys; \
	type	   *to = scratch; \
	for (uint32_t i = 0; i < num_items; i++) \
		for (unsigned pass = 0; pass < num_passes; pass++) \
			counts[pass][(uint8_t) (keys[i] >> (pass * DIGIT_BITS))]++; \
	for (unsigned pass = 0; pass < num_passes; pass++) \
	{ \
		type	   *sorted = to; \
		pass_##type(from, to, num_items, pass * DIGIT_BITS, counts[pass]); \
		to = from; \
		from = sorted; \
	} \
	if (from != keys) \
		memcpy(keys, from, num_items * sizeof(*keys)); \
} \
/* Put keys that agree from shift + 8 bits on into the order of the digit at shift; ends[digit] is set. */ \
static void \
cut_##type(type *keys, uint64_t num_items, unsigned shift, uint64_t *end) \
{ \
	uint64_t	next[NUM_DIGITS]; \
	uint64_t	begin = 0; \
	memset(end, 0, NUM_DIGITS * sizeof(*end)); \
	for (uint64_t i = 0; i < num_items; i++) \
		end[(uint8_t) (keys[i] >> shift)]++; \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
	{ \
		next[digit] = begin; \
		begin += end[digit]; \
		end[digit] = begin; \
	} \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
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
} \
static void \
sort_##type(type *keys, uint64_t num_items, type *scratch, uint64_t scratch_items) \
{ \
	type		differing = 0; \
	unsigned	num_bits; \
	unsigned	num_passes; \
	uint64_t	end[NUM_DIGITS]; \
	uint64_t	begin = 0; \
	if (num_items < RANKED_ITEMS) \
	{ \
		mgpu_small_sort(keys, (uint32_t) num_items, sizeof(type)); \
		return; \
	} \
	for (uint64_t i = 0; i < num_items; i++) \
		differing |= keys[i] ^ keys[0]; \
	num_bits = mgpu_bit_length(differing); \
	num_passes = (num_bits + DIGIT_BITS - 1) / DIGIT_BITS; \
	if (num_items <= scratch_items && fit_passes(num_items, num_passes)) \
	{ \
		sort_by_passes_##type(keys, (uint32_t) num_items, num_passes, scratch); \
		return; \
	} \
	cut_##type(keys, num_items, num_bits <= DIGIT_BITS ? 0 : num_bits - DIGIT_BITS, end); \
	for (int digit = 0; digit < NUM_DIGITS && num_bits > DIGIT_BITS; digit++) \
	{ \
		if (end[digit] - begin > 1) \
			sort_##type(keys + begin, end[digit] - begin, scratch, scratch_items); \
		begin = end[digit]; \
	} \
}

DEFINE_RADIX(uint16_t)
DEFINE_RADIX(uint32_t)
DEFINE_RADIX(uint64_t)
DEFINE_RADIX(mgpu_u128)

/*
 * Sort num_items > 0 unsigned keys in ascending order.  width: 2, 4, 8 or 16 bytes
 * (low word first).  scratch is aligned as the keys are.  Fastest where it is as
 * large as the keys; with less, they are first cut into parts that fit it.  Needs
 * 20 kB of stack and, for keys that do not fit the scratch, 5 kB a byte of the key.
 */
static void
radix_sort(void *keys, uint64_t num_items, uint32_t width, void *scratch, uint64_t scratch_bytes)
{
	if (width == 2)
		sort_uint16_t(keys, num_items, scratch, scratch_bytes / width);
	else if (width == 4)
		sort_uint32_t(keys, num_items, scratch, scratch_bytes / width);
	else if (width == 8)
		sort_uint64_t(keys, num_items, scratch, scratch_bytes / width);
	else
		sort_mgpu_u128(keys, num_items, scratch, scratch_bytes / width);
}

/* Scratch of a radix sort whose caller has none. */
#define STACK_BYTES (UINT64_C(128) << 10)

static void
sort_by_radix(void *keys, uint64_t num_items, uint32_t width)
{
	mgpu_u128	scratch[STACK_BYTES / sizeof(mgpu_u128)];

	radix_sort(keys, num_items, width, scratch, sizeof(scratch));
}

/* ---- by vqsort */

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
sort_by_vqsort(void *keys, uint64_t num_items, uint32_t width)
{
	if (width == 16 && (uintptr_t) keys % 16 != 0)
		sort_misaligned_u128(keys, num_items);
	else
		mgpu_highway_sort(keys, num_items, width);
}

void
mgpu_unsigned_sort_prepare(void)
{
	mgpu_highway_prepare();
}

#else

#define sort_by_vqsort sort_by_radix

void
mgpu_unsigned_sort_prepare(void)
{
}

#endif							/* MGPU_WITH_HIGHWAY */

/* ---- the choice */

/* What is timed: large enough that vqsort shows its rounds, and 0.15 ms a round where it is slow. */
#define TIMED_BYTES (UINT64_C(32) << 10)
#define TIMED_ROUNDS 2

static double
sort_ns(void (*sort) (void *keys, uint64_t num_items, uint32_t width), uint32_t width)
{
	mgpu_u128	keys[TIMED_BYTES / sizeof(mgpu_u128)];
	uint64_t	num_keys = TIMED_BYTES / width;
	double		fewest = 0;

	for (int round = 0; round < TIMED_ROUNDS; round++)
	{
		uint64_t	random = 1;
		double		start;
		double		elapsed;

		for (uint64_t i = 0; i < TIMED_BYTES / sizeof(random); i++)
		{
			uint64_t	mixed;

			random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			mixed = random ^ random >> 32;
			memcpy((char *) keys + i * sizeof(mixed), &mixed, sizeof(mixed));
		}
		start = mgpu_now_ms();
		sort(keys, num_keys, width);
		elapsed = mgpu_now_ms() - start;
		if (round == 0 || elapsed < fewest)
			fewest = elapsed;
	}
	return fewest * 1e6 / (double) num_keys;
}

/* What was found for a width; a thread that finds nothing yet times it itself. */
typedef struct timed_sort
{
	_Atomic double ns;			/* a key, the faster of both; 0: not timed yet */
	_Atomic bool radix_is_faster;
} timed_sort;

static timed_sort *
time_sorts(uint32_t width)
{
	static timed_sort timed[16 + 1];	/* a width each */
	timed_sort *sort = &timed[width];

	if (sort->ns == 0)
	{
		double		radix_ns = sort_ns(sort_by_radix, width);
		double		vqsort_ns = MGPU_WITH_HIGHWAY ? sort_ns(sort_by_vqsort, width) : radix_ns;

		sort->radix_is_faster = radix_ns <= vqsort_ns;
		sort->ns = radix_ns < vqsort_ns ? radix_ns : vqsort_ns;
	}
	return sort;
}

bool
mgpu_radix_is_faster(uint32_t width)
{
	if (!MGPU_WITH_HIGHWAY)
		return true;
	if (mgpu_cpu_tunables.radix != MGPU_RADIX_IF_FASTER)
		return mgpu_cpu_tunables.radix == MGPU_RADIX_ALWAYS;
	/* of 16 bytes, most are cut and few take passes: ten million took a fifth longer, which a short timing does not show */
	return width < 16 && time_sorts(width)->radix_is_faster;
}

double
mgpu_unsigned_sort_ns(uint32_t width)
{
	return time_sorts(width)->ns;
}

/* Below this number of items, ranking is faster than a network. */
#define NETWORK_MIN_ITEMS 8

/* Below this, keys are sorted by vqsort, and nothing is timed. */
#define TIMED_MIN_ITEMS 1024

bool
mgpu_sort_flipped(void *keys, uint64_t num_items, uint32_t width, uint64_t flip)
{
	static const uint32_t head = 0;
	mgpu_flips	flips = {width, flip, flip};

	if (num_items < NETWORK_MIN_ITEMS || num_items > mgpu_vector_sort_max(width))
		return false;
	mgpu_vector_sort_segments(keys, keys, &head, 1, (uint32_t) num_items, &flips);
	return true;
}

/* Sort a few keys; false if there are more. */
static bool
sort_few(void *keys, uint64_t num_items, uint32_t width)
{
	if (mgpu_sort_flipped(keys, num_items, width, 0))
		return true;
	if (num_items <= mgpu_small_limit(width))
		mgpu_small_sort(keys, (uint32_t) num_items, width);
	else
		return false;
	return true;
}

static bool
sorts_by_radix(uint64_t num_items, uint32_t width)
{
	bool		are_few = MGPU_WITH_HIGHWAY && num_items < TIMED_MIN_ITEMS && mgpu_cpu_tunables.radix == MGPU_RADIX_IF_FASTER;

	return !are_few && mgpu_radix_is_faster(width);
}

void
mgpu_sort_unsigned(void *keys, uint64_t num_items, uint32_t width, void *scratch)
{
	if (sort_few(keys, num_items, width))
		return;
	if (!sorts_by_radix(num_items, width))
		sort_by_vqsort(keys, num_items, width);
	else if (scratch != NULL)
		radix_sort(keys, num_items, width, scratch, num_items * width);
	else
		sort_by_radix(keys, num_items, width);
}
