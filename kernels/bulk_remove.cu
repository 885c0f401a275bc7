/*
 * bulk_remove.cu
 *		Removes the items at sorted, unique positions.
 *
 * One CTA a tile of the source.  The positions before a tile, found by a binary
 * search, say where its output starts; those inside become flags, and every item
 * that stays goes straight from a register to its place.  The items are loaded
 * before the search, which so costs little.
 *
 * Source: moderngpu's bulk remove (S. Baxter, 2013).  Tiles of the output were
 * rejected: a long run of removed items would all fall to one CTA.  Gathering
 * what stays in shared memory first was rejected: a warp's 32 items stay in
 * order, so its stores already cover one interval.
 */
#include "bulk_tile.cuh"
#include "device_ops.h"

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
remove_tiles(const Item *__restrict__ items, mgpu_remove_search search, const uint32_t *splits, Item *out)
{
	constexpr int rows = Tuning::items_per_thread;
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	uint32_t	num_items = (uint32_t) min((uint64_t) Tuning::tile_items, search.num_items - begin);
	uint32_t	first_row = threadIdx.x / 32 * rows;
	uint32_t	first = first_row * 32 + threadIdx.x % 32;
	uint32_t	row_number = first_row + threadIdx.x % 32;
	uint32_t	inside = threadIdx.x % 32 < rows ? mgpu_row_bits(row_number, num_items) : 0;
	uint2		split;
	mgpu_row	row;
	Item		loaded[rows];

#pragma unroll
	for (int r = 0; r < rows; r++)
		if (first + r * 32 < num_items)
			loaded[r] = items[begin + first + r * 32];
	mgpu_clear_flags<Tuning>(flags);
	split = mgpu_tile_splits(search, splits);
	__syncthreads();				/* the flags are clear */
	mgpu_set_flags<Tuning, 0>(flags, search.positions, split.x, split.y, begin);
	__syncthreads();				/* the flags are set */
	row = mgpu_rank_rows<Tuning>(inside & ~mgpu_flag_mask<Tuning>(flags), warp_counts);
	out += begin - split.x;
#pragma unroll
	for (int r = 0; r < rows; r++)
	{
		bool		stays;
		uint32_t	rank = mgpu_rank_item(row, r, stays);

		if (stays)
			out[rank] = loaded[r];
	}
}

template <typename Item>
static cudaError_t
launch_remove(const mgpu_bulk_request *request)
{
	typedef mgpu_bulk_tuning<sizeof(Item)> Tuning;
	mgpu_remove_search search = {request->positions, request->num_positions, request->num_items, Tuning::tile_items};
	uint64_t	num_tiles = mgpu_tiles_of(request->num_items, Tuning::tile_items);
	const uint32_t *splits;
	cudaError_t status;

	if (request->num_items == 0)
		return cudaSuccess;
	status = mgpu_launch_splits(search, num_tiles, request->temp, request->temp_bytes, request->stream, &splits);
	if (status != cudaSuccess)
		return status;
	remove_tiles<Tuning, Item><<<(unsigned) num_tiles, Tuning::threads, 0, request->stream>>>
		(static_cast<const Item *>(request->items), search, splits, static_cast<Item *>(request->out));
	return cudaGetLastError();
}

extern "C" uint64_t
mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	(void) num_positions;			/* tiles are of the source */
	return mgpu_splits_temp_bytes(mgpu_tiles_of(num_items, mgpu_bulk_tile_items(width)));
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
