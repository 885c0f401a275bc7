/*
 * sort/merge_kernels.cuh
 *		The kernels of a merge sort: block sort, partition, 2-way merge.
 *
 * Keys come from a source and go to a sink (device/array.cuh), so the first and the last pass can
 * change their form.  Equal items cannot be told apart, or there are none.  The 4-way merge is in
 * four_way_kernels.cuh, that of more runs in k_way_kernels.cuh.  One CTA takes one tile, and every
 * kernel's first step is mgpu_await_previous.  If tiles are few, two warps of each find its
 * splits, which is faster than a launch for them.
 *
 * Rejected: persistent CTAs that prefetch the next tile, since four CTAs an SM already overlap
 * loads with merges (NOTES.md).
 */
#ifndef MGPU_SORT_MERGE_KERNELS_CUH
#define MGPU_SORT_MERGE_KERNELS_CUH

#include "device/array.cuh"
#include "device/launch.cuh"
#include "sort/cta_sort.cuh"
#include "sort/merge_pass.cuh"
#include "sort/tuning.cuh"

extern __shared__ __align__(16) char mgpu_shared[];

/* -------------------------------------------------------------- block sort */

/* Slots for a CTA's items at any phase. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_tile_capacity(uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (num_items + 2 * vector_items) / vector_items * vector_items;
}

/* Exchange items of a tile, from every threads-th one to neighbours in a thread. */
template <int threads, int items, class Tile>
static __device__ __forceinline__ void
mgpu_exchange_items(typename Tile::Item (&values)[items], const Tile &tile, uint32_t thread)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile.put(thread + i * threads, values[i]);
	__syncthreads();				/* the tile is loaded */
#pragma unroll
	for (int i = 0; i < items; i++)
		values[i] = tile.at((thread * items + i) * Tile::unit);
	__syncthreads();				/* and has been read */
}

/* Sort every tile.  Source and sink may be the same memory. */
template <class Tuning, class Source, class Sink>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_tiles(Source source, Sink sink, uint64_t num_items)
{
	typedef typename Sink::Item Item;
	constexpr int threads = Tuning::sort_threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, mgpu_sort_slots(threads, items));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::sort_tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) Tuning::sort_tile_items, num_items - begin);
	Item		sorted[items];

	mgpu_await_previous();
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = thread + i * threads;

		sorted[i] = item < count ? source.load(begin + item) : mgpu_largest_key<Item>();
	}
	/* any thread may sort any items, except that equal keys must keep the order of threads */
	if constexpr (mgpu_tile<Item>::is_indexed)
		mgpu_exchange_items<threads>(sorted, tile, thread);
	mgpu_cta_sort_runs<threads>(sorted, tile, thread);
	mgpu_put_forwards(sorted, tile, sink.phase(begin) + thread * items);
	__syncthreads();				/* the sorted tile is whole */
	sink.template store_tile<threads>(begin, tile, count, thread);
}

/* --------------------------------------------------------------- partition */

/* Up to where comes_before holds in [low, high), which has at most 2^31 places.  A warp searches. */
template <class Test>
static __device__ __forceinline__ uint32_t
mgpu_find_split_within(uint64_t low, uint64_t high, uint32_t lane, const Test &comes_before)
{
	while (low < high)
	{
		uint32_t	before = __ballot_sync(0xFFFFFFFFu, comes_before(mgpu_split_probe(low, high, lane)));

		mgpu_split_narrow(low, high, __popc(before));
	}
	return (uint32_t) low;
}

/* The split of a tile's first diagonal, found by a warp. */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_find_split(const Key *keys, const mgpu_merge_pass &pass, uint64_t tile, uint32_t lane)
{
	mgpu_run_pair pair = mgpu_find_run_pair(pass, tile);
	uint64_t	low;
	uint64_t	high;

	mgpu_split_range(pair, low, high);
	return mgpu_find_split_within(low, high, lane, [&] (uint64_t probe) { return mgpu_split_test(keys, pair, probe); });
}

/* Find the split of every tile's first diagonal, one warp a tile. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition(const Key *keys, mgpu_merge_pass pass, uint32_t *splits)
{
	uint64_t	tile = (uint64_t) blockIdx.x * (MGPU_PARTITION_THREADS / 32) + threadIdx.x / 32;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	split;

	mgpu_await_previous();
	if (tile >= pass.num_tiles)
		return;
	split = mgpu_find_split(keys, pass, tile, lane);
	if (lane == 0)
		splits[tile] = split;
}

/* ------------------------------------------------------------------- merge */

template <typename Item>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_phase(uint32_t slot, const Item *address)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (slot + vector_items - 1) / vector_items * vector_items + mgpu_phase(address);
}

/* The first slot at or after `slot` with the phase of an array's item. */
template <class Array>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_array_phase(uint32_t slot, const Array &array, uint64_t item)
{
	return (slot + Array::vector_items - 1) / Array::vector_items * Array::vector_items + array.phase(item);
}

