/*
 * sort/merge_sort.cuh
 *		Mergesort on the device: the passes and their launches.
 *
 * Sort tiles in shared memory, then merge up to 32 runs in a pass until one is left.  Each pass is
 * a partition (one split a tile) and a merge (one tile a CTA) between two sides.  If input and
 * output have the same form, the block sort starts on the side that makes the last pass end where
 * the input was.
 *
 * Source: moderngpu's mergesort (S. Baxter, 2013) on the Merge Path partition; k-way passes are
 * ours.  Rejected: two arrays for 4-byte keys and indices, since packed into 64 bits
 * they need one load, one comparison and no stability.
 */
#ifndef MGPU_SORT_MERGE_SORT_CUH
#define MGPU_SORT_MERGE_SORT_CUH

#include "device/launch.cuh"
#include "sort/block_sort.cuh"
#include "sort/k_way_merge.cuh"
#include "sort/sorter.h"

template <class Tuning, class Source, class Sink>
static cudaError_t
mgpu_launch_sort_tiles(Source source, Sink sink, uint64_t num_items, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes =
		mgpu_tile<typename Sink::Item>::bytes(mgpu_sort_slots(Tuning::threads, Tuning::items_per_thread));

	return mgpu_launch(mgpu_sort_tiles<Tuning, Source, Sink>, mgpu_divide_up(num_items, Tuning::tile_items),
					   Tuning::threads, shared_bytes, stream, source, sink, num_items);
}

template <class Keys>
static cudaError_t
mgpu_launch_partition_k_way(Keys keys, const mgpu_k_way_pass &pass, void *splits, cudaStream_t stream)
{
	return mgpu_launch_early(pass.num_tiles <= MGPU_K_WAY_OVERLAP_TILES, mgpu_partition_k_way<Keys>,
							 mgpu_divide_up((uint64_t) pass.num_tiles << pass.levels, MGPU_PARTITION_THREADS),
							 MGPU_PARTITION_THREADS, 0, stream, keys, pass, static_cast<uint32_t *>(splits));
}

template <class Tuning, class Array, class Sink>
static cudaError_t
mgpu_launch_merge_k_way(Array array, const mgpu_k_way_pass &pass, const void *splits, Sink sink, cudaStream_t stream)
{
	constexpr uint32_t shared_bytes = mgpu_tile<typename Array::Item>::bytes(
		mgpu_k_way_slots<Array>(Tuning::threads, Tuning::items_per_thread, Tuning::ways));

	return mgpu_launch(mgpu_merge_k_way<Tuning, Array, Sink>, pass.num_tiles, Tuning::threads, shared_bytes, stream,
					   array, pass, static_cast<const uint32_t *>(splits), sink);
}

template <class Tuning, class Array, class Sink>
static cudaError_t
mgpu_launch_pass(Array array, const mgpu_merge_plan *plan, void *splits, Sink sink, cudaStream_t stream)
{
	cudaError_t status = mgpu_launch_partition_k_way(array.search_keys(), plan->pass, splits, stream);

	return status != cudaSuccess ? status : mgpu_launch_merge_k_way<Tuning>(array, plan->pass, splits, sink, stream);
}

/* Sort items of one form, from source, between two sides.  The result is on arrays[side]. */
template <class Tuning, class Source, class Array>
static cudaError_t
mgpu_merge_sort_arrays(const mgpu_sort_request *request, Source source, const Array (&arrays)[2], int side)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	cudaError_t status;

	side ^= plan.num_passes & 1;
	status = mgpu_launch_sort_tiles<Tuning>(source, arrays[side], request->num_items, request->stream);
	for (; status == cudaSuccess && plan.num_passes > 0; mgpu_advance_plan(&plan), side ^= 1)
		status = mgpu_launch_pass<Tuning>(arrays[side], &plan, request->temp, arrays[side ^ 1], request->stream);
	return status;
}

/* Sort keys alone.  The result is on the side of the input. */
template <class Tuning, typename Key>
static cudaError_t
mgpu_merge_sort_keys(mgpu_sort_request *request)
{
	mgpu_key_array<Key> arrays[2] = {{static_cast<Key *>(request->keys[0])}, {static_cast<Key *>(request->keys[1])}};
	mgpu_plain_source<Key> source = {arrays[request->current].keys};

	return mgpu_merge_sort_arrays<Tuning>(request, source, arrays, request->current);
}

