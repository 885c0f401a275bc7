/*
 * merge/bulk_remove.cu
 *		Removes the items at sorted, unique positions.
 *
 * One CTA a tile of the source.  A binary search counts the positions before the tile, which says
 * where its output starts; those inside become flags, which give each remaining item its place.
 * Loads start before the search.  Three paths through a tile:
 *
 *	 direct		from a thread's registers to the output; a warp's items make one interval
 *	 packed		from registers through shared memory, then 16 bytes at a time: for narrow items
 *				and many tiles, where a warp's interval has many partial sectors
 *	 staged		through shared memory on the way in too: for 1-byte items, of which a warp
 *				would load one sector
 *
 * Source: moderngpu's bulk remove (S.  Baxter, 2013).  Rejected: tiles of the output, since one
 * CTA would get a long run of removed items; staging of items of 2 bytes and more, a tenth slower.
 */
#include "merge/bulk_tile.cuh"
#include "merge/ops.h"

/* What all paths know of their tile. */
struct remove_tile
{
	uint64_t	begin;			/* in the source */
	uint32_t	num_items;
	uint32_t	first_row;		/* of this warp */
	uint32_t	first;			/* item of this thread */
};

template <class Tuning>
static __device__ __forceinline__ remove_tile
place_tile(const mgpu_remove_search &search)
{
	remove_tile tile;

	tile.begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	tile.num_items = (uint32_t) min((uint64_t) Tuning::tile_items, search.num_items - tile.begin);
	tile.first_row = threadIdx.x / 32 * Tuning::items_per_thread;
	tile.first = tile.first_row * 32 + threadIdx.x % 32;
	return tile;
}

/* Rank what stays, and wait for copies under way.  Returns the tile's splits. */
template <class Tuning, typename Item>
static __device__ __forceinline__ uint2
rank_tile(const remove_tile &tile, const Item *items, const mgpu_remove_search &search, mgpu_tile_plan plan,
		  uint4 *flags, mgpu_row *tile_rows)
{
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	inside = lane < Tuning::items_per_thread ? mgpu_row_bits(tile.first_row + lane, tile.num_items) : 0;
	mgpu_all_splits splits;

	mgpu_clear_flags<Tuning>(flags);
	__syncthreads();				/* the flags are clear */
	mgpu_await_previous();
	splits = mgpu_find_all_splits(search, plan);
	if (splits.asks)
	{
		uint64_t	begin = splits.tile_ahead * Tuning::tile_items;

		mgpu_prefetch_interval(search.positions + splits.ahead.x, splits.ahead.y - splits.ahead.x);
		mgpu_prefetch_interval(items + begin, (uint32_t) min((uint64_t) Tuning::tile_items, search.num_items - begin));
	}
	mgpu_set_flags<Tuning, 0, MGPU_REMOVE_POSITIONS_AT_ONCE>(flags, search.positions, splits.own.x, splits.own.y, tile.begin);
	mgpu_wait_copies();
	__syncthreads();				/* the flags are set, copies in place */
	mgpu_rank_rows<Tuning>(inside & ~mgpu_flag_mask<Tuning>(flags), warp_counts, tile_rows);
	return splits.own;
}

/* All of a thread's loads are under way together.  Row r has one item of each lane. */
template <class Tuning, typename Item>
static __device__ __forceinline__ void
load_rows(const Item *items, const remove_tile &tile, Item (&loaded)[Tuning::items_per_thread])
{
#pragma unroll
	for (int r = 0; r < Tuning::items_per_thread; r++)
		if (tile.first + r * 32 < tile.num_items)
			loaded[r] = items[tile.begin + tile.first + r * 32];
}

