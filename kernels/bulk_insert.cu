/*
 * bulk_insert.cu
 *		Inserts items before sorted positions, any number of them at one position.
 *
 * One CTA a tile of the output.  Insertion i lands at positions[i] + i; which
 * insertions fall into a tile is a merge path of the positions with the counting
 * sequence 0, 1, 2 …, of which only the positions are read.  They become flags;
 * the rank of an output among the flags tells which inserted or source item it
 * takes, and a warp's 32 outputs take theirs from one interval of each.
 *
 * Source: moderngpu's bulk insert (S. Baxter, 2013).  Both lists in shared
 * memory and a serial merge of positions were rejected: every item would pass
 * through shared memory once more, for nothing that the ranks do not tell.
 */
#include "bulk_tile.cuh"
#include "device_ops.h"

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
insert_tiles(const Item *__restrict__ items, const Item *__restrict__ inserted, mgpu_insert_search search,
			 const uint32_t *splits, Item *out)
{
	constexpr int rows = Tuning::items_per_thread;
	constexpr int at_once = rows / MGPU_INSERT_PARTS;
	static_assert(rows % at_once == 0, "equal parts");
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	uint32_t	num_items = (uint32_t) (search.diagonal(blockIdx.x + UINT64_C(1)) - begin);
	uint32_t	first = threadIdx.x / 32 * rows * 32 + threadIdx.x % 32;
	uint2		split;
	mgpu_row	row;

	mgpu_clear_flags<Tuning>(flags);
	split = mgpu_tile_splits(search, splits);
	__syncthreads();				/* the flags are clear */
	mgpu_set_flags<Tuning, 1>(flags, search.positions, split.x, split.y, begin);
	__syncthreads();				/* the flags are set */
	row = mgpu_rank_rows<Tuning>(mgpu_flag_mask<Tuning>(flags), warp_counts);
	inserted += split.x;
	items += begin - split.x;
	out += begin;
#pragma unroll 1
	for (int part = 0; part < rows; part += at_once)
	{
		Item		loaded[at_once];

#pragma unroll
		for (int r = 0; r < at_once; r++)
		{
			uint32_t	item = first + (part + r) * 32;
			bool		is_inserted;
			uint32_t	rank = mgpu_rank_item(row, part + r, is_inserted);

			if (item < num_items)
				loaded[r] = is_inserted ? inserted[rank] : items[item - rank];
		}
#pragma unroll
		for (int r = 0; r < at_once; r++)
			if (first + (part + r) * 32 < num_items)
				out[first + (part + r) * 32] = loaded[r];
	}
}

template <typename Item>
static cudaError_t
launch_insert(const mgpu_bulk_request *request)
{
	typedef mgpu_bulk_tuning<sizeof(Item)> Tuning;
	mgpu_insert_search search = {request->positions, request->num_positions, request->num_items, Tuning::tile_items};
	uint64_t	num_tiles = mgpu_tiles_of(request->num_items + request->num_positions, Tuning::tile_items);
	const uint32_t *splits;
	cudaError_t status;

	if (num_tiles == 0)
		return cudaSuccess;
	status = mgpu_launch_splits(search, num_tiles, request->temp, request->temp_bytes, request->stream, &splits);
	if (status != cudaSuccess)
		return status;
	insert_tiles<Tuning, Item><<<(unsigned) num_tiles, Tuning::threads, 0, request->stream>>>
		(static_cast<const Item *>(request->items), static_cast<const Item *>(request->inserted), search, splits,
		 static_cast<Item *>(request->out));
	return cudaGetLastError();
}

extern "C" uint64_t
mgpu_insert_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	return mgpu_splits_temp_bytes(mgpu_tiles_of(num_items + num_positions, mgpu_bulk_tile_items(width)));
}

extern "C" cudaError_t
mgpu_launch_insert(const mgpu_bulk_request *request)
{
	switch (request->width)
	{
		case 1:
			return launch_insert<uint8_t>(request);
		case 2:
			return launch_insert<uint16_t>(request);
		case 4:
			return launch_insert<uint32_t>(request);
		case 8:
			return launch_insert<uint64_t>(request);
		default:
			return launch_insert<uint4>(request);
	}
}
