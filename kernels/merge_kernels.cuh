/*
 * merge_kernels.cuh
 *		The kernels of a merge sort: block sort, partition, 2-way merge.
 *
 * Keys come from a source and go to a sink, so that the first and the last pass
 * of a sort can change their form on the way.  Kernels named _indexed carry a
 * 4-byte index with every key, in arrays of their own, and are stable; the
 * others take keys whose equals cannot be told apart.  The 4-way merge is in
 * quad_kernels.cuh.
 *
 * One CTA takes one tile.  Persistent CTAs that prefetch the next tile were
 * rejected for now: four CTAs an SM overlap one tile's loads with the others'
 * merges (NOTES.md).
 */
#ifndef MGPU_MERGE_KERNELS_CUH
#define MGPU_MERGE_KERNELS_CUH

#include "cta_sort.cuh"
#include "merge_pass.cuh"
#include "tile_copy.cuh"
#include "tuning.cuh"

extern __shared__ __align__(16) char mgpu_shared[];

/* ------------------------------------------------------ sources and sinks */

/* Keys as they lie. */
template <typename Key>
struct mgpu_plain_source
{
	const Key  *keys;

	__device__ __forceinline__ Key
	load(uint64_t item) const
	{
		return keys[item];
	}
};

/* 4-byte keys, packed with their index on the way in. */
struct mgpu_packing_source
{
	const uint32_t *keys;

	__device__ __forceinline__ uint64_t
	load(uint64_t item) const
	{
		return (uint64_t) keys[item] << 32 | (uint32_t) item;
	}
};

/*
 * A sink says where in shared memory a tile's items are put for it (their slot
 * is 0, plus the phase of where they go), and moves them out.
 */
template <typename Key>
struct mgpu_plain_sink
{
	Key		   *keys;

	__device__ __forceinline__ uint32_t
	phase(uint64_t begin) const
	{
		return mgpu_phase(keys + begin);
	}

	template <int threads>
	__device__ __forceinline__ void
	store_tile(uint64_t begin, const Key *tile, uint32_t num_items, uint32_t thread) const
	{
		mgpu_store_interval<threads>(keys + begin, tile, num_items, thread);
	}
};

struct mgpu_unpacking_sink
{
	uint32_t   *keys;
	uint32_t   *indices;

	__device__ __forceinline__ uint32_t
	phase(uint64_t) const
	{
		return 0;
	}

	template <int threads>
	__device__ __forceinline__ void
	store_tile(uint64_t begin, const uint64_t *tile, uint32_t num_items, uint32_t thread) const
	{
		for (uint32_t item = thread; item < num_items; item += threads)
		{
			uint64_t	packed = tile[item];

			keys[begin + item] = (uint32_t) (packed >> 32);
			indices[begin + item] = (uint32_t) packed;
		}
	}
};

/* -------------------------------------------------------------- block sort */

/* Room for a CTA's items at any phase. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_tile_capacity(uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (num_items + 2 * vector_items) / vector_items * vector_items;
}

/* Sort every tile; source and keys may be the same memory. */
template <class Tuning, typename Key, typename Source>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_tiles(Source source, Key *keys, uint64_t num_items)
{
	constexpr int threads = Tuning::sort_threads;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t tile_items = Tuning::sort_tile_items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, num_items - begin);
	Key			sorted[items];

	/* any thread may sort any items: neighbouring ones go to a warp */
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = thread + i * threads;

		sorted[i] = item < count ? source.load(begin + item) : mgpu_largest_key<Key>();
	}
	mgpu_cta_sort<threads>(sorted, tile, thread);
	tile += mgpu_phase(keys + begin);
	mgpu_store_forwards(sorted, tile, thread * items);
	__syncthreads();				/* the sorted tile is whole */
	mgpu_store_interval<threads>(keys + begin, tile, count, thread);
}

/* Sort every tile of keys with their indices, stably; in may be keys. */
template <class Tuning, typename Key>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_tiles_indexed(const Key *in, Key *keys, uint32_t *indices, uint64_t num_items)
{
	constexpr int threads = Tuning::sort_threads;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t tile_items = Tuning::sort_tile_items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t   *tile_indices = reinterpret_cast<uint32_t *>(tile + mgpu_tile_capacity<Key>(threads * items));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, num_items - begin);
	Key			sorted[items];
	uint32_t	sorted_indices[items];

	/* padding comes after all real items, so stability keeps it there */
	for (uint32_t item = thread; item < threads * items; item += threads)
		tile[item] = item < count ? in[begin + item] : mgpu_largest_key<Key>();
	__syncthreads();				/* the tile is loaded */
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		sorted[i] = tile[thread * items + i];
		sorted_indices[i] = (uint32_t) begin + thread * items + i;
	}
	__syncwarp();					/* the first level overwrites a warp's own items */
	mgpu_cta_sort_pairs<threads>(sorted, sorted_indices, tile, tile_indices, thread);
	tile += mgpu_phase(keys + begin);
	tile_indices += mgpu_phase(indices + begin);
	mgpu_store_forwards(sorted, tile, thread * items);
	mgpu_store_forwards(sorted_indices, tile_indices, thread * items);
	__syncthreads();				/* the sorted tile is whole */
	mgpu_store_interval<threads>(keys + begin, tile, count, thread);
	mgpu_store_interval<threads>(indices + begin, tile_indices, count, thread);
}

/* --------------------------------------------------------------- partition */

