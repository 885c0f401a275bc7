/*
 * kernel_segmented_test.cuh
 *		What the parts of kernel_segmented_test share: counts, inputs, reference.
 */
#ifndef MGPU_KERNEL_SEGMENTED_TEST_CUH
#define MGPU_KERNEL_SEGMENTED_TEST_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "segmented/pieces.cuh"
#include "segmented/segmented.h"

extern int	tests_passed;
extern int	tests_failed;
extern bool quick;
extern std::mt19937_64 random_bits;

/* Count one check; say what failed, but not for ever. */
template <typename... Arguments>
static void
expect(bool holds, const char *format, Arguments... arguments)
{
	if (holds)
	{
		tests_passed++;
		return;
	}
	if (++tests_failed > 50)
		return;
	printf("FAILED  ");
	printf(format, arguments...);
	printf("\n");
}

/* ---------------------------------------------------------------- segments */

typedef enum segment_pattern
{
	SEGMENTS_NONE = 0,			/* a locality sort */
	SEGMENTS_ONE,
	SEGMENTS_EACH,				/* a segment an item */
	SEGMENTS_PAIRS,				/* 1 or 2 items */
	SEGMENTS_MEAN_10,
	SEGMENTS_MEAN_30,
	SEGMENTS_MEAN_100,
	SEGMENTS_MEAN_1000,
	SEGMENTS_MEAN_10000,
	SEGMENTS_FIXED_31,
	SEGMENTS_FIXED_992,			/* a warp's items */
	SEGMENTS_POWER_LAW,			/* lengths of every magnitude */
	SEGMENTS_HUGE_AMONG_TINY,	/* segments of 1 to 4 items, and a few that take half of all */
	SEGMENTS_TILE_EDGES,		/* on, before and after multiples of tile_items */
	SEGMENTS_EVEN_TILES,		/* exactly two tiles each */
	SEGMENTS_CLASS_EDGES,		/* around the longest piece of each class */
	SEGMENTS_HUGE_AMONG_MIDDLING,
	NUM_SEGMENT_PATTERNS
} segment_pattern;

static inline const char *
segment_pattern_name(int pattern)
{
	static const char *const names[NUM_SEGMENT_PATTERNS] = {
		"no segments", "one segment", "a segment an item", "segments of 1 or 2", "mean 10", "mean 30", "mean 100",
		"mean 1000", "mean 10000", "length 31", "length 992", "power law", "huge among tiny", "at tiles' edges",
		"two tiles each", "at classes' edges", "huge among middling"
	};

	return names[pattern];
}

static inline uint64_t
random_below(uint64_t bound)
{
	return random_bits() % bound;
}

/* As long as the longest piece of some class (segmented/pieces.cuh), one less, or one more. */
static inline uint64_t
class_edge()
{
	static const uint32_t lanes[] = {1, 2, 3, 4, 5, 6, 8, 10, 16, 32};
	static const uint32_t lane_items[] = {mgpu_segmented_u32::large::lane_items, mgpu_segmented_u64::large::lane_items,
		mgpu_segmented_u128::large::lane_items};
	uint64_t	edge = random_below(4) == 0 ? mgpu_small_items((uint32_t) random_below(3)) :
		lanes[random_below(10)] * lane_items[random_below(3)];

	return edge - 1 + random_below(3);
}

/* Length of the next segment. */
static inline uint64_t
segment_length(int pattern, uint64_t num_items, uint32_t tile_items)
{
	switch (pattern)
	{
		case SEGMENTS_EACH:
			return 1;
		case SEGMENTS_PAIRS:
			return 1 + random_below(2);
		case SEGMENTS_MEAN_10:
			return 1 + random_below(19);
		case SEGMENTS_MEAN_30:
			return 1 + random_below(59);
		case SEGMENTS_MEAN_100:
			return 1 + random_below(199);
		case SEGMENTS_MEAN_1000:
			return 1 + random_below(1999);
		case SEGMENTS_MEAN_10000:
			return 1 + random_below(19999);
		case SEGMENTS_FIXED_31:
			return 31;
		case SEGMENTS_FIXED_992:
			return 992;
		case SEGMENTS_POWER_LAW:
			return 1 + (random_below(UINT64_C(1) << 20) >> random_below(20));
		case SEGMENTS_HUGE_AMONG_TINY:
			return random_below(2000) == 0 ? 1 + num_items / 2 : 1 + random_below(4);
		case SEGMENTS_CLASS_EDGES:
			return class_edge();
		case SEGMENTS_HUGE_AMONG_MIDDLING:
			return random_below(300) == 0 ? 1 + num_items / 2 : 1 + random_below(400);
		case SEGMENTS_EVEN_TILES:
			return 2 * (uint64_t) tile_items;
		default:
			return num_items;
	}
}

/* Heads of at most num_items segments; empty for SEGMENTS_NONE. */
static inline std::vector<uint32_t>
make_heads(int pattern, uint64_t num_items, uint32_t tile_items)
{
	std::vector<uint32_t> heads;

	if (pattern == SEGMENTS_NONE)
		return heads;
	if (pattern == SEGMENTS_TILE_EDGES)
	{
		heads.push_back(0);
		for (uint64_t edge = tile_items; edge < num_items; edge += tile_items)
		{
			int			choice = (int) random_below(8);

			for (int delta = -1; delta <= 1; delta++)
			{
				if ((choice >> (delta + 1) & 1) != 0 && edge + delta > heads.back() && edge + delta < num_items)
					heads.push_back((uint32_t) (edge + delta));
			}
		}
		return heads;
	}
	for (uint64_t head = 0; head < num_items; head += segment_length(pattern, num_items, tile_items))
		heads.push_back((uint32_t) head);
	return heads;
}

