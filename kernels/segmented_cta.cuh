/*
 * segmented_cta.cuh
 *		Sorts the segments of one tile inside a CTA.
 *
 * The heads in a tile are bits, and a thread has those of its items in a word.
 *
 *	 1. Each thread sorts its items by a network whose comparators work only
 *		where no head lies between their two items.  A network in which every
 *		comparator puts the smaller item first sorts any stretch of neighbours by
 *		the comparators inside it alone (set what lies left of the stretch to the
 *		smallest key and what lies right of it to the largest: neither moves), so
 *		Batcher's network serves all segments of a thread at a time.
 *	 2. Segments are merged across the threads of a warp, then across the warps
 *		of the CTA.  A segment is cut by the borders of units (threads, warps)
 *		into pieces, counted from its own first one:
 *
 *			units	 | 0       | 1       | 2       | 3       | 4       |
 *			segments  a  a  b  b  b  b  b  b  b  b  c  d  d  d  d  d  d
 *			pieces    0     0  [   1    ] [ 2     ] 0  0     [   1    ]
 *
 *		Level by level, runs of 1, 2, 4 … pieces are merged in pairs.  So a
 *		segment of k pieces takes ceil(log2 k) levels wherever it lies, and a
 *		warp is done with the levels of its longest segment.
 *
 * A thread has at most two segments that reach past its items: the one that
 * comes from the left and the one that goes on to the right.  Both are merged in
 * one unrolled loop, which changes over at the second one's first item.
 *
 * Source: segmented mergesort of moderngpu (S. Baxter, 2013), which takes odd-
 * even transposition and one binary tree over all threads.  The tree was
 * rejected: some border of every level cuts some short segment, so every warp
 * would go through nearly all levels for segments of ten items.  Keys widened by
 * a segment number were rejected too: twice the shared memory.
 *
 * Equal keys cannot be told apart, here as in cta_sort.cuh.
 */
#ifndef MGPU_SEGMENTED_CTA_CUH
#define MGPU_SEGMENTED_CTA_CUH

#include "cta_sort.cuh"
#include "quad_pass.cuh"

/* All of a thread's items, as bits. */
template <int items>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_all_items()
{
	return (UINT32_C(1) << items) - 1;
}

/* Words that the heads of so many items take; reading runs one word ahead. */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_head_words(uint32_t num_items)
{
	return (num_items + 31) / 32 + 1;
}

/* Which of a thread's items begin a segment, from the bits of the tile. */
template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_thread_heads(const uint32_t *head_words, uint32_t thread)
{
	uint32_t	slot = thread * items;
	uint64_t	window = head_words[slot / 32] | (uint64_t) head_words[slot / 32 + 1] << 32;

	return (uint32_t) (window >> slot % 32) & mgpu_all_items<items>();
}

/* Take a thread's items from slot, slot + 1 … */
template <int items, typename Item>
MGPU_HOST_DEVICE void
mgpu_load_forwards(Item (&values)[items], const Item *tile, uint32_t slot)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		values[i] = tile[slot + i];
}

/* Is there an item smaller than its predecessor in the same segment? */
template <int items, typename Key>
MGPU_HOST_DEVICE bool
mgpu_has_descent(const Key (&keys)[items], uint32_t heads, const Key *tile, uint32_t thread)
{
	uint32_t	descents = thread > 0 && keys[0] < tile[thread * items - 1];

#pragma unroll
	for (int i = 1; i < items; i++)
		descents |= (uint32_t) (keys[i] < keys[i - 1]) << i;
	return (descents & ~heads) != 0;
}

/* ------------------------------------------------------------ thread sort */