/* Slots for num_inputs intervals, tile_items in all, each at any phase and with `guard` items behind it. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_inputs_capacity(uint32_t tile_items, uint32_t num_inputs, uint32_t guard)
{
	return mgpu_tile_capacity<Item>(tile_items + num_inputs * (guard + 2 * MGPU_VECTOR_BYTES / sizeof(Item)));
}

/* Put the largest item `items` times behind an input. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_guard(const Tile &tile, uint32_t end, uint32_t thread)
{
	if (thread < items)
		tile.put(end + thread, mgpu_largest_key<typename Tile::Item>());
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_guard(Key *tile, uint32_t end, uint32_t thread)
{
	mgpu_put_guard<items>(mgpu_tile<Key> {tile}, end, thread);
}

/* Merge a thread's share of two guarded lists in shared memory. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_guarded_lists(typename Tile::Item (&merged)[items], const Tile &tile, uint32_t a_slot, uint32_t a_items,
						 uint32_t b_slot, uint32_t b_items, uint32_t diagonal)
{
	uint32_t	count = a_items + b_items;
	uint32_t	a;

	diagonal = diagonal < count ? diagonal : count;
	a = mgpu_merge_path(tile.keys + a_slot, a_items, tile.keys + b_slot, b_items, diagonal);
	mgpu_serial_merge_forwards(tile, (a_slot + a) * Tile::unit, (b_slot + diagonal - a) * Tile::unit, merged);
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_guarded(Key (&keys)[items], const Key *tile, uint32_t a_slot, uint32_t a_items, uint32_t b_slot,
				   uint32_t b_items, uint32_t diagonal)
{
	mgpu_merge_guarded_lists(keys, mgpu_tile<Key> {const_cast<Key *>(tile)}, a_slot, a_items, b_slot, b_items, diagonal);
}

/* Slots of a merge's tile: intervals of an array, each at any phase and with `guard` items behind it. */
template <class Array>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_merge_slots(uint32_t tile_items, uint32_t num_inputs, uint32_t guard)
{
	return tile_items + num_inputs * (guard + 2 * Array::vector_items) + 2 * Array::vector_items;
}

/*
 * Load a tile whose items are all of one run to the slot from which it is stored: nothing to merge.
 * `from` is their place in the array.  Common where keys are in order.
 */
template <int threads, class Array>
static __device__ __forceinline__ void
mgpu_load_only_run(const Array &array, uint64_t from, const mgpu_tile<typename Array::Item> &tile, uint32_t slot,
				   uint32_t num_items, uint32_t thread)
{
	if (array.phase(from) == slot)
		array.template load_interval<threads>(tile, slot, from, num_items, thread);
	else
		array.template load_items<threads>(tile, slot, from, num_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* the tile is loaded */
}

/* A tile's inputs: by splits that were found, or by two warps that search. */
template <class Tuning, typename Key>
static __device__ __forceinline__ mgpu_tile_inputs
mgpu_get_tile_inputs(const Key *keys, const mgpu_merge_pass &pass, const uint32_t *splits)
{
	mgpu_run_pair pair = mgpu_find_run_pair(pass, blockIdx.x);
	uint32_t	split;
	uint64_t	end_split;

	if constexpr (Tuning::search_in_tile)
	{
		__shared__ uint32_t found[2];
		uint32_t	warp = threadIdx.x / 32;
		uint32_t	lane = threadIdx.x % 32;

		if (warp < 2)
		{
			split = warp == 1 && mgpu_ends_pair(pass, pair) ? (uint32_t) pair.a_items :
				mgpu_find_split(keys, pass, blockIdx.x + warp, lane);
			if (lane == 0)
				found[warp] = split;
		}
		__syncthreads();			/* both splits are found */
		split = found[0];
		end_split = found[1];
	}
	else
	{
		split = splits[blockIdx.x];
		end_split = mgpu_find_end_split(pass, pair, splits, blockIdx.x);
	}
	return mgpu_find_tile_inputs(pass, pair, split, end_split);
}

template <class Tuning, class Array, class Sink>
__global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_tiles(Array array, mgpu_merge_pass pass, const uint32_t *splits, Sink sink)
{
	typedef typename Array::Item Item;
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, mgpu_merge_slots<Array>(threads * items, 2, items));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = blockIdx.x * (uint64_t) pass.tile_items;
	mgpu_tile_inputs inputs;
	uint32_t	a_slot;
	uint32_t	b_slot;
	Item		merged[items];

	mgpu_await_previous();
	inputs = mgpu_get_tile_inputs<Tuning>(array.keys, pass, splits);
	a_slot = array.phase(inputs.a_begin);
	b_slot = mgpu_slot_in_array_phase(a_slot + inputs.a_items + items, array, inputs.b_begin);
	array.template load_interval<threads>(tile, a_slot, inputs.a_begin, inputs.a_items, thread);
	array.template load_interval<threads>(tile, b_slot, inputs.b_begin, inputs.b_items, thread);
	mgpu_put_guard<items>(tile, a_slot + inputs.a_items, thread);
	mgpu_put_guard<items>(tile, b_slot + inputs.b_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	mgpu_merge_guarded_lists(merged, tile, a_slot, inputs.a_items, b_slot, inputs.b_items, thread * items);
	__syncthreads();				/* inputs are read */
	mgpu_put_forwards(merged, tile, sink.phase(begin) + thread * items);
	__syncthreads();				/* the merged tile is whole */
	sink.template store_tile<threads>(begin, tile, inputs.a_items + inputs.b_items, thread);
}

#endif							/* MGPU_SORT_MERGE_KERNELS_CUH */
