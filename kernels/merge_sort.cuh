/*
 * merge_sort.cuh
 *		Mergesort on the device: kernels and the loop over passes.
 *
 * Sort tiles in shared memory, then merge runs pairwise until one is left, each
 * pass a partition (one split a tile) and a merge (one tile a CTA), between two
 * buffers.  Where input and output have one layout, the block sort starts on
 * the side that makes the last pass land where the input was.
 *
 * Source: moderngpu's mergesort (S. Baxter, 2013) on the Merge Path partition.
 * A split of 4-byte keys and indices into two arrays was rejected: packed into
 * 64 bits they need one load, one comparison and no stability, and 16 bytes
 * moved an item and pass are what the two arrays would move as well.
 */
#ifndef MGPU_MERGE_SORT_CUH
#define MGPU_MERGE_SORT_CUH

#include "cta_sort.cuh"
#include "device_sort.h"
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

template <typename Key>
struct mgpu_plain_sink
{
	Key		   *keys;

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

/* ---------------------------------------------------------------- kernels */

/* Sort every tile; source and keys may be the same memory. */
template <int threads, int items, typename Key, typename Source>
__global__ void
__launch_bounds__(threads, MGPU_RESIDENT_THREADS / threads)
mgpu_sort_tiles(Source source, Key *keys, uint64_t num_items)
{
	constexpr uint32_t tile_items = threads * items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, num_items - begin);
	Key			sorted[items];

	/* any thread may sort any items: neighbouring ones go to a warp */
	if (count == tile_items)
	{
#pragma unroll
		for (int i = 0; i < items; i++)
			sorted[i] = source.load(begin + thread + i * threads);
	}
	else
	{
#pragma unroll
		for (int i = 0; i < items; i++)
		{
			uint32_t	item = thread + i * threads;

			sorted[i] = item < count ? source.load(begin + item) : mgpu_largest_key<Key>();
		}
	}
	mgpu_cta_sort<threads>(sorted, tile, thread);
	mgpu_store_items(sorted, tile, thread);
	__syncthreads();				/* the sorted tile is whole */
	mgpu_store_interval<threads>(keys + begin, tile, count, thread);
}

/* Sort every tile of keys with their indices, stably; in may be keys. */
template <int threads, int items, typename Key>
__global__ void
__launch_bounds__(threads, MGPU_RESIDENT_THREADS / threads)
mgpu_sort_tiles_indexed(const Key *in, Key *keys, uint32_t *indices, uint64_t num_items)
{
	constexpr uint32_t tile_items = threads * items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t   *tile_indices = reinterpret_cast<uint32_t *>(tile + tile_items);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, num_items - begin);
	Key			sorted[items];
	uint32_t	sorted_indices[items];

	/* padding comes after all real items, so stability keeps it there */
	for (uint32_t item = thread; item < tile_items; item += threads)
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
	mgpu_store_items(sorted, tile, thread);
	mgpu_store_items(sorted_indices, tile_indices, thread);
	__syncthreads();				/* the sorted tile is whole */
	mgpu_store_interval<threads>(keys + begin, tile, count, thread);
	mgpu_store_interval<threads>(indices + begin, tile_indices, count, thread);
}

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

/* Where both inputs of a tile lie in shared memory, as item numbers. */
struct mgpu_tile_slots
{
	uint32_t	a;
	uint32_t	b;
};

/* Both inputs keep their phase; `guard` items are free after each. */
template <typename Item>
MGPU_HOST_DEVICE mgpu_tile_slots
mgpu_place_inputs(const Item *a, uint32_t a_items, const Item *b, uint32_t guard)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	mgpu_tile_slots slots;

	slots.a = mgpu_phase(a);
	slots.b = (slots.a + a_items + guard + vector_items - 1) / vector_items * vector_items + mgpu_phase(b);
	return slots;
}

