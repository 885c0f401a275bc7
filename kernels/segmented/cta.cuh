/*
 * segmented/cta.cuh
 *		Sorts the segments of one tile inside a CTA.
 *
 * Heads cut a tile into pieces.  Each is sorted where it lies by the lanes that its length asks
 * for, so no lane has items of two pieces:
 *
 *	 a few items	one lane, a network of 4, 8, 16 ... items
 *	 lane_items		one lane, a network of lane_items
 *	 longer			neighbouring lanes: each sorts its items, then runs are merged in pairs
 *
 * Pieces are first listed by class, that is by cost, and free warps take units of work, the
 * longest first.  Pieces longer than a warp are sorted in parts, which the whole CTA merges at
 * last.  Pieces in order are left alone; equal keys cannot be told apart.
 *
 * Rejected: one network whose comparators stop at heads, and merges across heads (moderngpu; S.
 * Baxter, 2013), since a merged item then takes 21 operations, not 8; groups of a power of two of
 * lanes, of which a third would idle.
 */
#ifndef MGPU_SEGMENTED_CTA_CUH
#define MGPU_SEGMENTED_CTA_CUH

#include "device/tile_copy.cuh"
#include "segmented/tuning.cuh"
#include "sort/cta_sort.cuh"
#include "device/bits.cuh"

/* ----------------------------------------------------------------- classes */

/*
 * Classes by falling cost. 0: more than a warp's lanes.  Then, by pieces a warp: 1, 2, 3, 4, 5, 6,
 * 8, 10, 16, 32, of up to 32, 16, 10, 8 ... 1 lanes each.  Then the networks of less than
 * lane_items, largest first.
 */
#define MGPU_LANE_CLASSES 11
#define MGPU_PIECE_CLASSES 16
#define MGPU_NO_CLASS 31

/* Items of the networks for short segments, by number: 4, 8, 16. */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_small_items(uint32_t small)
{
	return 4u << small;
}

/* How many of them are well below lane_items. */
template <int lane_items>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_small_networks()
{
	uint32_t	count = 0;

	while (4 * mgpu_small_items(count) < 3 * lane_items)
		count++;
	return count;
}

template <int lane_items>
MGPU_HOST_DEVICE uint32_t
mgpu_piece_class(uint32_t num_items)
{
	constexpr uint32_t num_small = mgpu_small_networks<lane_items>();
	uint32_t	lanes = (num_items + lane_items - 1) / lane_items;
	uint32_t	piece_class = 10 - (lanes > 1) - (lanes > 2) - (lanes > 3) - (lanes > 4) - (lanes > 5) - (lanes > 6) -
		(lanes > 8) - (lanes > 10) - (lanes > 16) - (lanes > 32);

#pragma unroll
	for (int small = 0; small < (int) num_small; small++)
		piece_class += num_items <= mgpu_small_items(small);
	return num_items < 2 ? MGPU_NO_CLASS : piece_class;
}

/* Pieces that a warp sorts at a time; class 0 is the CTA's. */
MGPU_HOST_DEVICE uint32_t
mgpu_pieces_per_warp(uint32_t piece_class)
{
	if (piece_class <= 6)
		return piece_class;
	return piece_class == 7 ? 8 : piece_class == 8 ? 10 : piece_class == 9 ? 16 : 32;
}

/* Warp-long parts of a piece of class 0. */
template <int lane_items>
MGPU_HOST_DEVICE uint32_t
mgpu_warp_parts(uint32_t num_items)
{
	return (num_items + 32 * lane_items - 1) / (32 * lane_items);
}

/* A part in the form of a piece: its begin, and its items times 65536. */
template <int lane_items>
MGPU_HOST_DEVICE uint32_t
mgpu_warp_part(uint32_t piece, uint32_t part)
{
	uint32_t	before = part * (32 * lane_items);
	uint32_t	left = (piece >> 16) - before;

	return ((piece & 0xFFFF) + before) | (left < 32 * lane_items ? left : 32 * lane_items) << 16;
}

struct mgpu_tile_pieces
{
	const uint32_t *heads;		/* heads[i] begins piece i + 1 */
	uint32_t	begin;			/* of the tile; piece 0 begins here */
	uint32_t	num_items;
	uint32_t	num_pieces;		/* at least 1 */
	bool		open;			/* a segment continues across one of its borders */

