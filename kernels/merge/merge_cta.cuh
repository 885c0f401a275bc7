/*
 * merge/merge_cta.cuh
 *		What a CTA does with its tile of a merge: find, load, merge or copy it.
 *
 * Keys lie in shared memory as merge_tile.cuh says.  While they load, the CTA prefetches a tile
 * that a later CTA will load, and reads the tile's ends to see how its keys may be compared.  A
 * tile with items of one list alone is copied, and its order checked on the way.  Whole tiles of
 * that kind go through registers, where no warp waits for another; merging needs shared memory,
 * where a thread finds its diagonal.
 */
#ifndef MGPU_MERGE_MERGE_CTA_CUH
#define MGPU_MERGE_MERGE_CTA_CUH

#include "merge/merge_tile.cuh"
#include "merge/ops.h"
#include "merge/splits.cuh"

/* -------------------------------------------------------------------- load */

/* Load an interval and its successor, and fill the gap behind. */
template <class Tuning, class Order>
static __device__ __forceinline__ void
mgpu_load_list(typename Order::Stored *slots, const typename Order::Stored *list, uint64_t begin,
			   uint32_t num_items, uint64_t list_items, uint32_t gaps, const Order &order)
{
	uint32_t	load_items = num_items + (begin + num_items < list_items);
	uint32_t	gap = load_items + threadIdx.x;

	mgpu_load_interval<Tuning::threads, Tuning::loads_by_l1>(slots, list + begin, load_items, threadIdx.x);
	if (gap < num_items + gaps)
		slots[gap] = order.last;
}

/* How a tile's keys may be compared; the same for all threads of a CTA. */
typedef enum mgpu_tile_kind
{
	MGPU_TILE_ANY,
	MGPU_TILE_POSITIVE,			/* plain keys of one sign (key_order.cuh) */
	MGPU_TILE_NEGATIVE
} mgpu_tile_kind;

/* Reads the ends in global memory.  Whole warps call. */
template <class Order>
static __device__ __forceinline__ mgpu_tile_kind
mgpu_kind_of_tile(const mgpu_merge_lists<Order> &lists, const mgpu_merge_tile &tile)
{
	if constexpr (Order::has_plain_tiles)
	{
		uint32_t	lane = threadIdx.x % 32;
		mgpu_tile_end end = {true, false, false};
		bool		negative;
		bool		positive;

		if (lane < MGPU_TILE_ENDS)
			end = mgpu_read_tile_end(lists, tile, lane);
		negative = __any_sync(MGPU_WHOLE_WARP, end.negative);
		positive = __any_sync(MGPU_WHOLE_WARP, end.positive);
		if (__all_sync(MGPU_WHOLE_WARP, end.allows_plain) && !(negative && positive))
			return negative ? MGPU_TILE_NEGATIVE : MGPU_TILE_POSITIVE;
	}
	return MGPU_TILE_ANY;
}

template <class Order>
static __device__ __forceinline__ void
mgpu_prefetch_tile(const mgpu_merge_lists<Order> &lists, mgpu_tile_plan plan)
{
	uint64_t	number;
	mgpu_merge_tile tile;

	if (mgpu_prefetches(plan, &number) && mgpu_place_tile(lists, number, mgpu_splits_of(plan, number), tile))
	{
		mgpu_prefetch_interval(lists.a + tile.a_begin, tile.a_items);
		mgpu_prefetch_interval(lists.b + tile.b_begin, tile.b_items);
	}
}

/* Find this CTA's tile.  False: there is none, since an input is not sorted. */
template <class Order>
static __device__ __forceinline__ bool
mgpu_find_tile(const mgpu_merge_lists<Order> &lists, mgpu_tile_plan plan, mgpu_merge_tile &tile)
{
	mgpu_await_previous();
	return mgpu_place_tile(lists, blockIdx.x, mgpu_splits_of(plan, blockIdx.x), tile);
}

/*
 * Load it; ends with a barrier.  Meanwhile the first warp prefetches a tile, and the second reads
 * the tile's ends. (All eight warps reading them takes 2 % more.)
 */
template <class Tuning, class Order>
static __device__ __forceinline__ mgpu_tile_kind
mgpu_load_tile(const mgpu_merge_lists<Order> &lists, mgpu_tile_plan plan, typename Order::Stored *slots,
			   const mgpu_merge_tile &tile)
{
	__shared__ mgpu_tile_kind kind;

	mgpu_load_list<Tuning>(slots + tile.a_slot, lists.a, tile.a_begin, tile.a_items, lists.a_items,
						   1, lists.order);
	mgpu_load_list<Tuning>(slots + tile.b_slot, lists.b, tile.b_begin, tile.b_items, lists.b_items,
						   1 + Tuning::items_per_thread, lists.order);
	mgpu_prefetch_tile(lists, plan);
	if (Order::has_plain_tiles && threadIdx.x / 32 == 1)
	{
		mgpu_tile_kind found = mgpu_kind_of_tile(lists, tile);

		if (threadIdx.x % 32 == 0)
			kind = found;
	}
	mgpu_wait_copies();
	__syncthreads();				/* intervals and gaps are in place */
	return Order::has_plain_tiles ? kind : MGPU_TILE_ANY;
}

