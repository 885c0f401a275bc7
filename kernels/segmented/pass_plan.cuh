/*
 * segmented/pass_plan.cuh
 *		The plan of a pass: which ranges and tiles its CTAs merge.
 *
 * The device lists the work, so the host does not wait.
 */
#ifndef MGPU_SEGMENTED_PASS_PLAN_CUH
#define MGPU_SEGMENTED_PASS_PLAN_CUH

#include "core/executor.h"
#include "device/split_search.cuh"
#include "segmented/active_ranges.cuh"

/* Narrow a range by both searches.  All lanes of a warp get the same. */
template <class Keys>
static __device__ __forceinline__ void
mgpu_narrow_range(const Keys &keys, mgpu_active_range &range, uint32_t lane)
{
	mgpu_narrow_search<Keys> search = {keys, range};
	uint32_t	which = lane / 16;
	uint64_t	low;
	uint64_t	high;

	search.bounds(which, low, high);
	while (__any_sync(MGPU_WHOLE_WARP, low < high))
	{
		bool		before = low < high && search.before(which, mgpu_group_probe<16>(low, high, lane % 16));
		uint32_t	votes = __ballot_sync(MGPU_WHOLE_WARP, before) >> (16 * which) & 0xFFFF;

		if (low < high)
			mgpu_group_narrow<16>(low, high, __popc(votes));
	}
	range.begin = (uint32_t) __shfl_sync(MGPU_WHOLE_WARP, low, 0);
	range.end = (uint32_t) __shfl_sync(MGPU_WHOLE_WARP, low, 16);
}

/* Add a warp's count, which its first lane has, to a total. */
static __device__ __forceinline__ void
mgpu_add_count(uint64_t *count, uint32_t more)
{
	if (threadIdx.x % 32 == 0 && more > 0)
		atomicAdd(reinterpret_cast<unsigned long long *>(count), (unsigned long long) more);
}

/* The active range of the pair that a tile belongs to, the same in all lanes. */
template <class Tiles, typename Key>
static __device__ __forceinline__ mgpu_active_range
mgpu_find_active_range(const mgpu_segment_pass &pass, const mgpu_sided_keys<Tiles::tile_items, Key> &keys, uint32_t tile,
					   uint32_t lane)
{
	mgpu_active_range range = mgpu_find_segment_range<Tiles::tile_items>(pass, tile);

	if (range.begin == range.end || mgpu_range_in_order(keys, range))
		return {0, 0, 0};
	mgpu_narrow_range(keys, range, lane);
	return range;
}

/*
 * The active ranges of a pass, one warp a pair of lists.  Those that fit one tile become work;
 * `ranges` gets the others.
 */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_plan_ranges(const mgpu_segment_pass &pass, const mgpu_sided_keys<Tiles::tile_items, Key> &keys,
				 mgpu_active_range *ranges, mgpu_segment_work *work, uint32_t *num_work, uint32_t *num_long,
				 mgpu_pass_stats *stats)
{
	constexpr uint32_t warps = Tiles::merge_threads / 32;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	pair_tiles = 2 * pass.run_tiles;
	uint32_t	num_pairs = (pass.num_tiles + pair_tiles - 1) / pair_tiles;
	uint32_t	num_touched = 0;

	for (uint32_t pair = blockIdx.x * warps + threadIdx.x / 32; pair < num_pairs; pair += gridDim.x * warps)
	{
		mgpu_active_range range = mgpu_find_active_range<Tiles>(pass, keys, pair * pair_tiles, lane);
		bool		fits = mgpu_fits_one_tile<Tiles::tile_items>(range);

		if (fits && range.end > 0)
		{
			if (lane == 0)
				work[atomicAdd(num_work, 1)] = {range.begin / Tiles::tile_items, range};
			num_touched += 2;	/* the tile before the middle, and the one behind */
			range.begin = range.end = 0;
		}
		if (lane == 0)
			ranges[pair] = range;
		if (lane == 0 && range.end > 0)
			atomicAdd(num_long, 1);
	}
	mgpu_add_count(&stats->merge_tiles, num_touched);
}

/*
 * The tiles of a pass, `lanes` lanes a tile: their splits, their work, and the sides of all.  A
 * whole warp finds its tile's range itself; fewer lanes read it from `ranges`, which has the ranges
 * longer than a tile.
 */
template <class Tiles, uint32_t lanes, typename Key>
static __device__ __forceinline__ void
mgpu_plan_tiles(const mgpu_segment_pass &pass, const mgpu_sided_keys<Tiles::tile_items, Key> &keys,
				const mgpu_active_range *ranges, uint8_t *next_sides, uint32_t *splits, mgpu_segment_work *work,
				uint32_t *num_work, uint32_t *num_long, mgpu_pass_stats *stats)
{
	constexpr uint32_t tile_items = Tiles::tile_items;
	constexpr uint32_t warp_tiles = 32 / lanes;
	constexpr uint32_t warps = Tiles::merge_threads / 32;
	uint32_t	lane = threadIdx.x % 32;
	bool		is_first = lane % lanes == 0;
	uint32_t	num_touched = 0;

	for (uint32_t first = (blockIdx.x * warps + threadIdx.x / 32) * warp_tiles; first < pass.num_tiles;
		 first += gridDim.x * warps * warp_tiles)
	{
		uint32_t	tile = first + lane / lanes;
		mgpu_active_range range = {0, 0, 0};
		bool		touched;
		bool		moves;
		bool		has_work;
		uint32_t	votes;
		uint32_t	place = 0;

		if constexpr (lanes == 32)
			range = mgpu_find_active_range<Tiles>(pass, keys, tile, lane);
		else if (tile < pass.num_tiles)
			range = ranges[tile / (2 * pass.run_tiles)];
		touched = tile < pass.num_tiles && mgpu_touches_range<tile_items>(range, tile);
		moves = touched && !mgpu_fits_one_tile<tile_items>(range);
		if (moves)
		{
			mgpu_range_search<mgpu_sided_keys<tile_items, Key>> search = {keys, range};
			uint32_t	split = mgpu_find_split<lanes>(search, mgpu_tile_diagonal<tile_items>(range, tile), threadIdx.x);

			if (is_first)
				splits[tile] = split;
			if (lanes == 32 && is_first && tile == range.begin / tile_items)
				atomicAdd(num_long, 1);
		}
		if (tile < pass.num_tiles && is_first)
			next_sides[tile] = keys.sides[tile] ^ moves;
		num_touched += __popc(__ballot_sync(MGPU_WHOLE_WARP, is_first && touched));
		has_work = is_first && touched && (moves || tile == range.begin / tile_items);
		votes = __ballot_sync(MGPU_WHOLE_WARP, has_work);
		if (votes == 0)
			continue;
		if (lane == 0)
			place = atomicAdd(num_work, (uint32_t) __popc(votes));
		place = __shfl_sync(MGPU_WHOLE_WARP, place, 0) + __popc(votes & ((1u << lane) - 1));
		if (has_work)
			work[place] = {tile, range};
	}
	mgpu_add_count(&stats->merge_tiles, num_touched);
}

#endif							/* MGPU_SEGMENTED_PASS_PLAN_CUH */