	/* Where a piece begins in the tile, and its items times 65536. */
	__host__ __device__ __forceinline__ uint32_t
	at(uint32_t piece) const
	{
		uint32_t	from = piece > 0 ? heads[piece - 1] - begin : 0;
		uint32_t	to = piece + 1 < num_pieces ? heads[piece] - begin : num_items;

		return from | (to - from) << 16;
	}
};

/* ------------------------------------------------------------------ shares */

/* A lane's share of a piece: up to `items` items from item lane * items on. */
struct mgpu_lane_share
{
	uint32_t	begin;			/* of the piece, a slot of the tile */
	uint32_t	num_items;		/* of the piece; 0: the lane idles */
	uint32_t	lane;
};

template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_share_items(const mgpu_lane_share &share)
{
	uint32_t	before = share.lane * items;
	uint32_t	left = share.num_items > before ? share.num_items - before : 0;

	return left < items ? left : items;
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_load_share(Key (&keys)[items], const Key *tile, const mgpu_lane_share &share)
{
	const Key  *own = tile + share.begin + share.lane * items;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
		keys[i] = i < count ? own[i] : mgpu_largest_key<Key>();
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_share(const Key (&keys)[items], Key *tile, const mgpu_lane_share &share)
{
	Key		   *own = tile + share.begin + share.lane * items;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		if (i < count)
			own[i] = keys[i];
	}
}

/* Is there an item smaller than its predecessor in the piece? */
template <int items, typename Key>
MGPU_HOST_DEVICE bool
mgpu_share_descends(const Key (&keys)[items], const Key *tile, const mgpu_lane_share &share)
{
	bool		descends = false;

	if (share.lane > 0 && mgpu_share_items<items>(share) > 0)
		descends = keys[0] < tile[share.begin + share.lane * items - 1];
#pragma unroll
	for (int i = 1; i < items; i++)
		descends |= keys[i] < keys[i - 1];
	return descends;
}

/* Put a share into its run of run_lanes lanes: forwards in even runs, backwards in odd. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_share_facing(const Key (&keys)[items], Key *tile, const mgpu_lane_share &share, uint32_t run_lanes)
{
	uint32_t	run_begin = (share.lane & ~(run_lanes - 1)) * items;
	uint32_t	run_end = run_begin + run_lanes * items < share.num_items ? run_begin + run_lanes * items :
		share.num_items;
	bool		is_odd = (share.lane & run_lanes) != 0;
	uint32_t	item = share.lane * items;
	uint32_t	slot = share.begin + (is_odd ? run_begin + run_end - 1 - item : item);
	uint32_t	step = is_odd ? 0u - 1 : 1;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		if (i < count)
			tile[slot + i * step] = keys[i];
	}
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_share(Key (&keys)[items], const Key *tile, const mgpu_lane_share &share, uint32_t run_lanes)
{
	uint32_t	pair_begin = (share.lane & ~(2 * run_lanes - 1)) * items;
	uint32_t	run_items = run_lanes * items;
	uint32_t	count = mgpu_share_items<items>(share);
	uint32_t	pair_items;
	uint32_t	a_items;

	if (count == 0)
		return;
	pair_items = share.num_items - pair_begin < 2 * run_items ? share.num_items - pair_begin : 2 * run_items;
	a_items = pair_items < run_items ? pair_items : run_items;
	mgpu_merge_facing(keys, tile, share.begin + pair_begin, a_items, pair_items - a_items,
					  share.lane * items - pair_begin, count);
}

#ifdef __CUDACC__

#define MGPU_WHOLE_WARP 0xFFFFFFFFu

/* ------------------------------------------------------------------- lists */

/* Pieces by class, in shared memory. */
template <int threads>
struct mgpu_piece_lists
{
	uint32_t	counts[MGPU_PIECE_CLASSES];
	uint32_t	begins[MGPU_PIECE_CLASSES];
	uint32_t	unit_ends[MGPU_PIECE_CLASSES];	/* units up to a class; the CTA's class has none */
	uint32_t	next_unit;
	uint32_t	pieces[threads * MGPU_SEGMENTED_LIST_PIECES + threads / 16];	/* and parts of long ones */
};

/* Where the classes begin, from their counts.  By one warp. */
template <int threads>
static __device__ __forceinline__ void
mgpu_lay_out_lists(mgpu_piece_lists<threads> *lists, uint32_t lane)
{
	bool		is_class = lane < MGPU_PIECE_CLASSES;
	uint32_t	count = is_class ? lists->counts[lane] : 0;
	uint32_t	per_warp = mgpu_pieces_per_warp(lane);
	uint32_t	end = count;
	uint32_t	unit_end = lane == 0 ? 0 : (count + per_warp - 1) / per_warp;

#pragma unroll
	for (uint32_t distance = 1; distance < MGPU_PIECE_CLASSES; distance *= 2)
	{
		uint32_t	before = __shfl_up_sync(MGPU_WHOLE_WARP, end, distance);
		uint32_t	units_before = __shfl_up_sync(MGPU_WHOLE_WARP, unit_end, distance);

		if (lane >= distance)
		{
			end += before;
			unit_end += units_before;
		}
	}
	if (is_class)
	{
		lists->begins[lane] = end - count;
		lists->unit_ends[lane] = unit_end;
	}
}

/*
 * List the tile's pieces from `first` on, as many as fit.  Ends with a barrier; this thread's
 * copies have landed before it.
 */
template <int threads, int lane_items>
static __device__ __forceinline__ void
mgpu_list_pieces(mgpu_piece_lists<threads> *lists, const mgpu_tile_pieces &pieces, uint32_t first, uint32_t thread)
{
	uint32_t	listed[MGPU_SEGMENTED_LIST_PIECES];
	uint32_t	places[MGPU_SEGMENTED_LIST_PIECES];	/* in their class; its number times 65536 */
	uint32_t	long_places[MGPU_SEGMENTED_LIST_PIECES];

	__syncthreads();				/* the previous lists are no longer used */
	if (thread < MGPU_PIECE_CLASSES)
		lists->counts[thread] = 0;
	if (thread == 0)
		lists->next_unit = 0;
	__syncthreads();				/* counts are zero */
#pragma unroll
	for (int i = 0; i < MGPU_SEGMENTED_LIST_PIECES; i++)
	{
		uint32_t	piece = first + i * threads + thread;
		uint32_t	piece_class = MGPU_NO_CLASS;
		uint32_t	alike;
		uint32_t	leader;
		uint32_t	place = 0;

		listed[i] = long_places[i] = 0;
		if (piece < pieces.num_pieces)
		{
			listed[i] = pieces.at(piece);
			piece_class = mgpu_piece_class<lane_items>(listed[i] >> 16);
		}
		alike = __match_any_sync(MGPU_WHOLE_WARP, piece_class);
		leader = mgpu_lowest_bit(alike);
		if (thread % 32 == leader && piece_class != MGPU_NO_CLASS)
			place = atomicAdd(&lists->counts[piece_class], (uint32_t) __popc(alike));
		place = __shfl_sync(MGPU_WHOLE_WARP, place, (int) leader) + __popc(alike & ((1u << thread % 32) - 1));
		places[i] = place | piece_class << 16;
	}
#pragma unroll
	for (int i = 0; i < MGPU_SEGMENTED_LIST_PIECES; i++)
	{
		if (places[i] >> 16 == 0)	/* longer than a warp: listed by its parts too */
			long_places[i] = atomicAdd(&lists->counts[1], mgpu_warp_parts<lane_items>(listed[i] >> 16));
	}
	__syncthreads();				/* all are counted */
	if (thread < 32)
		mgpu_lay_out_lists(lists, thread);
	__syncthreads();				/* the classes have their places */
#pragma unroll
	for (int i = 0; i < MGPU_SEGMENTED_LIST_PIECES; i++)
	{
		uint32_t	piece_class = places[i] >> 16;

		if (piece_class != MGPU_NO_CLASS)
			lists->pieces[lists->begins[piece_class] + (places[i] & 0xFFFF)] = listed[i];
		if (piece_class == 0)
		{
			uint32_t   *parts = lists->pieces + lists->begins[1] + long_places[i];

			for (uint32_t part = 0; part < mgpu_warp_parts<lane_items>(listed[i] >> 16); part++)
				parts[part] = mgpu_warp_part<lane_items>(listed[i], part);
		}
	}
	mgpu_wait_copies();
	__syncthreads();				/* the lists are whole */
}

/* ------------------------------------------------------------------- sorts */

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

#endif							/* __CUDACC__ */
#endif							/* MGPU_SEGMENTED_CTA_CUH */