/* As mgpu_batcher_levels, without the comparators that cross a head. */
template <int size, int stride, int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_batcher_levels_inside(Key (&keys)[items], uint32_t heads)
{
	constexpr int first = stride % size;

#pragma unroll
	for (int x = first; x + stride < items; x++)
	{
		if ((x - first) / stride % 2 == 0 && x / (2 * size) == (x + stride) / (2 * size))
		{
			uint32_t	between = ((UINT32_C(1) << stride) - 1) << (x + 1);
			bool		swap = keys[x + stride] < keys[x] && (heads & between) == 0;
			Key			smaller = swap ? keys[x + stride] : keys[x];

			keys[x + stride] = swap ? keys[x] : keys[x + stride];
			keys[x] = smaller;
		}
	}
	if constexpr (stride > 1)
		mgpu_batcher_levels_inside<size, stride / 2>(keys, heads);
	else if constexpr (2 * size < items)
		mgpu_batcher_levels_inside<2 * size, 2 * size>(keys, heads);
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_thread_sort_segments(Key (&keys)[items], uint32_t heads)
{
	mgpu_batcher_levels_inside<1, 1>(keys, heads);
}

/* ------------------------------------------------------------------ pieces */

/*
 * A thread's two segments that may reach past its items, as slots of the tile.
 * left has the thread's first item and may end among its items; right begins
 * with the thread's last head.  Either is empty where there is none: left where
 * the first item is a head, right where the thread has no head.
 */
struct mgpu_thread_pieces
{
	uint32_t	left_begin;
	uint32_t	left_end;
	uint32_t	right_begin;
	uint32_t	right_end;
};

/* previous_head: the last head before the thread's items; next_head: the first one behind. */
template <int items>
MGPU_HOST_DEVICE mgpu_thread_pieces
mgpu_find_pieces(uint32_t heads, uint32_t thread, uint32_t previous_head, uint32_t next_head)
{
	uint32_t	slot = thread * items;
	mgpu_thread_pieces pieces;

	pieces.left_begin = (heads & 1) != 0 ? slot : previous_head;
	pieces.left_end = heads != 0 ? slot + mgpu_lowest_bit(heads) : next_head;
	pieces.right_begin = heads != 0 ? slot + mgpu_highest_bit(heads) : next_head;
	pieces.right_end = next_head;
	return pieces;
}

/* How many borders of units lie in a segment. */
template <uint32_t unit_items>
MGPU_HOST_DEVICE uint32_t
mgpu_count_borders(uint32_t begin, uint32_t end)
{
	return begin < end ? (end - 1) / unit_items - begin / unit_items : 0;
}

/* Levels go on while runs are no longer than this. */
template <uint32_t unit_items>
MGPU_HOST_DEVICE uint32_t
mgpu_most_run_units(const mgpu_thread_pieces &pieces)
{
	uint32_t	left = mgpu_count_borders<unit_items>(pieces.left_begin, pieces.left_end);
	uint32_t	right = mgpu_count_borders<unit_items>(pieces.right_begin, pieces.right_end);

	return left > right ? left : right;
}

/* A thread's share of a level: what it merges into its items. */
struct mgpu_piece_merge
{
	mgpu_merge_range left;
	mgpu_merge_range right;
	uint32_t	right_item;		/* first item of right; no item's number if there is none */
	uint32_t	active;			/* bit i: item i is an output */
};

/*
 * Merge runs of run_units units, in pairs counted from each segment's first
 * unit.  Lists that are in order already are left alone.
 */
template <int items, int unit_threads, typename Key>
MGPU_HOST_DEVICE mgpu_piece_merge
mgpu_plan_pieces(const Key *tile, const mgpu_thread_pieces &pieces, uint32_t thread, uint32_t run_units)
{
	constexpr uint32_t unit_items = items * unit_threads;
	uint32_t	slot = thread * items;
	uint32_t	unit = thread / unit_threads;
	mgpu_piece_merge merge = {{slot, slot, slot, slot}, {slot, slot, slot, slot}, items, 0};

	if (pieces.left_end > slot)
	{
		uint32_t	first_unit = pieces.left_begin / unit_items;
		uint32_t	pair_unit = first_unit + ((unit - first_unit) & ~(2 * run_units - 1));
		uint32_t	pair_begin = pair_unit * unit_items;
		uint32_t	begin = pair_begin > pieces.left_begin ? pair_begin : pieces.left_begin;
		uint32_t	middle = pair_begin + run_units * unit_items;
		uint32_t	pair_end = middle + run_units * unit_items;
		uint32_t	end = pair_end < pieces.left_end ? pair_end : pieces.left_end;

		if (middle < end && tile[middle] < tile[middle - 1])
		{
			uint32_t	outputs = pieces.left_end - slot;

			merge.left = mgpu_find_merge_range(tile, begin, middle - begin, middle, end - middle, slot - begin);
			merge.active = outputs < items ? (UINT32_C(1) << outputs) - 1 : mgpu_all_items<items>();
		}
	}
	if (pieces.right_end > slot + items && pieces.right_begin < slot + items)
	{
		uint32_t	middle = (unit + run_units) * unit_items;
		uint32_t	pair_end = middle + run_units * unit_items;
		uint32_t	end = pair_end < pieces.right_end ? pair_end : pieces.right_end;

		if (middle < end && tile[middle] < tile[middle - 1])
		{
			merge.right.a_begin = pieces.right_begin;
			merge.right.a_end = merge.right.b_begin = middle;
			merge.right.b_end = end;
			merge.right_item = pieces.right_begin - slot;
			merge.active |= mgpu_all_items<items>() & ~UINT32_C(0) << merge.right_item;
		}
	}
	return merge;
}

/* Are all items outputs of left, and does neither list end before they do? */
template <int items>
MGPU_HOST_DEVICE bool
mgpu_is_unbounded(const mgpu_piece_merge &merge)
{
	return merge.active == mgpu_all_items<items>() && merge.right_item == items &&
		merge.left.a_begin + items <= merge.left.a_end && merge.left.b_begin + items <= merge.left.b_end;
}

/*
 * Merge left, then right, into the active items; the others stay.  Reads no slot
 * behind last_slot.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_pieces(Key (&keys)[items], const Key *tile, const mgpu_piece_merge &merge, uint32_t last_slot)
{
	constexpr uint32_t key_bytes = sizeof(Key);
	const char *shared = reinterpret_cast<const char *>(tile);
	uint32_t	last = last_slot * key_bytes;
	uint32_t	a = merge.left.a_begin * key_bytes;
	uint32_t	a_end = merge.left.a_end * key_bytes;
	uint32_t	b = merge.left.b_begin * key_bytes;
	uint32_t	b_end = merge.left.b_end * key_bytes;
	uint32_t	right_a = merge.right.a_begin * key_bytes;
	uint32_t	right_b = merge.right.b_begin * key_bytes;
	uint32_t	right_b_end = merge.right.b_end * key_bytes;
	Key			a_key = mgpu_item_at<Key>(shared, a < last ? a : last);
	Key			b_key = mgpu_item_at<Key>(shared, b < last ? b : last);
	Key			right_b_key = mgpu_item_at<Key>(shared, right_b);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		bool		change = i == (int) merge.right_item;
		bool		take_b;

		a = change ? right_a : a;
		b = change ? right_b : b;
		a_end = change ? right_b : a_end;	/* right's lists adjoin */
		b_end = change ? right_b_end : b_end;
		a_key = change ? keys[i] : a_key;	/* its own item, still in its place */
		b_key = change ? right_b_key : b_key;
		take_b = b < b_end && (a >= a_end || b_key < a_key);
		keys[i] = (merge.active >> i & 1) != 0 ? (take_b ? b_key : a_key) : keys[i];
		if (i + 1 < items)
		{
			uint32_t	next = (take_b ? b : a) + key_bytes;
			Key			next_key = mgpu_item_at<Key>(shared, next < last ? next : last);

			a = take_b ? a : next;
			b = take_b ? next : b;
			a_key = take_b ? a_key : next_key;
			b_key = take_b ? next_key : b_key;
		}
	}
}