/* Sort 8-byte keys with their indices as two arrays.  The result is where the keys were. */
template <class Tuning>
static cudaError_t
mgpu_merge_sort_indexed(mgpu_sort_request *request)
{
	mgpu_indexed_array arrays[2] = {{static_cast<uint64_t *>(request->keys[0]), request->indices[0]},
		{static_cast<uint64_t *>(request->keys[1]), request->indices[1]}};
	mgpu_indexing_source source = {arrays[request->current].keys};

	return mgpu_merge_sort_arrays<Tuning>(request, source, arrays, request->current);
}

/*
 * Sort 4-byte keys with their indices.  The block sort's tiles go to the other side, packed.  The
 * last pass unpacks, or the block sort if there is none.
 */
template <class Tuning>
static cudaError_t
mgpu_merge_sort_packed(mgpu_sort_request *request)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	mgpu_packed_array arrays[2] = {{{static_cast<uint64_t *>(request->keys[0])}},
		{{static_cast<uint64_t *>(request->keys[1])}}};
	int			side = request->current ^ 1;
	mgpu_packing_source source = {static_cast<const uint32_t *>(request->keys[request->current])};
	mgpu_unpacking_sink sinks[2] = {{static_cast<uint32_t *>(request->keys[0]), request->indices[0]},
		{static_cast<uint32_t *>(request->keys[1]), request->indices[1]}};
	cudaError_t status;

	if (plan.num_passes == 0)
	{
		request->current = side;
		return mgpu_launch_sort_tiles<Tuning>(source, sinks[side], request->num_items, request->stream);
	}
	status = mgpu_launch_sort_tiles<Tuning>(source, arrays[side], request->num_items, request->stream);
	for (; status == cudaSuccess && plan.num_passes > 1; mgpu_advance_plan(&plan), side ^= 1)
		status = mgpu_launch_pass<Tuning>(arrays[side], &plan, request->temp, arrays[side ^ 1], request->stream);
	if (status == cudaSuccess)
		status = mgpu_launch_pass<Tuning>(arrays[side], &plan, request->temp, sinks[side ^ 1], request->stream);
	request->current = side ^ 1;
	return status;
}

/* --------------------------------------------------------------- one tile */

/*
 * Sorts of what one CTA holds: one launch, with as few threads and items as possible (tuning.cuh),
 * since all wait for shared memory.  It takes no more shared memory than every kernel has.
 */
template <class Tuning, class Source, class Sink>
static cudaError_t
mgpu_launch_one_tile(const mgpu_sort_request *request, Source source, Sink sink)
{
	constexpr uint32_t shared_bytes =
		mgpu_tile<typename Sink::Item>::bytes(mgpu_sort_slots(Tuning::threads, Tuning::items_per_thread));

	static_assert(shared_bytes <= MGPU_PLAIN_SHARED_BYTES, "more would have to be asked for");
	return mgpu_launch_kernel(false, mgpu_sort_tiles<Tuning, Source, Sink>, 1, Tuning::threads, shared_bytes,
							  request->stream, source, sink, request->num_items);
}

template <class Tuning, typename Key>
static cudaError_t
mgpu_sort_tile_of_keys(mgpu_sort_request *request)
{
	mgpu_key_array<Key> array = {static_cast<Key *>(request->keys[request->current])};
	mgpu_plain_source<Key> source = {array.keys};

	return mgpu_launch_one_tile<Tuning>(request, source, array);
}

/* 4-byte keys with their indices, packed in the tile alone.  To the other side, where indices overwrite no keys. */
template <class Tuning>
static cudaError_t
mgpu_sort_tile_of_packed(mgpu_sort_request *request)
{
	mgpu_packing_source source = {static_cast<const uint32_t *>(request->keys[request->current])};
	int			side = request->current ^= 1;
	mgpu_unpacking_sink sink = {static_cast<uint32_t *>(request->keys[side]), request->indices[side]};

	return mgpu_launch_one_tile<Tuning>(request, source, sink);
}

template <class Tuning>
static cudaError_t
mgpu_sort_tile_of_indexed(mgpu_sort_request *request)
{
	mgpu_indexed_array array = {static_cast<uint64_t *>(request->keys[request->current]),
		request->indices[request->current]};
	mgpu_indexing_source source = {array.keys};

	return mgpu_launch_one_tile<Tuning>(request, source, array);
}

/* Call sort with the first of these tunings whose tile holds all items, or with the last. */
template <class First, class... Others, class Sort>
static cudaError_t
mgpu_sort_one_tile(mgpu_tile_tunings<First, Others...>, const mgpu_sort_request *request, Sort sort)
{
	if constexpr (sizeof...(Others) > 0)
	{
		if (request->num_items > First::tile_items)
			return mgpu_sort_one_tile(mgpu_tile_tunings<Others...>(), request, sort);
	}
	return sort(First());
}

#endif							/* MGPU_SORT_MERGE_SORT_CUH */