/* -------------------------------------------------------------------- keys */

typedef enum key_pattern
{
	KEYS_RANDOM = 0,
	KEYS_FEW,
	KEYS_SORTED,				/* inside segments */
	KEYS_REVERSED,				/* over all the array */
	KEYS_EQUAL,
	KEYS_LARGEST,				/* half of them what pads a tile */
	KEYS_NEAR_100,				/* sorted but for moves of up to 100 places */
	KEYS_NEAR_10000,
	KEYS_APPENDED,				/* sorted, and some more keys behind */
	NUM_KEY_PATTERNS
} key_pattern;

static inline const char *
key_pattern_name(int pattern)
{
	static const char *const names[NUM_KEY_PATTERNS] = {
		"random", "few", "sorted", "reversed", "equal", "largest", "within 100", "within 10000", "appended"
	};

	return names[pattern];
}

/* Sort keys and their indices inside segments: the reference. */
template <typename Key>
static void
sort_segments(const std::vector<uint32_t> &heads, std::vector<Key> &keys, std::vector<uint32_t> *indices)
{
	std::vector<uint32_t> order(keys.size());
	std::vector<Key> sorted(keys.size());

	for (size_t i = 0; i < order.size(); i++)
		order[i] = (uint32_t) i;
	for (size_t segment = 0; segment < std::max<size_t>(heads.size(), 1); segment++)
	{
		size_t		begin = heads.empty() ? 0 : heads[segment];
		size_t		end = segment + 1 < heads.size() ? heads[segment + 1] : keys.size();

		std::stable_sort(order.begin() + begin, order.begin() + end,
						 [&] (uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
	}
	for (size_t i = 0; i < order.size(); i++)
		sorted[i] = keys[order[i]];
	keys.swap(sorted);
	if (indices != nullptr)
		indices->swap(order);
}

template <typename Key>
static std::vector<Key>
make_keys(int pattern, uint64_t num_items, const std::vector<uint32_t> &heads)
{
	std::vector<Key> keys(num_items);

	for (uint64_t i = 0; i < num_items; i++)
	{
		uint64_t	bits = random_bits();

		switch (pattern)
		{
			case KEYS_FEW:
				keys[i] = (Key) (bits % 5);
				break;
			case KEYS_REVERSED:
				keys[i] = (Key) (num_items - i);
				break;
			case KEYS_EQUAL:
				keys[i] = 42;
				break;
			case KEYS_LARGEST:
				keys[i] = bits % 2 != 0 ? (Key) ~(Key) 0 : (Key) (bits >> 1);
				break;
			case KEYS_NEAR_100:
				keys[i] = (Key) (i * 16 + bits % 1600);
				break;
			case KEYS_NEAR_10000:
				keys[i] = (Key) (i * 16 + bits % 160000);
				break;
			case KEYS_APPENDED:
				keys[i] = (Key) (i < num_items - num_items / 50 ? i * 16 : bits % (16 * num_items));
				break;
			default:
				keys[i] = (Key) bits;
				break;
		}
	}
	if (pattern == KEYS_SORTED)
		sort_segments<Key>(heads, keys, nullptr);
	return keys;
}

/* -------------------------------------------------------------- statistics */

/* What must hold of every sort's counts. */
static inline bool
stats_are_sound(const mgpu_segmented_stats &stats, uint64_t num_items, uint32_t tile_items, bool sorted)
{
	bool		sound = stats.num_tiles == (num_items + tile_items - 1) / tile_items && stats.num_passes <= MGPU_MAX_PASSES;

	for (uint64_t pass = 0; pass < MGPU_MAX_PASSES && sound; pass++)
	{
		const mgpu_pass_stats &counts = stats.passes[pass];

		sound = counts.merge_tiles + counts.copy_tiles <= stats.num_tiles;
		if (pass >= stats.num_passes || sorted)
			sound = sound && counts.merge_tiles == 0 && counts.copy_tiles == 0;
		else if (pass + 1 < stats.num_passes)
			sound = sound && counts.copy_tiles == 0;	/* tiles change sides, and are not copied */
		else
			sound = sound && counts.merge_tiles == 0;
	}
	return sound;
}

/*
 * Where no segment is longer than most_items, a pass touches no more than the
 * tiles of one such segment at each of its interfaces, whose number halves.
 */
static inline bool
stats_halve(const mgpu_segmented_stats &stats, uint64_t first_run_tiles, uint64_t most_items, uint32_t tile_items)
{
	uint64_t	run_tiles = first_run_tiles;

	for (uint64_t pass = 0; pass + 1 < stats.num_passes; pass++, run_tiles *= 2)
	{
		uint64_t	interfaces = (stats.num_tiles + run_tiles - 1) / (2 * run_tiles);

		if (stats.passes[pass].merge_tiles > interfaces * (2 + (most_items - 1) / tile_items))
			return false;
	}
	return true;
}

/* kernel_segmented_host.cu: every step, emulated; needs no GPU. */
void		test_on_host();

#endif							/* MGPU_KERNEL_SEGMENTED_TEST_CUH */