/* A thread's share of a level where its warp needs no bounds, or on the host. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_pieces_unbounded(Key (&keys)[items], const Key *tile, const mgpu_piece_merge &merge)
{
	mgpu_serial_merge<1, items>(reinterpret_cast<const char *>(tile), merge.left.a_begin * (uint32_t) sizeof(Key),
								merge.left.b_begin * (uint32_t) sizeof(Key), keys);
}

#ifdef __CUDACC__

#define MGPU_NO_SLOT UINT32_MAX
#define MGPU_WHOLE_WARP 0xFFFFFFFFu

/* Merge one level; true if this thread's items may have changed. */
template <int items, int unit_threads, typename Key>
static __device__ __forceinline__ bool
mgpu_merge_level(Key (&keys)[items], const Key *tile, const mgpu_thread_pieces &pieces, uint32_t thread,
				 uint32_t run_units, uint32_t last_slot)
{
	mgpu_piece_merge merge = mgpu_plan_pieces<items, unit_threads>(tile, pieces, thread, run_units);

	if (__all_sync(MGPU_WHOLE_WARP, mgpu_is_unbounded<items>(merge)))
		mgpu_merge_pieces_unbounded(keys, tile, merge);
	else if (__any_sync(MGPU_WHOLE_WARP, merge.active != 0))
		mgpu_merge_pieces(keys, tile, merge, last_slot);
	return merge.active != 0;
}