/* Items that mgpu_place_inputs may take, a multiple of a vector. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_inputs_capacity(uint32_t tile_items, uint32_t guard)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (tile_items + 2 * guard + 4 * vector_items) / vector_items * vector_items;
}

/* Merge one tile of keys whose equals cannot be told apart. */
template <int threads, int items, typename Key, typename Sink>
__global__ void
__launch_bounds__(threads, MGPU_RESIDENT_THREADS / threads)
mgpu_merge_tiles(const Key *keys, mgpu_merge_pass pass, const uint32_t *splits, Sink sink)
{
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, blockIdx.x);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	mgpu_tile_slots slots = mgpu_place_inputs(a_keys, inputs.a_items, b_keys, items);
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint32_t	diagonal = min(thread * items, count);
	uint32_t	a;
	Key			merged[items];

	mgpu_load_interval<threads>(tile + slots.a, a_keys, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile + slots.b, b_keys, inputs.b_items, thread);
	if (thread < items)
	{
		tile[slots.a + inputs.a_items + thread] = mgpu_largest_key<Key>();
		tile[slots.b + inputs.b_items + thread] = mgpu_largest_key<Key>();
	}
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	a = mgpu_merge_path(tile + slots.a, inputs.a_items, tile + slots.b, inputs.b_items, diagonal);
	mgpu_serial_merge<1, items>(mgpu_shared, (slots.a + a) * (uint32_t) sizeof(Key),
								(slots.b + diagonal - a) * (uint32_t) sizeof(Key), merged);
	__syncthreads();				/* inputs are read */
	mgpu_store_items(merged, tile, thread);
	__syncthreads();				/* the merged tile is whole */
	sink.template store_tile<threads>((uint64_t) blockIdx.x * (threads * items), tile, count, thread);
}

/* Merge one tile of keys with indices, stably. */
template <int threads, int items, typename Key>
__global__ void
__launch_bounds__(threads, MGPU_RESIDENT_THREADS / threads)
mgpu_merge_tiles_indexed(const Key *keys, const uint32_t *indices, mgpu_merge_pass pass,
						 const uint32_t *splits, Key *out_keys, uint32_t *out_indices)
{
	constexpr uint32_t tile_items = threads * items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t   *tile_indices = reinterpret_cast<uint32_t *>(tile + mgpu_inputs_capacity<Key>(tile_items, 0));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, blockIdx.x);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	const uint32_t *a_indices = indices + inputs.a_begin;
	const uint32_t *b_indices = indices + inputs.b_begin;
	mgpu_tile_slots slots = mgpu_place_inputs(a_keys, inputs.a_items, b_keys, 0);
	mgpu_tile_slots index_slots = mgpu_place_inputs(a_indices, inputs.a_items, b_indices, 0);
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint32_t	diagonal = min(thread * items, count);
	mgpu_merge_range range;
	Key			merged[items];
	uint32_t	merged_indices[items];

	mgpu_load_interval<threads>(tile + slots.a, a_keys, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile + slots.b, b_keys, inputs.b_items, thread);
	mgpu_load_interval<threads>(tile_indices + index_slots.a, a_indices, inputs.a_items, thread);
	mgpu_load_interval<threads>(tile_indices + index_slots.b, b_indices, inputs.b_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs are in place */
	range.a_begin = slots.a + mgpu_merge_path(tile + slots.a, inputs.a_items, tile + slots.b,
											  inputs.b_items, diagonal);
	range.a_end = slots.a + inputs.a_items;
	range.b_begin = slots.b + diagonal - (range.a_begin - slots.a);
	range.b_end = slots.b + inputs.b_items;
	mgpu_serial_merge_bounded(tile, tile_indices + ((int32_t) index_slots.a - (int32_t) slots.a),
							  tile_indices + ((int32_t) index_slots.b - (int32_t) slots.b),
							  range, merged, merged_indices);
	__syncthreads();				/* inputs are read */
	mgpu_store_items(merged, tile, thread);
	mgpu_store_items(merged_indices, tile_indices, thread);
	__syncthreads();				/* the merged tile is whole */
	mgpu_store_interval<threads>(out_keys + begin, tile, count, thread);
	mgpu_store_interval<threads>(out_indices + begin, tile_indices, count, thread);
}

/* ------------------------------------------------------------------- host */

/* More than 48 kB of shared memory a CTA has to be asked for. */
template <typename Kernel>
static cudaError_t
mgpu_allow_shared(Kernel kernel, uint32_t shared_bytes)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared_bytes);
}