/* Store this thread's remaining items, item(r), at their ranks. */
template <class Tuning, typename Item, class Fetch>
static __device__ __forceinline__ void
put_rows(Item *target, const remove_tile &tile, const mgpu_row *tile_rows, Fetch item)
{
#pragma unroll
	for (int r = 0; r < Tuning::items_per_thread; r++)
	{
		mgpu_row	row = tile_rows[tile.first_row + r];

		if (mgpu_is_set(row, threadIdx.x % 32))
			target[mgpu_rank_item(row, threadIdx.x % 32)] = item(r);
	}
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_direct(const Item *__restrict__ items, mgpu_remove_search search, mgpu_tile_plan plan, Item *out)
{
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	remove_tile tile = place_tile<Tuning>(search);
	Item		loaded[Tuning::items_per_thread];

	load_rows<Tuning>(items, tile, loaded);
	out += tile.begin - rank_tile<Tuning>(tile, items, search, plan, flags, tile_rows).x;
	put_rows<Tuning>(out, tile, tile_rows, [&] (int r) { return loaded[r]; });
}

/* Write a tile's remaining items through shared memory, which held the flags until now. */
template <class Tuning, typename Item, class Fetch>
static __device__ __forceinline__ void
store_packed(Item *out, uint4 *target, const remove_tile &tile, const mgpu_row *tile_rows, uint2 split, Fetch item)
{
	Item	   *staying;

	out += tile.begin - split.x;
	staying = reinterpret_cast<Item *>(target) + mgpu_phase(out);
	put_rows<Tuning>(staying, tile, tile_rows, item);
	__syncthreads();				/* all remaining items are in place */
	mgpu_store_interval<Tuning::threads>(out, staying, tile.num_items - (split.y - split.x), threadIdx.x);
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_packed(const Item *__restrict__ items, mgpu_remove_search search, mgpu_tile_plan plan, Item *out)
{
	__shared__ uint4 target[Tuning::tile_items * sizeof(Item) / sizeof(uint4) + 1]; /* first the flags */
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	remove_tile tile = place_tile<Tuning>(search);
	Item		loaded[Tuning::items_per_thread];
	uint2		split;

	load_rows<Tuning>(items, tile, loaded);
	split = rank_tile<Tuning>(tile, items, search, plan, target, tile_rows);
	store_packed<Tuning>(out, target, tile, tile_rows, split, [&] (int r) { return loaded[r]; });
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_staged(const Item *__restrict__ items, mgpu_remove_search search, mgpu_tile_plan plan, Item *out)
{
	constexpr uint32_t num_vectors = Tuning::tile_items * sizeof(Item) / sizeof(uint4) + 1;
	__shared__ uint4 source[num_vectors];
	__shared__ uint4 target[num_vectors];	/* first the flags */
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	remove_tile tile = place_tile<Tuning>(search);
	Item	   *slots = reinterpret_cast<Item *>(source) + mgpu_phase(items + tile.begin);
	uint2		split;

	mgpu_load_interval<Tuning::threads, Tuning::loads_by_l1>(slots, items + tile.begin, tile.num_items, threadIdx.x);
	split = rank_tile<Tuning>(tile, items, search, plan, target, tile_rows);
	store_packed<Tuning>(out, target, tile, tile_rows, split, [&] (int r) { return slots[tile.first + r * 32]; });
}

/* The path for items of this width, and for tiles that search themselves or do not. */
template <class Tuning, typename Item>
static auto
find_remove_kernel(bool searches)
{
	if constexpr (sizeof(Item) <= MGPU_REMOVE_STAGED_BYTES)
		return remove_staged<Tuning, Item>;
	else if constexpr (sizeof(Item) <= MGPU_REMOVE_PACKED_BYTES)
		return searches ? remove_direct<Tuning, Item> : remove_packed<Tuning, Item>;
	else
		return remove_direct<Tuning, Item>;
}

template <typename Item>
static cudaError_t
launch_remove(const mgpu_bulk_request *request)
{
	typedef mgpu_remove_tuning<sizeof(Item)> Tuning;
	mgpu_remove_search search = {request->positions, request->num_positions, request->num_items, Tuning::tile_items};
	uint64_t	num_tiles = mgpu_tiles_of(request->num_items, Tuning::tile_items);
	mgpu_tile_plan plan;
	cudaError_t status;

	if (request->num_items == 0)
		return cudaSuccess;
	status = mgpu_plan_tiles(search, num_tiles, Tuning::ahead, request->temp, request->temp_bytes, request->stream, &plan);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_tiles<Tuning>(plan, find_remove_kernel<Tuning, Item>(plan.splits == nullptr), num_tiles, 0,
									 request->stream, static_cast<const Item *>(request->items), search, plan,
									 static_cast<Item *>(request->out));
}

extern "C" uint64_t
mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	(void) num_positions;			/* the source is tiled */
	return mgpu_splits_temp_bytes(mgpu_tiles_of(num_items, mgpu_bulk_tile_items<mgpu_remove_tuning>(width)));
}

extern "C" cudaError_t
mgpu_launch_remove(const mgpu_bulk_request *request)
{
	switch (request->width)
	{
		case 1:
			return launch_remove<uint8_t>(request);
		case 2:
			return launch_remove<uint16_t>(request);
		case 4:
			return launch_remove<uint32_t>(request);
		case 8:
			return launch_remove<uint64_t>(request);
		default:
			return launch_remove<uint4>(request);
	}
}