/* The heads nearest to a thread's items, MGPU_NO_SLOT where its warp has none there. */
struct mgpu_near_heads
{
	uint32_t	previous;
	uint32_t	next;
	uint32_t	warp_first;		/* the warp's own */
	uint32_t	warp_last;
};

template <int items>
static __device__ __forceinline__ mgpu_near_heads
mgpu_find_near_heads(uint32_t heads, uint32_t thread)
{
	uint32_t	lane = thread % 32;
	uint32_t	headed = __ballot_sync(MGPU_WHOLE_WARP, heads != 0);
	uint32_t	before = headed & ((1u << lane) - 1);
	uint32_t	behind = headed & ~1u << lane;
	uint32_t	first = thread * items + __ffs((int) heads) - 1;
	uint32_t	last = thread * items + 31 - __clz((int) heads);
	mgpu_near_heads near_heads;

	near_heads.previous = __shfl_sync(MGPU_WHOLE_WARP, last, 31 - __clz((int) before));
	near_heads.next = __shfl_sync(MGPU_WHOLE_WARP, first, __ffs((int) behind) - 1);
	near_heads.warp_first = __shfl_sync(MGPU_WHOLE_WARP, first, __ffs((int) headed) - 1);
	near_heads.warp_last = __shfl_sync(MGPU_WHOLE_WARP, last, 31 - __clz((int) headed));
	if (before == 0)
		near_heads.previous = MGPU_NO_SLOT;
	if (behind == 0)
		near_heads.next = MGPU_NO_SLOT;
	if (headed == 0)
		near_heads.warp_first = near_heads.warp_last = MGPU_NO_SLOT;
	return near_heads;
}

/* Sort the items of a warp without heads, and put them into the tile. */
template <int items, typename Key>
static __device__ __forceinline__ void
mgpu_warp_sort(Key (&keys)[items], Key *tile, uint32_t thread)
{
	mgpu_thread_sort(keys);
#pragma unroll 1
	for (uint32_t run_threads = 1; run_threads < 32; run_threads *= 2)
	{
		mgpu_store_facing(keys, tile, thread, run_threads);
		__syncwarp();				/* both runs are written */
		mgpu_merge_facing_runs(keys, tile, thread, run_threads);
		__syncwarp();				/* both runs are read */
	}
	mgpu_store_forwards(keys, tile, thread * items);
}

/* Sort the pieces that segments have in a warp, and put them into the tile. */
template <int items, typename Key>
static __device__ __forceinline__ void
mgpu_warp_sort_segments(Key (&keys)[items], Key *tile, uint32_t heads, const mgpu_near_heads &near_heads,
						uint32_t thread)
{
	uint32_t	warp_begin = thread / 32 * (32 * items);
	uint32_t	warp_end = warp_begin + 32 * items;
	uint32_t	previous = near_heads.previous == MGPU_NO_SLOT ? warp_begin : near_heads.previous;
	uint32_t	next = near_heads.next == MGPU_NO_SLOT ? warp_end : near_heads.next;
	mgpu_thread_pieces pieces = mgpu_find_pieces<items>(heads, thread, previous, next);
	uint32_t	most_run_threads = mgpu_most_run_units<items>(pieces);

	mgpu_thread_sort_segments(keys, heads);
	mgpu_store_forwards(keys, tile, thread * items);
	__syncwarp();					/* the threads' items are written */
#pragma unroll 1
	for (uint32_t run_threads = 1; __any_sync(MGPU_WHOLE_WARP, run_threads <= most_run_threads); run_threads *= 2)
	{
		bool		changed = mgpu_merge_level<items, 1>(keys, tile, pieces, thread, run_threads, warp_end - 1);

		__syncwarp();				/* the level's inputs are read */
		if (changed)
			mgpu_store_forwards(keys, tile, thread * items);
		__syncwarp();				/* its outputs are written */
	}
}

