/*
 * segmented/tile_sort.cuh
 *		Sorts the segments of one tile inside a CTA.
 *
 * Each piece (pieces.cuh) is sorted where it lies by the lanes that its length asks for, so no lane
 * has items of two pieces:
 *
 *	 a few items	one lane, a network of 4, 8, 16 ... items
 *	 lane_items		one lane, a network of lane_items
 *	 longer			neighbouring lanes: each sorts its items, then runs are merged in pairs
 *
 * Pieces are first listed by class, and free warps take units of work, the longest first.  Pieces
 * longer than a warp are sorted in parts, which the whole CTA merges at last.  Pieces in order are
 * left alone; equal keys cannot be told apart.
 *
 * Rejected: one network whose comparators stop at heads, and merges across heads (moderngpu; S.
 * Baxter, 2013), since a merged item then takes 21 operations, not 8; groups of a power of two of
 * lanes, of which a third would idle.
 */
#ifndef MGPU_SEGMENTED_TILE_SORT_CUH
#define MGPU_SEGMENTED_TILE_SORT_CUH

#include "segmented/lane_shares.cuh"
#include "segmented/pieces.cuh"

/*
 * Sort a warp's shares, at most group_lanes lanes a piece.  False: all were in order.  With one
 * lane a piece nothing is merged.
 */
template <int items, bool one_lane, typename Key>
static __device__ __forceinline__ bool
mgpu_warp_sort_shares(Key *tile, const mgpu_lane_share &share, uint32_t group_lanes)
{
	Key			keys[items];

	mgpu_load_share(keys, tile, share);
	if (!__any_sync(MGPU_WHOLE_WARP, mgpu_share_descends(keys, tile, share)))
		return false;
	mgpu_thread_sort(keys);
	if constexpr (!one_lane)
	{
		__syncwarp();				/* the shares are read */
#pragma unroll 1
		for (uint32_t run_lanes = 1; run_lanes < group_lanes; run_lanes *= 2)
		{
			mgpu_store_share_facing(keys, tile, share, run_lanes);
			__syncwarp();			/* both runs are written */
			mgpu_merge_share(keys, tile, share, run_lanes);
			__syncwarp();			/* both runs are read */
		}
	}
	mgpu_store_share(keys, tile, share);
	return true;
}

/* The networks of less than lane_items: number `small`, or a larger one. */
template <int lane_items, uint32_t small, typename Key>
static __device__ __forceinline__ bool
mgpu_warp_sort_small(Key *tile, const mgpu_lane_share &share, uint32_t piece_class)
{
	constexpr uint32_t num_small = mgpu_small_networks<lane_items>();

	if constexpr (small < num_small)
	{
		if (piece_class == MGPU_LANE_CLASSES - 1 + num_small - small)
			return mgpu_warp_sort_shares<mgpu_small_items(small), true>(tile, share, 1);
		return mgpu_warp_sort_small<lane_items, small + 1>(tile, share, piece_class);
	}
	return false;
}

template <int lane_items, int threads, typename Key>
static __device__ __forceinline__ bool
mgpu_warp_sort_unit(Key *tile, const mgpu_piece_lists<threads> *lists, uint32_t unit, uint32_t lane)
{
	uint32_t	unit_end = lane < MGPU_PIECE_CLASSES ? lists->unit_ends[lane] : UINT32_MAX;
	uint32_t	piece_class = __popc(__ballot_sync(MGPU_WHOLE_WARP, unit_end <= unit));
	uint32_t	first_unit = __shfl_sync(MGPU_WHOLE_WARP, unit_end, (int) piece_class - 1);	/* class 0 has none */
	uint32_t	per_warp = mgpu_pieces_per_warp(piece_class);
	uint32_t	group_lanes = 32 / per_warp;
	uint32_t	group = lane / group_lanes;
	uint32_t	place = (unit - first_unit) * per_warp + group;
	mgpu_lane_share share = {0, 0, lane % group_lanes};

	if (group < per_warp && place < lists->counts[piece_class])
	{
		uint32_t	piece = lists->pieces[lists->begins[piece_class] + place];

		share.begin = piece & 0xFFFF;
		share.num_items = piece >> 16;
	}
	if (piece_class < MGPU_LANE_CLASSES)
		return mgpu_warp_sort_shares<lane_items, false>(tile, share, group_lanes);
	return mgpu_warp_sort_small<lane_items, 0>(tile, share, piece_class);
}

