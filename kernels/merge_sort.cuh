/*
 * merge_sort.cuh
 *		Mergesort on the device: the passes and their launches.
 *
 * Sort tiles in shared memory, then merge runs until one is left, each pass a
 * partition (one split a tile) and a merge (one tile a CTA), between two sides.
 * A pass merges four runs into one; where the number of levels is odd, the
 * first merges two.  Where input and output have one form, the block sort
 * starts on the side that makes the last pass land where the input was.
 *
 * Source: moderngpu's mergesort (S. Baxter, 2013) on the Merge Path partition;
 * the 4-way passes are ours.  Two arrays for 4-byte keys and their indices were
 * rejected: packed into 64 bits they need one load, one comparison and no
 * stability, and the two arrays would move 16 bytes an item and pass as well.
 */
#ifndef MGPU_MERGE_SORT_CUH
#define MGPU_MERGE_SORT_CUH

#include "device_sort.h"
#include "quad_kernels.cuh"

/*
 * More than 48 kB of shared memory a CTA has to be asked for; and an SM gives
 * its first-level cache to shared memory, where all data that are used twice lie.
 */
template <typename Kernel>
static cudaError_t
mgpu_allow_shared(Kernel kernel, uint32_t shared_bytes)
{
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared_bytes);

	if (status != cudaSuccess)
		return status;
	return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
}

/* Is the current device one of those with much shared memory an SM? */
static inline cudaError_t
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

static inline unsigned int
mgpu_divide_up(uint64_t dividend, uint32_t divisor)
{
	return (unsigned int) ((dividend + divisor - 1) / divisor);
}

/* How a sort goes on after its block sort. */
struct mgpu_merge_plan
{
	mgpu_merge_pass pass;		/* the next one */
	int			levels;			/* of two runs into one, still to do */
	int			num_passes;		/* passes they take */
	int			ways;			/* 2 or 4 */
};

/* Levels that the next pass does: 2 where ways allows and the rest is even. */
static inline int
mgpu_next_levels(const mgpu_merge_plan *plan)
{
	return plan->ways == 4 && plan->levels % 2 == 0 && plan->levels > 0 ? 2 : 1;
}

static inline void
mgpu_advance_plan(mgpu_merge_plan *plan)
{
	int			levels = mgpu_next_levels(plan);

	plan->pass.run_tiles <<= levels;
	plan->levels -= levels;
	plan->num_passes--;
}

template <class Tuning>
static mgpu_merge_plan
mgpu_plan_merges(uint64_t num_items)
{
	mgpu_merge_plan plan;

	plan.pass.num_items = num_items;
	plan.pass.tile_items = Tuning::merge_tile_items;
	plan.pass.num_tiles = mgpu_divide_up(num_items, Tuning::merge_tile_items);
	plan.pass.run_tiles = Tuning::sort_tile_items / Tuning::merge_tile_items;
	plan.levels = 0;
	while (plan.pass.run_tiles << plan.levels < plan.pass.num_tiles)
		plan.levels++;
	plan.ways = Tuning::ways;
	plan.num_passes = Tuning::ways == 4 ? (plan.levels + 1) / 2 : plan.levels;
	return plan;
}

template <class Tuning, typename Key, typename Source>
static cudaError_t
mgpu_launch_sort_tiles(Source source, Key *keys, uint64_t num_items, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_tile_capacity<Key>(Tuning::sort_threads * Tuning::items_per_thread);
	auto		kernel = mgpu_sort_tiles<Tuning, Key, Source>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status != cudaSuccess)
		return status;
	kernel<<<mgpu_divide_up(num_items, Tuning::sort_tile_items), Tuning::sort_threads, shared_bytes, stream>>>
		(source, keys, num_items);
	return cudaGetLastError();
}

template <typename Key>
static cudaError_t
mgpu_launch_partition(const Key *keys, const mgpu_merge_pass &pass, void *splits, cudaStream_t stream)
{
	mgpu_partition<<<mgpu_divide_up(pass.num_tiles, MGPU_PARTITION_THREADS / 32), MGPU_PARTITION_THREADS, 0, stream>>>
		(keys, pass, static_cast<uint32_t *>(splits));
	return cudaGetLastError();
}

template <typename Key>
static cudaError_t
mgpu_launch_partition_quads(const Key *keys, const mgpu_merge_pass &pass, void *splits, cudaStream_t stream)
{
	mgpu_partition_quads<<<mgpu_divide_up(pass.num_tiles, MGPU_PARTITION_THREADS / 32), MGPU_PARTITION_THREADS, 0,
		stream>>>(keys, pass, static_cast<mgpu_quad_split *>(splits));
	return cudaGetLastError();
}

template <class Tuning, typename Key, typename Sink>
static cudaError_t
mgpu_launch_merge(const Key *keys, const mgpu_merge_pass &pass, const void *splits, Sink sink, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_inputs_capacity<Key>(Tuning::merge_threads * Tuning::items_per_thread, 2, Tuning::items_per_thread);
	auto		kernel = mgpu_merge_tiles<Tuning, Key, Sink>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status != cudaSuccess)
		return status;
	kernel<<<(unsigned int) pass.num_tiles, Tuning::merge_threads, shared_bytes, stream>>>
		(keys, pass, static_cast<const uint32_t *>(splits), sink);
	return cudaGetLastError();
}

template <class Tuning, typename Key, typename Sink>
static cudaError_t
mgpu_launch_merge_quads(const Key *keys, const mgpu_merge_pass &pass, const void *splits, Sink sink,
						cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_quad_capacity<Key>(Tuning::merge_threads, Tuning::items_per_thread);
	auto		kernel = mgpu_merge_quads<Tuning, Key, Sink>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status != cudaSuccess)
		return status;
	kernel<<<(unsigned int) pass.num_tiles, Tuning::merge_threads, shared_bytes, stream>>>
		(keys, pass, static_cast<const mgpu_quad_split *>(splits), sink);
	return cudaGetLastError();
}

