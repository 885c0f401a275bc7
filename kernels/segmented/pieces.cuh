/*
 * segmented/pieces.cuh
 *		The pieces of a tile, and their lists by class.
 *
 * Heads cut a tile into pieces.  A class says how many lanes sort a piece, and so what it costs.
 * Lists by class let free warps take pieces of equal cost, the longest first.
 */
#ifndef MGPU_SEGMENTED_PIECES_CUH
#define MGPU_SEGMENTED_PIECES_CUH

#include "device/arithmetic.cuh"
#include "device/tile_copy.cuh"
#include "segmented/tuning.cuh"

struct mgpu_tile_pieces
{
	const uint32_t *heads;		/* heads[i] begins piece i + 1 */
	uint32_t	begin;			/* of the tile; piece 0 begins here */
	uint32_t	num_items;
	uint32_t	num_pieces;		/* at least 1 */
	bool		open;			/* a segment continues across one of its borders */

	/* Where a piece begins in the tile, and its items times 65536. */
	MGPU_MEMBER uint32_t
	at(uint32_t piece) const
	{
		uint32_t	from = piece > 0 ? heads[piece - 1] - begin : 0;
		uint32_t	to = piece + 1 < num_pieces ? heads[piece] - begin : num_items;

		return from | (to - from) << 16;
	}
};

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

#endif							/* MGPU_SEGMENTED_PIECES_CUH */