/* Is the current device one of those with much shared memory an SM? */
static cudaError_t
mgpu_is_large_device(bool *large)
{
	int			device;
	int			shared_bytes = 0;
	cudaError_t status = cudaGetDevice(&device);

	if (status == cudaSuccess)
		status = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
	*large = shared_bytes >= MGPU_LARGE_SHARED_BYTES;
	return status;
}

static inline uint64_t
mgpu_divide_up(uint64_t dividend, uint64_t divisor)
{
	return (dividend + divisor - 1) / divisor;
}

/* The pass that merges sort tiles, and how many passes follow in all. */
template <class Tuning>
static mgpu_merge_pass
mgpu_first_pass(uint64_t num_items, int *num_passes)
{
	mgpu_merge_pass pass;

	pass.num_items = num_items;
	pass.tile_items = Tuning::merge_tile_items;
	pass.num_tiles = mgpu_divide_up(num_items, Tuning::merge_tile_items);
	pass.run_tiles = Tuning::sort_tile_items / Tuning::merge_tile_items;
	*num_passes = 0;
	while (pass.run_tiles << *num_passes < pass.num_tiles)
		++*num_passes;
	return pass;
}

template <typename Key>
static cudaError_t
mgpu_launch_partition(const Key *keys, const mgpu_merge_pass &pass, uint32_t *splits, cudaStream_t stream)
{
	constexpr uint32_t tiles_per_cta = MGPU_PARTITION_THREADS / 32;

	mgpu_partition<<<(unsigned) mgpu_divide_up(pass.num_tiles, tiles_per_cta), MGPU_PARTITION_THREADS, 0, stream>>>
		(keys, pass, splits);
	return cudaGetLastError();
}

template <class Tuning, typename Key, typename Source>
static cudaError_t
mgpu_launch_sort_tiles(Source source, Key *keys, uint64_t num_items, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = Tuning::sort_tile_items * sizeof(Key);
	auto		kernel = mgpu_sort_tiles<Tuning::sort_threads, Tuning::items_per_thread, Key, Source>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status != cudaSuccess)
		return status;
	kernel<<<(unsigned) mgpu_divide_up(num_items, Tuning::sort_tile_items), Tuning::sort_threads, shared_bytes, stream>>>
		(source, keys, num_items);
	return cudaGetLastError();
}

template <class Tuning, typename Key, typename Sink>
static cudaError_t
mgpu_launch_merge(const Key *keys, const mgpu_merge_pass &pass, uint32_t *splits, Sink sink, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_inputs_capacity<Key>(Tuning::merge_tile_items, Tuning::items_per_thread);
	auto		kernel = mgpu_merge_tiles<Tuning::merge_threads, Tuning::items_per_thread, Key, Sink>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status == cudaSuccess)
		status = mgpu_launch_partition(keys, pass, splits, stream);
	if (status != cudaSuccess)
		return status;
	kernel<<<(unsigned) pass.num_tiles, Tuning::merge_threads, shared_bytes, stream>>>(keys, pass, splits, sink);
	return cudaGetLastError();
}

/* Sort keys alone, in place: the result is on the side of the input. */
template <class Tuning, typename Key>
static cudaError_t
mgpu_merge_sort_keys(mgpu_sort_request *request)
{
	int			num_passes;
	mgpu_merge_pass pass = mgpu_first_pass<Tuning>(request->num_items, &num_passes);
	int			side = request->current ^ (num_passes & 1);
	mgpu_plain_source<Key> source = {static_cast<const Key *>(request->keys[request->current])};
	uint32_t   *splits = static_cast<uint32_t *>(request->temp);
	cudaError_t status = mgpu_launch_sort_tiles<Tuning>(source, static_cast<Key *>(request->keys[side]),
														request->num_items, request->stream);

	for (; status == cudaSuccess && num_passes > 0; num_passes--, side ^= 1, pass.run_tiles *= 2)
	{
		mgpu_plain_sink<Key> sink = {static_cast<Key *>(request->keys[side ^ 1])};

		status = mgpu_launch_merge<Tuning>(static_cast<const Key *>(request->keys[side]), pass, splits, sink,
										   request->stream);
	}
	return status;
}