/* The last head of the warps before this one, and the first head of those behind. */
static __device__ __forceinline__ void
mgpu_find_far_heads(const uint32_t *warp_first, const uint32_t *warp_last, uint32_t num_warps, uint32_t thread,
					uint32_t *previous, uint32_t *next)
{
	uint32_t	warp = thread / 32;
	uint32_t	lane = thread % 32;
	uint32_t	first = lane < num_warps ? warp_first[lane] : MGPU_NO_SLOT;
	uint32_t	last = lane < num_warps ? warp_last[lane] : MGPU_NO_SLOT;
	uint32_t	headed = __ballot_sync(MGPU_WHOLE_WARP, first != MGPU_NO_SLOT);
	uint32_t	before = headed & ((1u << warp) - 1);
	uint32_t	behind = headed & ~1u << warp;

	*previous = __shfl_sync(MGPU_WHOLE_WARP, last, 31 - __clz((int) before));
	*next = __shfl_sync(MGPU_WHOLE_WARP, first, __ffs((int) behind) - 1);
	if (before == 0)
		*previous = MGPU_NO_SLOT;
	if (behind == 0)
		*next = MGPU_NO_SLOT;
}

/*
 * Sort the segments of a tile.  Thread t begins with items t * items …; its first
 * item counts as a head where t is 0.  The sorted items are in the tile when the
 * last thread returns.  All threads have read the tile, warp_heads has room for
 * 64 words.
 */
template <int threads, int items, typename Key>
static __device__ __forceinline__ void
mgpu_cta_sort_segments(Key (&keys)[items], Key *tile, uint32_t heads, uint32_t *warp_heads, uint32_t thread)
{
	constexpr uint32_t num_warps = threads / 32;
	uint32_t	lane = thread % 32;
	mgpu_near_heads near_heads = mgpu_find_near_heads<items>(heads, thread);
	mgpu_thread_pieces pieces;
	uint32_t	previous;
	uint32_t	next;
	uint32_t	most_run_warps;

	if (lane == 0)
	{
		warp_heads[thread / 32] = near_heads.warp_first;
		warp_heads[32 + thread / 32] = near_heads.warp_last;
	}
	if (__any_sync(MGPU_WHOLE_WARP, (lane == 0 ? heads & ~1u : heads) != 0))
		mgpu_warp_sort_segments(keys, tile, heads, near_heads, thread);
	else
		mgpu_warp_sort(keys, tile, thread);
	__syncthreads();				/* all warps' items and heads are written */
	near_heads = mgpu_find_near_heads<items>(heads, thread);	/* found again, to keep no registers */
	mgpu_find_far_heads(warp_heads, warp_heads + 32, num_warps, thread, &previous, &next);
	if (near_heads.previous != MGPU_NO_SLOT)
		previous = near_heads.previous;
	if (near_heads.next != MGPU_NO_SLOT)
		next = near_heads.next;
	if (next == MGPU_NO_SLOT)
		next = threads * items;
	pieces = mgpu_find_pieces<items>(heads, thread, previous, next);
	most_run_warps = mgpu_most_run_units<32 * items>(pieces);
#pragma unroll 1
	for (uint32_t run_warps = 1; __syncthreads_or(run_warps <= most_run_warps); run_warps *= 2)
	{
		bool		changed = mgpu_merge_level<items, 32>(keys, tile, pieces, thread, run_warps, threads * items - 1);

		__syncthreads();			/* the level's inputs are read */
		if (changed)
			mgpu_store_forwards(keys, tile, thread * items);
	}
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_SEGMENTED_CTA_CUH */
