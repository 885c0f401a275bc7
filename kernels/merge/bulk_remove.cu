/*
 * merge/bulk_remove.cu
 *		Removes the items at sorted, unique positions.
 *
 * One CTA a tile of the source.  A search counts the positions before the tile, which says where
 * its output starts; those inside become flags, which give each remaining item its place.  Items
 * load into registers before the boundaries are known, and each goes from there to its place: the
 * remaining items of a warp make one interval.
 *
 * Source: moderngpu's bulk remove (S. Baxter, 2013).  Rejected: tiles of the output, since one
 * CTA would get a long run of removed items.
 */
#include "merge/bulk_tile.cuh"
#include "merge/ops.h"

/* Prefetch all that the CTA of a tile will load. */
template <typename Item>
static __device__ __forceinline__ void
ask_for_tile(const mgpu_remove_search &search, mgpu_tile_plan plan, uint64_t tile, const Item *items)
{
	uint2		split = mgpu_splits_of(plan, tile);
	uint64_t	begin = tile * search.tile_items;

	mgpu_prefetch_interval(search.positions + split.x, split.y - split.x);
	mgpu_prefetch_interval(items + begin, (uint32_t) min((uint64_t) search.tile_items, search.num_items - begin));
}

/* Row r of a warp has one item of each lane.  All of a thread's loads are under way together. */
template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_tiles(mgpu_remove_search search, mgpu_tile_plan plan, const Item *__restrict__ items, Item *out)
{
	constexpr uint32_t rows = Tuning::items_per_thread;
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	uint32_t	num_items = (uint32_t) min((uint64_t) Tuning::tile_items, search.num_items - begin);
	uint32_t	first_row = threadIdx.x / 32 * rows;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	inside = lane < rows ? mgpu_row_bits(first_row + lane, num_items) : 0;
	uint64_t	tile_ahead;
	uint2		split;
	Item		loaded[rows];

#pragma unroll
	for (uint32_t r = 0; r < rows; r++)
		if ((first_row + r) * 32 + lane < num_items)
			loaded[r] = items[begin + (first_row + r) * 32 + lane];
	mgpu_clear_flags<Tuning>(flags);
	__syncthreads();				/* the flags are clear */
	mgpu_await_previous();
	split = mgpu_splits_of(plan, blockIdx.x);
	if (mgpu_prefetches(plan, &tile_ahead))
		ask_for_tile(search, plan, tile_ahead, items);
	mgpu_set_flags<Tuning, 0>(flags, search.positions, split, begin);
	__syncthreads();				/* the flags are set */
	mgpu_rank_rows<Tuning>(inside & ~mgpu_flag_mask<Tuning>(flags), warp_counts, tile_rows);
	out += begin - split.x;
#pragma unroll
	for (uint32_t r = 0; r < rows; r++)
	{
		mgpu_row	row = tile_rows[first_row + r];

		if (mgpu_is_set(row, lane))
			out[mgpu_rank_item(row, lane)] = loaded[r];
	}
}

template <typename Item>
static cudaError_t
launch_remove(const mgpu_bulk_request *request)
{
	typedef mgpu_remove_tuning<sizeof(Item)> Tuning;
	mgpu_remove_search search = {request->positions, request->num_positions, request->num_items, Tuning::tile_items};

	return mgpu_launch_tiles<Tuning>(request, search, 0, remove_tiles<Tuning, Item>,
									 static_cast<const Item *>(request->items), static_cast<Item *>(request->out));
}

extern "C" uint64_t
mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	(void) num_positions;			/* the source is tiled */
	return mgpu_splits_bytes(num_items, mgpu_bulk_tile_items<mgpu_remove_tuning>(width));
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