/*
 * Sort 4-byte keys with their indices.  The tiles of the block sort go to the
 * other side, packed; the last pass, of which there is at least one, unpacks.
 */
template <class Tuning>
static cudaError_t
mgpu_merge_sort_packed(mgpu_sort_request *request)
{
	int			num_passes;
	mgpu_merge_pass pass = mgpu_first_pass<Tuning>(request->num_items, &num_passes);
	int			side = request->current ^ 1;
	mgpu_packing_source source = {static_cast<const uint32_t *>(request->keys[request->current])};
	uint32_t   *splits = static_cast<uint32_t *>(request->temp);
	cudaError_t status = mgpu_launch_sort_tiles<Tuning>(source, static_cast<uint64_t *>(request->keys[side]),
														request->num_items, request->stream);

	for (; status == cudaSuccess && num_passes > 1; num_passes--, side ^= 1, pass.run_tiles *= 2)
	{
		mgpu_plain_sink<uint64_t> sink = {static_cast<uint64_t *>(request->keys[side ^ 1])};

		status = mgpu_launch_merge<Tuning>(static_cast<const uint64_t *>(request->keys[side]), pass, splits,
										   sink, request->stream);
	}
	if (status == cudaSuccess)
	{
		mgpu_unpacking_sink sink = {static_cast<uint32_t *>(request->keys[side ^ 1]), request->indices[side ^ 1]};

		status = mgpu_launch_merge<Tuning>(static_cast<const uint64_t *>(request->keys[side]), pass, splits,
										   sink, request->stream);
	}
	request->current = side ^ 1;
	return status;
}

/* Sort keys with their indices as two arrays; the result is where the keys were. */
template <class Tuning, typename Key>
static cudaError_t
mgpu_merge_sort_indexed(mgpu_sort_request *request)
{
	constexpr uint32_t item_bytes = sizeof(Key) + sizeof(uint32_t);
	constexpr uint32_t sort_bytes = Tuning::sort_tile_items * item_bytes;
	constexpr uint32_t merge_bytes = sizeof(Key) * mgpu_inputs_capacity<Key>(Tuning::merge_tile_items, 0) +
		sizeof(uint32_t) * mgpu_inputs_capacity<uint32_t>(Tuning::merge_tile_items, 0);
	auto		sort = mgpu_sort_tiles_indexed<Tuning::sort_threads, Tuning::items_per_thread, Key>;
	auto		merge = mgpu_merge_tiles_indexed<Tuning::merge_threads, Tuning::items_per_thread, Key>;
	int			num_passes;
	mgpu_merge_pass pass = mgpu_first_pass<Tuning>(request->num_items, &num_passes);
	Key		   *keys[2] = {static_cast<Key *>(request->keys[0]), static_cast<Key *>(request->keys[1])};
	int			side = request->current ^ (num_passes & 1);
	uint32_t   *splits = static_cast<uint32_t *>(request->temp);
	cudaError_t status = mgpu_allow_shared(sort, sort_bytes);

	if (status == cudaSuccess)
		status = mgpu_allow_shared(merge, merge_bytes);
	if (status != cudaSuccess)
		return status;
	sort<<<(unsigned) mgpu_divide_up(request->num_items, Tuning::sort_tile_items), Tuning::sort_threads, sort_bytes,
		request->stream>>>(keys[request->current], keys[side], request->indices[side], request->num_items);
	status = cudaGetLastError();
	for (; status == cudaSuccess && num_passes > 0; num_passes--, side ^= 1, pass.run_tiles *= 2)
	{
		status = mgpu_launch_partition(keys[side], pass, splits, request->stream);
		if (status != cudaSuccess)
			return status;
		merge<<<(unsigned) pass.num_tiles, Tuning::merge_threads, merge_bytes, request->stream>>>
			(keys[side], request->indices[side], pass, splits, keys[side ^ 1], request->indices[side ^ 1]);
		status = cudaGetLastError();
	}
	return status;
}

#endif							/* MGPU_MERGE_SORT_CUH */
