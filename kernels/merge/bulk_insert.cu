/*
 * merge/bulk_insert.cu
 *		Inserts items before sorted positions, any number of them at one position.
 *
 * One CTA a tile of the output.  Insertion i lands at positions[i] + i, so the insertions of a
 * tile follow from a merge path of the positions with the sequence 0, 1, 2 ..., of which only the
 * positions are read.  They become flags; the rank of an output among the flags tells which
 * inserted or source item it takes.  Both intervals load while the flags are made, so one memory
 * latency covers all.
 *
 * Source: moderngpu's bulk insert (S. Baxter, 2013).  A serial merge of positions was rejected:
 * it tells no more than the ranks.
 */
#include "merge/bulk_tile.cuh"
#include "merge/ops.h"

/* Prefetch all that the CTA of a tile will load. */
template <typename Item>
static __device__ __forceinline__ void
ask_for_tile(const mgpu_insert_search &search, mgpu_tile_plan plan, uint64_t tile, const Item *items,
			 const Item *inserted)
{
	uint2		split = mgpu_splits_of(plan, tile);
	uint64_t	begin = search.diagonal(tile);
	uint32_t	num_items = (uint32_t) (search.diagonal(tile + 1) - begin);
	uint32_t	num_inserted = split.y - split.x;

	mgpu_prefetch_interval(search.positions + split.x, num_inserted);
	mgpu_prefetch_interval(inserted + split.x, num_inserted);
	mgpu_prefetch_interval(items + (begin - split.x), num_items - num_inserted);
}

template <class Tuning, typename Item>
static __global__ void
__launch_bounds__(Tuning::threads, Tuning::resident)
insert_tiles(mgpu_insert_search search, mgpu_tile_plan plan, const Item *__restrict__ items,
			 const Item *__restrict__ inserted, Item *out)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	__shared__ uint4 memory[Tuning::tile_items / vector_items + 3];
	__shared__ uint4 flags[Tuning::tile_items / sizeof(uint4)];
	__shared__ mgpu_row tile_rows[Tuning::tile_items / 32];
	__shared__ uint32_t warp_counts[Tuning::threads / 32];
	Item	   *slots = reinterpret_cast<Item *>(memory);
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	uint32_t	num_items = (uint32_t) (search.diagonal(blockIdx.x + UINT64_C(1)) - begin);
	uint64_t	tile_ahead;
	uint2		split;
	uint32_t	num_inserted;
	uint32_t	items_slot;
	uint32_t	inserted_slot;

	mgpu_clear_flags<Tuning>(flags);
	__syncthreads();				/* the flags are clear */
	mgpu_await_previous();
	split = mgpu_splits_of(plan, blockIdx.x);
	if (mgpu_prefetches(plan, &tile_ahead))
		ask_for_tile(search, plan, tile_ahead, items, inserted);
	num_inserted = split.y - split.x;
	items += begin - split.x;
	inserted += split.x;
	items_slot = mgpu_phase(items);
	inserted_slot = mgpu_slot_in_phase(items_slot + num_items - num_inserted, inserted);
	mgpu_load_interval<Tuning::threads, Tuning::loads_by_l1>(slots + items_slot, items, num_items - num_inserted, threadIdx.x);
	mgpu_load_interval<Tuning::threads, Tuning::loads_by_l1>(slots + inserted_slot, inserted, num_inserted, threadIdx.x);
	mgpu_set_flags<Tuning, 1>(flags, search.positions, split, begin);
	mgpu_wait_copies();
	__syncthreads();				/* the flags are set, the items in place */
	mgpu_rank_rows<Tuning>(mgpu_flag_mask<Tuning>(flags), warp_counts, tile_rows);
#pragma unroll
	for (uint32_t r = 0; r < Tuning::items_per_thread; r++)
	{
		uint32_t	item = (threadIdx.x / 32 * Tuning::items_per_thread + r) * 32 + threadIdx.x % 32;
		mgpu_row	row = tile_rows[item / 32];
		uint32_t	rank = mgpu_rank_item(row, item % 32);

		if (item < num_items)
			out[begin + item] = slots[mgpu_is_set(row, item % 32) ? inserted_slot + rank : items_slot + item - rank];
	}
}

template <typename Item>
static cudaError_t
launch_insert(const mgpu_bulk_request *request)
{
	typedef mgpu_insert_tuning<sizeof(Item)> Tuning;
	mgpu_insert_search search = {request->positions, request->num_positions, request->num_items, Tuning::tile_items};

	return mgpu_launch_tiles<Tuning>(request, search, 0, insert_tiles<Tuning, Item>,
									 static_cast<const Item *>(request->items),
									 static_cast<const Item *>(request->inserted), static_cast<Item *>(request->out));
}

extern "C" uint64_t
mgpu_insert_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	return mgpu_splits_bytes(num_items + num_positions, mgpu_bulk_tile_items<mgpu_insert_tuning>(width));
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
