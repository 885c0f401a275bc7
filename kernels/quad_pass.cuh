/*
 * quad_pass.cuh
 *		Geometry of a 4-way merge pass, and the search for its splits.
 *
 * A 4-way pass moves every item once for two levels of merging.  A tile's
 * boundary is then not one diagonal of one merge but a split of four runs: how
 * many items of each run are among the first `diagonal` of the group.  Equal
 * keys are ordered by run, then position, so a split is unique, and splits
 * ascend with the diagonal in every run.
 *
 * A warp searches one split.  It keeps a window [low, high) a run, 8 lanes each:
 * items before low are in, items from high on are out.  A step looks at 7 keys of
 * each window at once:
 *
 *	 run 0   low|----0----1----2----3----4----5----6----|high
 *	 run 1        low|--0--1--2--3--4--5--6--|high
 *
 * Ranking a key among the others' keys bounds the number of items before it; a
 * key with fewer than `diagonal` items before it at most is in, one with that
 * many at least is out.  A step decides one key at least and all but a few
 * usually, so windows shrink to about a quarter.  The first step looks near where
 * the split would be if all runs were alike, as far apart as chance moves it: for
 * keys in random order that saves the larger half of the steps, and costs one
 * where it is wrong.  With it the ends of all runs are on their way: runs that follow
 * each other, upwards or downwards, as in keys that are in order, take no search.  A
 * nested binary search (over the merge of two runs, then the
 * other two) was rejected: 25 times 25 loads that wait for each other.
 */
#ifndef MGPU_QUAD_PASS_CUH
#define MGPU_QUAD_PASS_CUH

#include <math.h>

#include "merge_pass.cuh"

#define MGPU_QUAD_LANES 8		/* a run */
#define MGPU_QUAD_PROBES (MGPU_QUAD_LANES - 1)	/* keys a run and step; the last lane stands for the window's end */

/* The runs that a tile belongs to, and its first diagonal there. */
struct mgpu_run_quad
{
	uint64_t	begin;			/* of run 0 */
	uint64_t	run_items;		/* distance of runs */
	uint32_t	diagonal;
	uint32_t	num_items;		/* of all four */
	uint32_t	items[4];
};

/* Items before a tile in each of its runs, or a window's bounds. */
struct __align__(16) mgpu_quad_split
{
	uint32_t	items[4];
};

MGPU_HOST_DEVICE mgpu_run_quad
mgpu_find_run_quad(const mgpu_merge_pass &pass, uint64_t tile)
{
	mgpu_run_quad quad;
	uint64_t	first_tile = tile & ~(4 * pass.run_tiles - 1);
	uint64_t	left;

	quad.run_items = pass.run_tiles * pass.tile_items;
	quad.begin = first_tile * pass.tile_items;
	quad.diagonal = (uint32_t) ((tile - first_tile) * pass.tile_items);
	left = pass.num_items - quad.begin;
	quad.num_items = (uint32_t) (left < 4 * quad.run_items ? left : 4 * quad.run_items);
#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		uint64_t	items = left < quad.run_items ? left : quad.run_items;

		quad.items[run] = (uint32_t) items;
		left -= items;
	}
	return quad;
}

/* Is a tile the last one of its four runs? */
MGPU_HOST_DEVICE bool
mgpu_ends_quad(const mgpu_merge_pass &pass, const mgpu_run_quad &quad)
{
	return quad.num_items - quad.diagonal <= pass.tile_items;
}

/* The ends of all runs. */
MGPU_HOST_DEVICE mgpu_quad_split
mgpu_quad_end(const mgpu_run_quad &quad)
{
	mgpu_quad_split end;

#pragma unroll
	for (int run = 0; run < 4; run++)
		end.items[run] = quad.items[run];
	return end;
}

/* The split behind a tile: the next tile's, or the ends of all runs. */
MGPU_HOST_DEVICE mgpu_quad_split
mgpu_find_end_split(const mgpu_merge_pass &pass, const mgpu_run_quad &quad, const mgpu_quad_split *splits, uint64_t tile)
{
	return mgpu_ends_quad(pass, quad) ? mgpu_quad_end(quad) : splits[tile + 1];
}

/* items[run], without an index into registers that is known at run time alone. */
MGPU_HOST_DEVICE uint32_t
mgpu_split_item(const mgpu_quad_split &split, uint32_t run)
{
	uint32_t	low_pair = run & 1 ? split.items[1] : split.items[0];
	uint32_t	high_pair = run & 1 ? split.items[3] : split.items[2];

	return run & 2 ? high_pair : low_pair;
}