/* Merge the parts of the pieces of class 0, as many pieces at a time as there are lanes. */
template <int lane_items, int threads, typename Key>
static __device__ __forceinline__ bool
mgpu_cta_merge_parts(Key *tile, const mgpu_piece_lists<threads> *lists, uint32_t thread)
{
	uint32_t	num_pieces = lists->counts[0];
	uint32_t	piece = 0;
	bool		changed = false;

	while (piece < num_pieces)
	{
		mgpu_lane_share share = {0, 0, 0};
		uint32_t	lanes_taken = 0;
		uint32_t	most_lanes = 0;
		Key			keys[lane_items];

		for (; piece < num_pieces; piece++)
		{
			uint32_t	num_items = lists->pieces[piece] >> 16;
			uint32_t	lanes = (num_items + lane_items - 1) / lane_items;

			if (lanes_taken + lanes > threads)
				break;
			if (thread - lanes_taken < lanes)
				share = {lists->pieces[piece] & 0xFFFF, num_items, thread - lanes_taken};
			lanes_taken += lanes;
			most_lanes = max(most_lanes, lanes);
		}
		mgpu_load_share(keys, tile, share);
		if (!__syncthreads_or(mgpu_share_descends(keys, tile, share)))
			continue;
		changed = true;
#pragma unroll 1
		for (uint32_t run_lanes = 32; run_lanes < most_lanes; run_lanes *= 2)
		{
			mgpu_store_share_facing(keys, tile, share, run_lanes);
			__syncthreads();		/* both runs are written */
			mgpu_merge_share(keys, tile, share, run_lanes);
			__syncthreads();		/* both runs are read */
		}
		mgpu_store_share(keys, tile, share);
	}
	return changed;
}

/*
 * Sort a tile of one piece that is loading; the tile holds all threads' items.  True in each thread
 * if it was not in order.  Ends with a barrier.
 */
template <int threads, int items, typename Key>
static __device__ __forceinline__ bool
mgpu_cta_sort_whole(Key *tile, uint32_t num_items, uint32_t thread)
{
	mgpu_lane_share share = {0, num_items, thread};
	Key			keys[items];

	mgpu_wait_copies();
	__syncthreads();				/* the tile is loaded */
	mgpu_load_share(keys, tile, share);
	if (!__syncthreads_or(mgpu_share_descends(keys, tile, share)))
		return false;
	mgpu_cta_sort<threads>(keys, tile, thread);
	mgpu_store_forwards(keys, tile, thread * items);
	__syncthreads();				/* the sorted tile is whole */
	return true;
}

/* Sort the pieces of a tile that is loading.  True in each thread if any was not in order.  Ends with a barrier. */
template <int threads, int lane_items, typename Key>
static __device__ __forceinline__ bool
mgpu_cta_sort_pieces(Key *tile, mgpu_piece_lists<threads> *lists, const mgpu_tile_pieces &pieces, uint32_t thread)
{
	constexpr uint32_t listed = threads * MGPU_SEGMENTED_LIST_PIECES;
	uint32_t	lane = thread % 32;
	bool		changed = false;

#pragma unroll 1
	for (uint32_t first = 0; first < pieces.num_pieces; first += listed)
	{
		uint32_t	num_units;

		mgpu_list_pieces<threads, lane_items>(lists, pieces, first, thread);
		num_units = lists->unit_ends[MGPU_PIECE_CLASSES - 1];
		for (;;)
		{
			uint32_t	unit = lane == 0 ? atomicAdd(&lists->next_unit, 1) : 0;

			unit = __shfl_sync(MGPU_WHOLE_WARP, unit, 0);
			if (unit >= num_units)
				break;
			changed |= mgpu_warp_sort_unit<lane_items>(tile, lists, unit, lane);
		}
		if (lists->counts[0] > 0)
		{
			__syncthreads();		/* the parts are sorted */
			changed |= mgpu_cta_merge_parts<lane_items>(tile, lists, thread);
		}
	}
	return __syncthreads_or(changed);
}

#endif							/* MGPU_SEGMENTED_TILE_SORT_CUH */
