/*
 * sort/merge_pass.cuh
 *		Geometry of a global merge pass: which tile takes which items.
 *
 * A pass merges neighbouring runs of run_tiles tiles in pairs.  The output is cut into tiles of
 * tile_items, and a tile never spans two pairs:
 *
 *	 tile        0   1   2   3 | 4   5   6   7 | ...		run_tiles = 2
 *	 runs      [   A   |   B   |   A   |   B   ]
 *	 diagonal    0   1   2   3   0   1   2   3			in tiles
 *
 * splits[t] is the number of A's items before tile t's first diagonal.  The last run may be short
 * or missing.
 */
#ifndef MGPU_SORT_MERGE_PASS_CUH
#define MGPU_SORT_MERGE_PASS_CUH

#include "device/merge_path.cuh"

struct mgpu_merge_pass
{
	uint64_t	num_items;
	uint64_t	num_tiles;
	uint64_t	run_tiles;		/* a power of two */
	uint32_t	tile_items;
};

/* The two runs that a tile belongs to, and its first diagonal there. */
struct mgpu_run_pair
{
	uint64_t	a_begin;
	uint64_t	a_items;
	uint64_t	b_items;		/* B follows A */
	uint64_t	diagonal;
};

struct mgpu_tile_inputs
{
	uint64_t	a_begin;
	uint64_t	b_begin;
	uint32_t	a_items;
	uint32_t	b_items;
};

MGPU_HOST_DEVICE mgpu_run_pair
mgpu_find_run_pair(const mgpu_merge_pass &pass, uint64_t tile)
{
	mgpu_run_pair pair;
	uint64_t	first_tile = tile & ~(2 * pass.run_tiles - 1);
	uint64_t	run_items = pass.run_tiles * pass.tile_items;
	uint64_t	left;

	pair.a_begin = first_tile * pass.tile_items;
	left = pass.num_items - pair.a_begin;
	pair.a_items = left < run_items ? left : run_items;
	left -= pair.a_items;
	pair.b_items = left < run_items ? left : run_items;
	pair.diagonal = (tile - first_tile) * pass.tile_items;
	return pair;
}

/* Is a tile the last one of its pair of runs? */
MGPU_HOST_DEVICE bool
mgpu_ends_pair(const mgpu_merge_pass &pass, const mgpu_run_pair &pair)
{
	return pair.diagonal + pass.tile_items >= pair.a_items + pair.b_items;
}

/* The split behind a tile: the next tile's, or the end of run A. */
MGPU_HOST_DEVICE uint64_t
mgpu_find_end_split(const mgpu_merge_pass &pass, const mgpu_run_pair &pair, const uint32_t *splits, uint64_t tile)
{
	return mgpu_ends_pair(pass, pair) ? pair.a_items : splits[tile + 1];
}

MGPU_HOST_DEVICE mgpu_tile_inputs
mgpu_find_tile_inputs(const mgpu_merge_pass &pass, const mgpu_run_pair &pair, uint64_t split, uint64_t end_split)
{
	mgpu_tile_inputs inputs;
	uint64_t	end_diagonal = mgpu_ends_pair(pass, pair) ? pair.a_items + pair.b_items : pair.diagonal + pass.tile_items;

	inputs.a_begin = pair.a_begin + split;
	inputs.a_items = (uint32_t) (end_split - split);
	inputs.b_begin = pair.a_begin + pair.a_items + (pair.diagonal - split);
	inputs.b_items = (uint32_t) ((end_diagonal - end_split) - (pair.diagonal - split));
	return inputs;
}

/*
 * One step of the search for a split by 32 probes at a time: probe `lane` of [low, high), which is
 * not empty.  Probes ascend with the lane.
 */
MGPU_HOST_DEVICE uint64_t
mgpu_split_probe(uint64_t low, uint64_t high, uint32_t lane)
{
	uint32_t	stride = ((uint32_t) (high - low) + 32) / 33;	/* a range is at most 2^31 */
	uint64_t	probe = low + (lane + 1) * stride - 1;

	return probe < high ? probe : high - 1;
}

/* Shrink the range by the number of probes whose item of A comes first. */
MGPU_HOST_DEVICE void
mgpu_split_narrow(uint64_t &low, uint64_t &high, uint32_t num_before)
{
	uint64_t	new_low = num_before > 0 ? mgpu_split_probe(low, high, num_before - 1) + 1 : low;

	if (num_before < 32)
		high = mgpu_split_probe(low, high, num_before);
	low = new_low;
}

/* Does A's item at this place come before the diagonal's item of B? */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_split_test(const Key *keys, const mgpu_run_pair &pair, uint64_t a)
{
	const Key  *b_keys = keys + pair.a_begin + pair.a_items;

	return !(b_keys[pair.diagonal - 1 - a] < keys[pair.a_begin + a]);
}

MGPU_HOST_DEVICE void
mgpu_split_range(const mgpu_run_pair &pair, uint64_t &low, uint64_t &high)
{
	low = pair.diagonal > pair.b_items ? pair.diagonal - pair.b_items : 0;
	high = pair.diagonal < pair.a_items ? pair.diagonal : pair.a_items;
}

#endif							/* MGPU_SORT_MERGE_PASS_CUH */
