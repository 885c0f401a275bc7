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
 */
#include "unsigned_sort.h"

#include <string.h>

#include "cpu_threads.h"
#include "cpu_tuning.h"
#include "cpu_vector.h"
#include "radix_sort.h"
#include "search.h"
#include "small_sort.h"
#if MGPU_WITH_HIGHWAY
#include "vqsort_highway.h"
#endif

/* Scratch of a radix sort whose caller has none. */
#define STACK_BYTES (UINT64_C(128) << 10)

static void
sort_by_radix(void *keys, uint64_t num_items, uint32_t width)
{
	mgpu_u128	scratch[STACK_BYTES / sizeof(mgpu_u128)];

	mgpu_radix_sort(keys, num_items, width, scratch, sizeof(scratch));
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
		mgpu_radix_sort(keys, num_items, width, scratch, num_items * width);
	else
		sort_by_radix(keys, num_items, width);
}
