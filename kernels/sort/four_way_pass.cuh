/*
 * sort/four_way_pass.cuh
 *		Geometry of a 4-way merge pass, and the search for its splits.
 *
 * A tile's boundary is a split of four runs: how many items of each are among the first `diagonal`
 * of the group.  Equal keys are ordered by run, then position.  A warp searches one split, with a
 * window [low, high) of each run, 8 lanes each.  A step reads 7 keys of each window:
 *
 *	 run 0   low|----0----1----2----3----4----5----6----|high
 *	 run 1        low|--0--1--2--3--4--5--6--|high
 *
 * Ranking a key among the other runs' keys bounds the number of items before it, which decides
 * whether it is in or out.  What remains of one window bounds the others.  The first step probes
 * near the split of equally distributed runs and at the ends of long windows, which decides runs
 * that follow each other.  Rejected: a nested binary search, 25 times 25 dependent loads.
 */
#ifndef MGPU_SORT_FOUR_WAY_PASS_CUH
#define MGPU_SORT_FOUR_WAY_PASS_CUH

#include <math.h>

#include "sort/merge_pass.cuh"

#define MGPU_FOUR_WAY_LANES 8		/* a run */
#define MGPU_FOUR_WAY_PROBES (MGPU_FOUR_WAY_LANES - 1)	/* probes a run and step; the last lane stands for the window's end */
#define MGPU_FOUR_WAY_FEW 64		/* windows of this many items are probed evenly in the first step too */

/* The runs that a tile belongs to, and its first diagonal there. */
struct mgpu_four_way_group
{
	uint64_t	begin;			/* of run 0 */
	uint64_t	run_items;		/* distance of runs */
	uint32_t	diagonal;
	uint32_t	num_items;		/* of all four */
	uint32_t	items[4];
};

/* Items before a tile in each of its runs, or a window's bounds. */
struct __align__(16) mgpu_four_way_split
{
	uint32_t	items[4];
};

MGPU_HOST_DEVICE mgpu_four_way_group
mgpu_find_four_way_group(const mgpu_merge_pass &pass, uint64_t tile)
{
	mgpu_four_way_group group;
	uint64_t	first_tile = tile & ~(4 * pass.run_tiles - 1);
	uint64_t	left;

	group.run_items = pass.run_tiles * pass.tile_items;
	group.begin = first_tile * pass.tile_items;
	group.diagonal = (uint32_t) ((tile - first_tile) * pass.tile_items);
	left = pass.num_items - group.begin;
	group.num_items = (uint32_t) (left < 4 * group.run_items ? left : 4 * group.run_items);
#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		uint64_t	items = left < group.run_items ? left : group.run_items;

		group.items[run] = (uint32_t) items;
		left -= items;
	}
	return group;
}

/* Is a tile the last one of its four runs? */
MGPU_HOST_DEVICE bool
mgpu_ends_four_way_group(const mgpu_merge_pass &pass, const mgpu_four_way_group &group)
{
	return group.num_items - group.diagonal <= pass.tile_items;
}

/* The ends of all runs. */
MGPU_HOST_DEVICE mgpu_four_way_split
mgpu_four_way_end(const mgpu_four_way_group &group)
{
	mgpu_four_way_split end;

#pragma unroll
	for (int run = 0; run < 4; run++)
		end.items[run] = group.items[run];
	return end;
}

/* The split behind a tile: the next tile's, or the ends of all runs. */
MGPU_HOST_DEVICE mgpu_four_way_split
mgpu_find_end_split(const mgpu_merge_pass &pass, const mgpu_four_way_group &group, const mgpu_four_way_split *splits,
					uint64_t tile)
{
	return mgpu_ends_four_way_group(pass, group) ? mgpu_four_way_end(group) : splits[tile + 1];
}

/* items[run], without an index into registers that is only known at run time. */
MGPU_HOST_DEVICE uint32_t
mgpu_split_item(const mgpu_four_way_split &split, uint32_t run)
{
	uint32_t	low_pair = run & 1 ? split.items[1] : split.items[0];
	uint32_t	high_pair = run & 1 ? split.items[3] : split.items[2];

	return run & 2 ? high_pair : low_pair;
}

/* What remains to be searched of one run. */
struct mgpu_four_way_window
{
	uint32_t	low;
	uint32_t	high;
};

