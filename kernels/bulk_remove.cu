/*
 * bulk_remove.cu
 *		Removes the items at sorted, unique positions.
 *
 * One CTA a tile of the source.  The positions before a tile, found by a binary
 * search, say where its output starts; those inside become flags, which tell
 * every item that stays its place.  Loads start before the search, or before the
 * launch that searches has ended, which so costs little.  Two ways through a tile:
 *
 *	 direct		items go from a thread's registers to their places in the output,
 *				of which a warp's make up one interval
 *	 staged		through shared memory, in and out, 16 bytes at a time: for narrow
 *				items, of which a warp's would be but a sector or two
 *
 * Source: moderngpu's bulk remove (S. Baxter, 2013).  Tiles of the output were
 * rejected: a long run of removed items would all fall to one CTA.  Staging was
 * rejected for items of 2 bytes and more: slower by a twentieth at 2, no faster at 4.
 */
#include "bulk_tile.cuh"
#include "device_ops.h"

/* What both ways know of their tile. */
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

/*
 * Rank what stays; copies that were under way are done.  Returns the tile's
 * splits.
 */
template <class Tuning, typename Item>
static __device__ __forceinline__ uint2
rank_tile(const remove_tile &tile, const Item *items, const mgpu_remove_search &search, mgpu_tile_plan plan,
		  uint4 *flags, mgpu_row *tile_rows)
{
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	inside = lane < Tuning::items_per_thread ? mgpu_row_bits(tile.first_row + lane, tile.num_items) : 0;
	uint64_t	ahead;
	uint2		split;

	mgpu_await_previous();
	if (mgpu_tile_ahead(plan, &ahead, &split))
	{
		uint64_t	begin = ahead * Tuning::tile_items;

		mgpu_prefetch_interval(search.positions + split.x, split.y - split.x);
		mgpu_prefetch_interval(items + begin, (uint32_t) min((uint64_t) Tuning::tile_items, search.num_items - begin));
	}
	mgpu_clear_flags<Tuning>(flags);
	split = mgpu_tile_splits(search, plan);
	__syncthreads();				/* the flags are clear */
	mgpu_set_flags<Tuning, 0, MGPU_REMOVE_POSITIONS_AT_ONCE>(flags, search.positions, split.x, split.y, tile.begin);
	mgpu_wait_copies();
	__syncthreads();				/* the flags are set, copies in place */
	mgpu_rank_rows<Tuning>(inside & ~mgpu_flag_mask<Tuning>(flags), warp_counts, tile_rows);
	return split;
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_direct(const Item *__restrict__ items, mgpu_remove_search search, mgpu_tile_plan plan, Item *out)
{
	constexpr int rows = Tuning::items_per_thread;
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	remove_tile tile = place_tile<Tuning>(search);
	Item		loaded[rows];

#pragma unroll
	for (int r = 0; r < rows; r++)
		if (tile.first + r * 32 < tile.num_items)
			loaded[r] = items[tile.begin + tile.first + r * 32];
	out += tile.begin - rank_tile<Tuning>(tile, items, search, plan, flags, tile_rows).x;
#pragma unroll
	for (int r = 0; r < rows; r++)
	{
		mgpu_row	row = tile_rows[tile.first_row + r];

		if (mgpu_is_set(row, threadIdx.x % 32))
			out[mgpu_rank_item(row, threadIdx.x % 32)] = loaded[r];
	}
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_staged(const Item *__restrict__ items, mgpu_remove_search search, mgpu_tile_plan plan, Item *out)
{
	constexpr int rows = Tuning::items_per_thread;
	constexpr uint32_t num_vectors = Tuning::tile_items * sizeof(Item) / sizeof(uint4) + 1;
	__shared__ uint4 source[num_vectors];
	__shared__ uint4 target[num_vectors];	/* first the flags */
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	remove_tile tile = place_tile<Tuning>(search);
	Item	   *slots;
	Item	   *staying;
	uint2		split;

	slots = reinterpret_cast<Item *>(source) + mgpu_phase(items + tile.begin);
	mgpu_load_interval<Tuning::threads>(slots, items + tile.begin, tile.num_items, threadIdx.x);
	split = rank_tile<Tuning>(tile, items, search, plan, target, tile_rows);
	out += tile.begin - split.x;
	staying = reinterpret_cast<Item *>(target) + mgpu_phase(out);
#pragma unroll
	for (int r = 0; r < rows; r++)
	{
		mgpu_row	row = tile_rows[tile.first_row + r];

		if (mgpu_is_set(row, threadIdx.x % 32))
			staying[mgpu_rank_item(row, threadIdx.x % 32)] = slots[tile.first + r * 32];
	}
	__syncthreads();				/* all that stays is in place */
	mgpu_store_interval<Tuning::threads>(out, staying, tile.num_items - (split.y - split.x), threadIdx.x);
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
	if constexpr (sizeof(Item) <= MGPU_REMOVE_STAGED_BYTES)
		return mgpu_launch_tiles<Tuning>(plan, remove_staged<Tuning, Item>, num_tiles, 0, request->stream,
										 static_cast<const Item *>(request->items), search, plan,
										 static_cast<Item *>(request->out));
	else
		return mgpu_launch_tiles<Tuning>(plan, remove_direct<Tuning, Item>, num_tiles, 0, request->stream,
										 static_cast<const Item *>(request->items), search, plan,
										 static_cast<Item *>(request->out));
}

extern "C" uint64_t
mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	(void) num_positions;			/* tiles are of the source */
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