/* Is the next run's first item not before this run's last one, or its last one before this run's first? */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_is_run_before(uint32_t items, Key last, uint32_t next_items, Key next_first)
{
	return next_items == 0 || (items > 0 && !(next_first < last));
}

template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_is_run_behind(uint32_t items, Key first, uint32_t next_items, Key next_last)
{
	return next_items == 0 || (items > 0 && next_last < first);
}

/* A run's part of the split where each run is before the next, or each behind the next (downward). */
MGPU_HOST_DEVICE uint32_t
mgpu_split_ordered_runs(const mgpu_run_quad &quad, uint32_t run, bool downward)
{
	uint32_t	before = 0;
	uint32_t	own = 0;
	uint32_t	taken;

#pragma unroll
	for (uint32_t other = 0; other < 4; other++)
	{
		before += (downward ? other > run : other < run) ? quad.items[other] : 0;
		own = other == run ? quad.items[other] : own;
	}
	taken = quad.diagonal > before ? quad.diagonal - before : 0;
	return taken < own ? taken : own;
}

/* What is left to search of one run, and where the next probes are. */
struct mgpu_quad_window
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	first;			/* probe 0; inside the window unless that is empty */
	uint32_t	stride;
};

/* Probes at equal distances over the whole window. */
MGPU_HOST_DEVICE void
mgpu_spread_probes(mgpu_quad_window &window)
{
	window.stride = (window.high - window.low + MGPU_QUAD_PROBES) / MGPU_QUAD_LANES;
	window.first = window.low + window.stride - 1;
}

/* Items of a run that must be in, and that may be. */
MGPU_HOST_DEVICE uint32_t
mgpu_least_split(const mgpu_run_quad &quad, uint32_t run_items)
{
	uint32_t	others = quad.num_items - run_items;

	return quad.diagonal > others ? quad.diagonal - others : 0;
}

MGPU_HOST_DEVICE uint32_t
mgpu_most_split(const mgpu_run_quad &quad, uint32_t run_items)
{
	return quad.diagonal < run_items ? quad.diagonal : run_items;
}

/* A run's first window; its probes lie about its part of the diagonal. */
MGPU_HOST_DEVICE mgpu_quad_window
mgpu_start_quad_window(const mgpu_run_quad &quad, uint32_t run_items)
{
	mgpu_quad_window window;
	float		expected = (float) run_items * ((float) quad.diagonal / (float) quad.num_items);
	uint32_t	reach;
	uint32_t	middle;

	window.low = mgpu_least_split(quad, run_items);
	window.high = mgpu_most_split(quad, run_items);
	window.stride = (uint32_t) (sqrtf((float) (window.high - window.low)) / 2) + 1;
	middle = (uint32_t) expected;
	reach = MGPU_QUAD_PROBES / 2 * window.stride;
	window.first = middle > window.low + reach ? middle - reach : window.low;
	if (window.first >= window.high || window.high - window.low < 64)
		mgpu_spread_probes(window);
	return window;
}

/* Where a lane's probe is; the last lane's is the end.  All of an empty window are its end. */
MGPU_HOST_DEVICE uint32_t
mgpu_quad_probe(const mgpu_quad_window &window, uint32_t probe)
{
	uint32_t	position = window.first + probe * window.stride;
	uint32_t	last = window.high - (window.low < window.high);

	return probe == MGPU_QUAD_PROBES ? window.high : position < last ? position : last;
}

/* Does a probe of another run come before this key?  Equal keys go by run. */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_probe_before(Key probe, Key key, bool earlier_run)
{
	return probe < key || (earlier_run && probe == key);
}

/*
 * Of a run whose probes 0 … count - 1 come before a key, so many items do at
 * least; at most it is as many as lie before probe `count`, at `position`.
 */
MGPU_HOST_DEVICE uint32_t
mgpu_least_before(uint32_t low, uint32_t count, uint32_t previous_position, uint32_t position)
{
	uint32_t	least = previous_position + 1 < position ? previous_position + 1 : position;

	return count == 0 ? low : least;
}

/* Number of the lowest and of the highest bit set; there is one. */
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

/* Shrink a window: bit i of in and out is the verdict on its probe i. */
MGPU_HOST_DEVICE void
mgpu_narrow_quad_window(mgpu_quad_window &window, uint32_t in, uint32_t out)
{
	uint32_t	low = in != 0 ? mgpu_quad_probe(window, mgpu_highest_bit(in)) + 1 : window.low;

	if (out != 0)
		window.high = mgpu_quad_probe(window, mgpu_lowest_bit(out));
	window.low = low;
	mgpu_spread_probes(window);
}

#endif							/* MGPU_QUAD_PASS_CUH */