/* One pass, of two or of four runs, from keys to sink. */
template <class Tuning, typename Key, typename Sink>
static cudaError_t
mgpu_launch_pass(const Key *keys, const mgpu_merge_plan *plan, void *splits, Sink sink, cudaStream_t stream)
{
	cudaError_t status;

	if constexpr (Tuning::ways == 4)
	{
		if (mgpu_next_levels(plan) == 2)
		{
			status = mgpu_launch_partition_quads(keys, plan->pass, splits, stream);
			if (status != cudaSuccess)
				return status;
			return mgpu_launch_merge_quads<Tuning>(keys, plan->pass, splits, sink, stream);
		}
	}
	status = mgpu_launch_partition(keys, plan->pass, splits, stream);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_merge<Tuning>(keys, plan->pass, splits, sink, stream);
}

/* ------------------------------------------------------------------- sorts */

/* Sort keys alone, in place: the result is on the side of the input. */
template <class Tuning, typename Key>
static cudaError_t
mgpu_merge_sort_keys(mgpu_sort_request *request)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	Key		   *keys[2] = {static_cast<Key *>(request->keys[0]), static_cast<Key *>(request->keys[1])};
	int			side = request->current ^ (plan.num_passes & 1);
	mgpu_plain_source<Key> source = {keys[request->current]};
	cudaError_t status = mgpu_launch_sort_tiles<Tuning>(source, keys[side], request->num_items, request->stream);

	for (; status == cudaSuccess && plan.num_passes > 0; mgpu_advance_plan(&plan), side ^= 1)
	{
		mgpu_plain_sink<Key> sink = {keys[side ^ 1]};

		status = mgpu_launch_pass<Tuning>(static_cast<const Key *>(keys[side]), &plan, request->temp, sink,
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
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	uint64_t   *packed[2] = {static_cast<uint64_t *>(request->keys[0]), static_cast<uint64_t *>(request->keys[1])};
	int			side = request->current ^ 1;
	mgpu_packing_source source = {static_cast<const uint32_t *>(request->keys[request->current])};
	cudaError_t status = mgpu_launch_sort_tiles<Tuning>(source, packed[side], request->num_items, request->stream);

	for (; status == cudaSuccess && plan.num_passes > 1; mgpu_advance_plan(&plan), side ^= 1)
	{
		mgpu_plain_sink<uint64_t> sink = {packed[side ^ 1]};

		status = mgpu_launch_pass<Tuning>(static_cast<const uint64_t *>(packed[side]), &plan, request->temp, sink,
										  request->stream);
	}
	if (status == cudaSuccess)
	{
		mgpu_unpacking_sink sink = {static_cast<uint32_t *>(request->keys[side ^ 1]), request->indices[side ^ 1]};

		status = mgpu_launch_pass<Tuning>(static_cast<const uint64_t *>(packed[side]), &plan, request->temp, sink,
										  request->stream);
	}
	request->current = side ^ 1;
	return status;
}

/* Sort keys with their indices as two arrays; the result is where the keys were. */
template <class Tuning, typename Key>
static cudaError_t
mgpu_merge_sort_indexed(mgpu_sort_request *request)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t sort_items = Tuning::sort_threads * items;
	constexpr uint32_t merge_items = Tuning::merge_threads * items;
	constexpr uint32_t sort_bytes = sizeof(Key) * mgpu_tile_capacity<Key>(sort_items) +
		sizeof(uint32_t) * mgpu_tile_capacity<uint32_t>(sort_items);
	constexpr uint32_t merge_bytes = sizeof(Key) * mgpu_inputs_capacity<Key>(merge_items, 2, 0) +
		sizeof(uint32_t) * mgpu_inputs_capacity<uint32_t>(merge_items, 2, 0);
	auto		sort = mgpu_sort_tiles_indexed<Tuning, Key>;
	auto		merge = mgpu_merge_tiles_indexed<Tuning, Key>;
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	Key		   *keys[2] = {static_cast<Key *>(request->keys[0]), static_cast<Key *>(request->keys[1])};
	uint32_t  **indices = request->indices;
	int			side = request->current ^ (plan.num_passes & 1);
	cudaError_t status = mgpu_allow_shared(sort, sort_bytes);

	static_assert(Tuning::ways == 2, "keys with indices in two arrays are merged two runs at a time");
	if (status == cudaSuccess)
		status = mgpu_allow_shared(merge, merge_bytes);
	if (status != cudaSuccess)
		return status;
	sort<<<mgpu_divide_up(request->num_items, Tuning::sort_tile_items), Tuning::sort_threads, sort_bytes,
		request->stream>>>(keys[request->current], keys[side], indices[side], request->num_items);
	status = cudaGetLastError();
	for (; status == cudaSuccess && plan.num_passes > 0; mgpu_advance_plan(&plan), side ^= 1)
	{
		status = mgpu_launch_partition(keys[side], plan.pass, request->temp, request->stream);
		if (status != cudaSuccess)
			return status;
		merge<<<(unsigned int) plan.pass.num_tiles, Tuning::merge_threads, merge_bytes, request->stream>>>
			(keys[side], indices[side], plan.pass, static_cast<const uint32_t *>(request->temp), keys[side ^ 1],
			 indices[side ^ 1]);
		status = cudaGetLastError();
	}
	return status;
}

#endif							/* MGPU_MERGE_SORT_CUH */