/* Find the split of every tile's first diagonal, one warp a tile. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition(const Key *keys, mgpu_merge_pass pass, uint32_t *splits)
{
	uint32_t	lane = threadIdx.x % 32;
	uint64_t	tile = (uint64_t) blockIdx.x * (MGPU_PARTITION_THREADS / 32) + threadIdx.x / 32;
	uint64_t	low;
	uint64_t	high;
	mgpu_run_pair pair;

	if (tile >= pass.num_tiles)
		return;
	pair = mgpu_find_run_pair(pass, tile);
	mgpu_split_range(pair, low, high);
	while (low < high)
	{
		uint64_t	probe = mgpu_split_probe(low, high, lane);
		uint32_t	before = __ballot_sync(0xFFFFFFFFu, mgpu_split_test(keys, pair, probe));

		mgpu_split_narrow(low, high, __popc(before));
	}
	if (lane == 0)
		splits[tile] = (uint32_t) low;
}

/* ------------------------------------------------------------------- merge */

/* The first slot at or after `slot` with the phase of an address. */
template <typename Item>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_phase(uint32_t slot, const Item *address)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (slot + vector_items - 1) / vector_items * vector_items + mgpu_phase(address);
}

/*
 * Room for num_inputs intervals of tile_items in all, each at any phase and with
 * `guard` items behind it.
 */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_inputs_capacity(uint32_t tile_items, uint32_t num_inputs, uint32_t guard)
{
	return mgpu_tile_capacity<Item>(tile_items + num_inputs * (guard + 2 * MGPU_VECTOR_BYTES / sizeof(Item)));
}

/* Put the largest key `items` times behind an input. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_guard(Key *tile, uint32_t end, uint32_t thread)
{
	if (thread < items)
		tile[end + thread] = mgpu_largest_key<Key>();
}

/* Merge a thread's share of two guarded lists in shared memory. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_guarded(Key (&keys)[items], const Key *tile, uint32_t a_slot, uint32_t a_items, uint32_t b_slot,
				   uint32_t b_items, uint32_t diagonal)
{
	uint32_t	count = a_items + b_items;
	uint32_t	a;

	diagonal = diagonal < count ? diagonal : count;
	a = mgpu_merge_path(tile + a_slot, a_items, tile + b_slot, b_items, diagonal);
	mgpu_serial_merge<1, items>(reinterpret_cast<const char *>(tile), (a_slot + a) * (uint32_t) sizeof(Key),
								(b_slot + diagonal - a) * (uint32_t) sizeof(Key), keys);
}

template <class Tuning, typename Key, typename Sink>
__global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_tiles(const Key *keys, mgpu_merge_pass pass, const uint32_t *splits, Sink sink)
{
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = blockIdx.x * (uint64_t) pass.tile_items;
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, blockIdx.x);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	uint32_t	a_slot = mgpu_phase(a_keys);
	uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items + items, b_keys);
	Key			merged[items];

	mgpu_load_interval<threads>(tile + a_slot, a_keys, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile + b_slot, b_keys, inputs.b_items, thread);
	mgpu_store_guard<items>(tile, a_slot + inputs.a_items, thread);
	mgpu_store_guard<items>(tile, b_slot + inputs.b_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	mgpu_merge_guarded(merged, tile, a_slot, inputs.a_items, b_slot, inputs.b_items, thread * items);
	__syncthreads();				/* inputs are read */
	tile += sink.phase(begin);
	mgpu_store_forwards(merged, tile, thread * items);
	__syncthreads();				/* the merged tile is whole */
	sink.template store_tile<threads>(begin, tile, inputs.a_items + inputs.b_items, thread);
}

template <class Tuning, typename Key>
__global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_tiles_indexed(const Key *keys, const uint32_t *indices, mgpu_merge_pass pass,
						 const uint32_t *splits, Key *out_keys, uint32_t *out_indices)
{
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t   *tile_indices = reinterpret_cast<uint32_t *>(tile + mgpu_inputs_capacity<Key>(threads * items, 2, 0));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = blockIdx.x * (uint64_t) pass.tile_items;
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, blockIdx.x);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	const uint32_t *a_indices = indices + inputs.a_begin;
	const uint32_t *b_indices = indices + inputs.b_begin;
	uint32_t	a_slot = mgpu_phase(a_keys);
	uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items, b_keys);
	uint32_t	a_index_slot = mgpu_phase(a_indices);
	uint32_t	b_index_slot = mgpu_slot_in_phase(a_index_slot + inputs.a_items, b_indices);
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint32_t	diagonal = min(thread * items, count);
	mgpu_merge_range range;
	Key			merged[items];
	uint32_t	merged_indices[items];

	mgpu_load_interval<threads>(tile + a_slot, a_keys, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile + b_slot, b_keys, inputs.b_items, thread);
	mgpu_load_interval<threads>(tile_indices + a_index_slot, a_indices, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile_indices + b_index_slot, b_indices, inputs.b_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs are in place */
	range = mgpu_find_merge_range(tile, a_slot, inputs.a_items, b_slot, inputs.b_items, diagonal);
	mgpu_serial_merge_bounded(tile, tile_indices + ((int32_t) a_index_slot - (int32_t) a_slot),
							  tile_indices + ((int32_t) b_index_slot - (int32_t) b_slot),
							  range, merged, merged_indices);
	__syncthreads();				/* inputs are read */
	tile += mgpu_phase(out_keys + begin);
	tile_indices += mgpu_phase(out_indices + begin);
	mgpu_store_forwards(merged, tile, thread * items);
	mgpu_store_forwards(merged_indices, tile_indices, thread * items);
	__syncthreads();				/* the merged tile is whole */
	mgpu_store_interval<threads>(out_keys + begin, tile, count, thread);
	mgpu_store_interval<threads>(out_indices + begin, tile_indices, count, thread);
}

#endif							/* MGPU_MERGE_KERNELS_CUH */