/* Items of a run that must be in, and that may be. */
MGPU_HOST_DEVICE uint32_t
mgpu_least_split(const mgpu_four_way_group &group, uint32_t run_items)
{
	uint32_t	others = group.num_items - run_items;

	return group.diagonal > others ? group.diagonal - others : 0;
}

MGPU_HOST_DEVICE uint32_t
mgpu_most_split(const mgpu_four_way_group &group, uint32_t run_items)
{
	return group.diagonal < run_items ? group.diagonal : run_items;
}

MGPU_HOST_DEVICE mgpu_four_way_window
mgpu_start_four_way_window(const mgpu_four_way_group &group, uint32_t run_items)
{
	return {mgpu_least_split(group, run_items), mgpu_most_split(group, run_items)};
}

/*
 * Where a lane's probe is, at equal distances.  The last lane's is the end.  Probes of an empty
 * window do not count.
 */
MGPU_HOST_DEVICE uint32_t
mgpu_four_way_probe(const mgpu_four_way_window &window, uint32_t probe)
{
	uint32_t	stride = (window.high - window.low + MGPU_FOUR_WAY_PROBES) / MGPU_FOUR_WAY_LANES;
	uint32_t	position = window.low + (probe + 1) * stride - 1;
	uint32_t	last = window.high - (window.low < window.high);

	return probe == MGPU_FOUR_WAY_PROBES ? window.high : position < last ? position : last;
}

/*
 * The same in a run's first window: at both ends, and around its part of the diagonal, at distances
 * of 0, 1 and 3 strides.
 */
MGPU_HOST_DEVICE uint32_t
mgpu_first_four_way_probe(const mgpu_four_way_group &group, uint32_t run_items, const mgpu_four_way_window &window,
						  uint32_t probe)
{
	uint32_t	expected = (uint32_t) ((float) run_items * ((float) group.diagonal / (float) group.num_items));
	uint32_t	stride = (uint32_t) (sqrtf((float) (window.high - window.low)) / 2) + 1;
	uint32_t	reach = MGPU_FOUR_WAY_PROBES / 2 * stride;
	uint32_t	position = expected + (probe - (probe == 1) + (probe == MGPU_FOUR_WAY_PROBES - 2)) * stride;

	if (window.high - window.low < MGPU_FOUR_WAY_FEW)
		return mgpu_four_way_probe(window, probe);
	position = position > window.low + reach ? position - reach : window.low;
	position = position < window.high ? position : window.high - 1;
	return probe == 0 ? window.low : probe < MGPU_FOUR_WAY_PROBES - 1 ? position : window.high - (MGPU_FOUR_WAY_PROBES - probe);
}

/* Does a probe of another run come before this key?  Equal keys go by run. */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_probe_before(Key probe, Key key, bool earlier_run)
{
	return probe < key || (earlier_run && probe == key);
}

/*
 * The least number of items before a key, in a run whose probes 0 ... count - 1 come before it.
 * The most is `position`, where probe `count` is.
 */
MGPU_HOST_DEVICE uint32_t
mgpu_least_before(uint32_t low, uint32_t count, uint32_t previous_position, uint32_t position)
{
	uint32_t	least = previous_position + 1 < position ? previous_position + 1 : position;

	return count == 0 ? low : least;
}

/* Number of the lowest and of the highest bit set, of which there is one at least. */
MGPU_HOST_DEVICE uint32_t
mgpu_lowest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
	return (uint32_t) __ffs((int) bits) - 1;
#else
	return (uint32_t) __builtin_ctz(bits);
#endif
}

MGPU_HOST_DEVICE uint32_t
mgpu_highest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
	return 31 - (uint32_t) __clz((int) bits);
#else
	return 31 - (uint32_t) __builtin_clz(bits);
#endif
}

/* Shrink a window to what the others leave of the diagonal. low_sum and high_sum are of all four. */
MGPU_HOST_DEVICE void
mgpu_bound_four_way_window(mgpu_four_way_window &window, uint32_t diagonal, uint32_t low_sum, uint32_t high_sum)
{
	uint32_t	most_others = high_sum - window.high;
	uint32_t	least = diagonal > most_others ? diagonal - most_others : 0;
	uint32_t	most = diagonal - (low_sum - window.low);

	window.low = window.low > least ? window.low : least;
	window.high = window.high < most ? window.high : most;
}

#endif							/* MGPU_SORT_FOUR_WAY_PASS_CUH */
