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
 * A warp searches one split.  It keeps a window [low, high) a run: items before
 * low are in, items from high on are out.  A step looks at 7 keys of each
 * window at once, at equal distances, 8 lanes a run:
 *
 *	 run 0   low|----0----1----2----3----4----5----6----|high
 *	 run 1        low|--0--1--2--3--4--5--6--|high
 *
 * Ranking a key among the others' keys bounds the number of items before it; a
 * key with fewer than `diagonal` items before it at most is in, one with that
 * many at least is out.  A step decides one key at least and all but a few
 * usually, so windows shrink to about a quarter.  A nested binary search (over
 * the merge of two runs, then the other two) was rejected: 25 times 25 loads
 * that wait for each other.
 */
#ifndef MGPU_QUAD_PASS_CUH
#define MGPU_QUAD_PASS_CUH

#include "merge_pass.cuh"

#define MGPU_QUAD_PROBES 7		/* keys a run and step; lane 8 r + 7 is idle */

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

/* The split behind a tile: the next tile's, or the ends of all runs. */
MGPU_HOST_DEVICE mgpu_quad_split
mgpu_find_end_split(const mgpu_merge_pass &pass, const mgpu_run_quad &quad, const mgpu_quad_split *splits, uint64_t tile)
{
	mgpu_quad_split end;

	if (quad.num_items - quad.diagonal > pass.tile_items)
		return splits[tile + 1];
#pragma unroll
	for (int run = 0; run < 4; run++)
		end.items[run] = quad.items[run];
	return end;
}

/* The search's state: the same in all lanes. */
struct mgpu_quad_search
{
	mgpu_quad_split low;
	mgpu_quad_split high;
};

/* Fits: a split is at most num_items, and that is less than 2^32. */
MGPU_HOST_DEVICE uint32_t
mgpu_sum_split(const mgpu_quad_split &split)
{
	return split.items[0] + split.items[1] + split.items[2] + split.items[3];
}

/* items[run], without an index into registers that is known at run time alone. */
MGPU_HOST_DEVICE uint32_t
mgpu_split_item(const mgpu_quad_split &split, uint32_t run)
{
	uint32_t	low_pair = run & 1 ? split.items[1] : split.items[0];
	uint32_t	high_pair = run & 1 ? split.items[3] : split.items[2];

	return run & 2 ? high_pair : low_pair;
}

MGPU_HOST_DEVICE mgpu_quad_search
mgpu_start_quad_search(const mgpu_run_quad &quad)
{
	mgpu_quad_search search;

#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		uint32_t	others = quad.num_items - quad.items[run];

		/* so many at least, and at most, must come from this run */
		search.low.items[run] = quad.diagonal > others ? quad.diagonal - others : 0;
		search.high.items[run] = quad.diagonal < quad.items[run] ? quad.diagonal : quad.items[run];
	}
	return search;
}

MGPU_HOST_DEVICE bool
mgpu_quad_search_done(const mgpu_run_quad &quad, const mgpu_quad_search &search)
{
	return mgpu_sum_split(search.low) == quad.diagonal || mgpu_sum_split(search.high) == quad.diagonal;
}

/* Position of a window's probe 0 … 6; the window is not empty. */
MGPU_HOST_DEVICE uint32_t
mgpu_quad_probe(uint32_t low, uint32_t high, uint32_t probe)
{
	uint32_t	stride = (high - low - 1) / (MGPU_QUAD_PROBES + 1) + 1;
	uint32_t	offset = (probe + 1) * stride - 1;

	return offset < high - low ? low + offset : high - 1;
}

/*
 * What a lane finds out about its key, at `position` of its run: `counts` has
 * for every other run how many of its probes come before the key.  1: the key
 * is in, -1: it is out, 0: not known yet.
 */
MGPU_HOST_DEVICE int
mgpu_judge_probe(const mgpu_run_quad &quad, const mgpu_quad_search &search, uint32_t run, uint32_t position,
				 const uint32_t (&counts)[4])
{
	uint32_t	least = position;	/* items before the key */
	uint32_t	most = position;

#pragma unroll
	for (uint32_t other = 0; other < 4; other++)
	{
		uint32_t	low = search.low.items[other];
		uint32_t	high = search.high.items[other];

		if (other == run)
			continue;
		least += low < high && counts[other] > 0 ? mgpu_quad_probe(low, high, counts[other] - 1) + 1 : low;
		most += low < high && counts[other] < MGPU_QUAD_PROBES ? mgpu_quad_probe(low, high, counts[other]) : high;
	}
	return most < quad.diagonal ? 1 : least >= quad.diagonal ? -1 : 0;
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

/* Shrink the windows: bit 8 r + i of in and out is the verdict on probe i of run r. */
MGPU_HOST_DEVICE void
mgpu_narrow_quad_search(mgpu_quad_search &search, uint32_t in, uint32_t out)
{
#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		uint32_t	low = search.low.items[run];
		uint32_t	high = search.high.items[run];
		uint32_t	run_in = in >> (8 * run) & 0xFF;
		uint32_t	run_out = out >> (8 * run) & 0xFF;

		if (run_in != 0)
			search.low.items[run] = mgpu_quad_probe(low, high, mgpu_highest_bit(run_in)) + 1;
		if (run_out != 0)
			search.high.items[run] = mgpu_quad_probe(low, high, mgpu_lowest_bit(run_out));
	}
}

/* The split, once mgpu_quad_search_done. */
MGPU_HOST_DEVICE mgpu_quad_split
mgpu_end_quad_search(const mgpu_run_quad &quad, const mgpu_quad_search &search)
{
	return mgpu_sum_split(search.low) == quad.diagonal ? search.low : search.high;
}

#endif							/* MGPU_QUAD_PASS_CUH */