/* Report an unsorted input. */
static __device__ __forceinline__ void
mgpu_report_suspect(mgpu_order_check *check, bool in_order)
{
	if (!in_order && check != nullptr)
		check->suspect = 0;
}

/*
 * Merge this thread's share of the tile.  Ends with a barrier, after which the inputs are read.
 * starts has one place a thread.
 */
template <class Tuning, class Order, class Emit>
static __device__ __forceinline__ void
mgpu_merge_tile_share(const typename Order::Stored *slots, const mgpu_merge_tile &tile, const Order &order,
					  uint32_t *starts, mgpu_order_check *check, Emit emit)
{
	uint32_t	thread = threadIdx.x;
	mgpu_share	share = mgpu_find_share(slots, tile, order, thread * Tuning::items_per_thread);
	bool		in_order;

	starts[thread] = share.a;
	in_order = mgpu_merge_share<Tuning::items_per_thread>(slots, share, order, emit);
	__syncthreads();				/* inputs are read, starts and outputs written */
	in_order &= share.a == (thread + 1 < Tuning::threads ? starts[thread + 1] : share.a_end);
	mgpu_report_suspect(check, in_order);
}

/* Call merge with the cheapest order that holds for this tile. */
template <class Order, class Merge>
static __device__ __forceinline__ void
mgpu_in_tile_order(mgpu_tile_kind kind, const Order &order, Merge merge)
{
	if constexpr (Order::has_plain_tiles)
	{
		if (kind != MGPU_TILE_ANY)
		{
			merge(order.plain(kind == MGPU_TILE_NEGATIVE));
			return;
		}
	}
	merge(order);
}

/* A tile with items of one list alone: check its order, and call put(item, slot) for each item of this thread. */
template <int threads, class Order, class Put>
static __device__ __forceinline__ bool
mgpu_copy_tile(const typename Order::Stored *slots, const mgpu_merge_tile &tile, const Order &order, Put put)
{
	uint32_t	first = tile.a_items == 0 ? tile.b_slot : tile.a_slot;
	uint32_t	num_items = tile.a_items + tile.b_items;
	bool		in_order = true;

#pragma unroll 4
	for (uint32_t item = threadIdx.x; item < num_items; item += threads)
	{
		in_order &= !mgpu_sorts_before(order, slots[first + item + 1], slots[first + item]);
		put(item, first + item);
	}
	return in_order;
}

static __device__ __forceinline__ bool
mgpu_is_one_list(const mgpu_merge_tile &tile)
{
	return tile.a_items == 0 || tile.b_items == 0;
}

/*
 * A whole tile of one list, through registers.  All of a thread's loads are under way together, so
 * a prefetch of a tile ahead gains nothing.  A warp's items are neighbours.
 */
template <class Tuning, class Order>
static __device__ __forceinline__ bool
mgpu_copy_by_registers(const typename Order::Stored *list, uint64_t begin, uint64_t list_items,
					   typename Order::Stored *out, const Order &order)
{
	typedef typename Order::Stored Stored;
	constexpr int rows = Tuning::items_per_thread;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	first = threadIdx.x / 32 * rows * 32 + lane;
	uint64_t	behind = begin + first - lane + rows * 32;
	Stored		keys[rows];
	Stored		next;
	bool		in_order = true;

	list += begin;
#pragma unroll
	for (int r = 0; r < rows; r++)
		keys[r] = list[first + r * 32];
	next = behind < list_items ? list[behind - begin] : keys[rows - 1];
#pragma unroll
	for (int r = rows - 1; r >= 0; r--)
	{
		Stored		follower = __shfl_down_sync(MGPU_WHOLE_WARP, keys[r], 1);

		if (lane == 31)
			follower = next;
		next = __shfl_sync(MGPU_WHOLE_WARP, keys[r], 0);
		in_order &= !mgpu_sorts_before(order, follower, keys[r]);
		out[first + r * 32] = keys[r];
	}
	return in_order;
}

/* A tile of items of a alone or of b alone; out is its place. */
template <class Tuning, class Order>
static __device__ __forceinline__ void
mgpu_copy_whole_tile(const mgpu_merge_lists<Order> &lists, const mgpu_merge_tile &tile, typename Order::Stored *out,
					 mgpu_order_check *check)
{
	bool		is_a = tile.b_items == 0;

	mgpu_in_tile_order(mgpu_kind_of_tile(lists, tile), lists.order, [&] (const auto &order)
	{
		mgpu_report_suspect(check, mgpu_copy_by_registers<Tuning>(is_a ? lists.a : lists.b,
																  is_a ? tile.a_begin : tile.b_begin,
																  is_a ? lists.a_items : lists.b_items, out, order));
	});
}

#endif							/* MGPU_MERGE_MERGE_CTA_CUH */
