/*
 * sort/window_kernels.cuh
 *		The kernels of a window pass: splits with the proof that the pass is right, and the
 *		merge.
 *
 * The kernel that finds the splits also compares the ends of each run with the next but one, so no
 * sample decides what is right.  The merge reads that result first and tells the host, which need
 * not wait for the merge.  If the answer is no, the merge does nothing: the runs are still there,
 * and a merge sort continues from them.
 */
#ifndef MGPU_SORT_WINDOW_KERNELS_CUH
#define MGPU_SORT_WINDOW_KERNELS_CUH

#include "device/signal.h"
#include "sort/merge_kernels.cuh"
#include "sort/window_pass.cuh"

/* The word of the answer: 1 for yes. */
#define MGPU_WINDOW_ANSWER 0

/* The last question on this device with the answer no. */
static __device__ uint32_t mgpu_window_failure;

/* The split of a tile's first place, found by a warp. */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_find_window_split(const Key *keys, const mgpu_run_window &window, uint32_t lane)
{
	uint64_t	low;
	uint64_t	high;

	mgpu_window_split_range(window, low, high);
	return mgpu_find_split_within(low, high, lane, [&] (uint64_t probe) { return mgpu_window_split_test(keys, window, probe); });
}

/* Find the split of every tile's first place, one warp a tile. */
template <typename Key>
static __global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition_windows(const Key *keys, mgpu_merge_pass pass, uint32_t *splits, uint32_t question)
{
	uint64_t	tile = (uint64_t) blockIdx.x * (MGPU_PARTITION_THREADS / 32) + threadIdx.x / 32;
	uint32_t	lane = threadIdx.x % 32;
	mgpu_run_window window;
	uint32_t	split;

	mgpu_await_previous();
	if (tile >= pass.num_tiles)
		return;
	window = mgpu_find_run_window(pass, tile);
	if (lane == 0 && mgpu_window_fails(keys, window, tile, pass))
		*(volatile uint32_t *) &mgpu_window_failure = question;
	split = mgpu_find_window_split(keys, window, lane);
	if (lane == 0)
		splits[tile] = split;
}

/* Load the left and the right list one behind the other, the longer one by vectors.  Returns the first slot. */
template <int threads, class Array, class Tile>
static __device__ __forceinline__ uint32_t
mgpu_load_window_lists(const Array &array, const Tile &tile, const mgpu_window_inputs &inputs, uint32_t end_slot,
					   uint32_t thread)
{
	bool		left_longer = inputs.left_items >= inputs.right_items;
	uint32_t	slot = left_longer ? mgpu_slot_in_array_phase(end_slot, array, inputs.left_begin) :
		mgpu_slot_in_array_phase(end_slot + inputs.left_items, array, inputs.right_begin) - inputs.left_items;
	uint32_t	right_slot = slot + inputs.left_items;

	if (left_longer)
	{
		array.template load_interval<threads>(tile, slot, inputs.left_begin, inputs.left_items, thread);
		array.template load_items<threads>(tile, right_slot, inputs.right_begin, inputs.right_items, thread);
	}
	else
	{
		array.template load_items<threads>(tile, slot, inputs.left_begin, inputs.left_items, thread);
		array.template load_interval<threads>(tile, right_slot, inputs.right_begin, inputs.right_items, thread);
	}
	return slot;
}

/*
 * Merge a thread's share of a tile's own list with the others', both guarded.  Equal keys of the
 * left list come before the tile's own, those of the right one behind.  With indices, items are
 * compared by both.
 */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_window_lists(typename Tile::Item (&merged)[items], const Tile &tile, uint32_t slot, uint32_t num_items,
						uint32_t others_slot, uint32_t others_items, uint32_t diagonal)
{
	if constexpr (Tile::is_indexed)
	{
		uint32_t	count = num_items + others_items;
		uint32_t	own;

		diagonal = diagonal < count ? diagonal : count;
		own = mgpu_merge_path_of_items(tile, slot, num_items, others_slot, others_items, diagonal);
		mgpu_serial_merge_forwards(tile, (slot + own) * Tile::unit, (others_slot + diagonal - own) * Tile::unit, merged);
	}
	else
		mgpu_merge_guarded_lists(merged, tile, slot, num_items, others_slot, others_items, diagonal);
}

/* Merge a tile from its inputs, and store it. */
template <class Tuning, class Array, class Sink>
static __device__ __forceinline__ void
mgpu_merge_window(const Array &array, const mgpu_window_inputs &inputs, uint64_t begin, const Sink &sink)
{
	typedef typename Array::Item Item;
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, mgpu_merge_slots<Array>(threads * items, 2, items));
	uint32_t	thread = threadIdx.x;
	uint32_t	others_items = inputs.left_items + inputs.right_items;
	uint32_t	slot = array.phase(inputs.run_begin);
	uint32_t	others_slot;
	Item		merged[items];

	array.template load_interval<threads>(tile, slot, inputs.run_begin, inputs.run_items, thread);
	others_slot = mgpu_load_window_lists<threads>(array, tile, inputs, slot + inputs.run_items + items, thread);
	mgpu_put_guard<items>(tile, slot + inputs.run_items, thread);
	mgpu_put_guard<items>(tile, others_slot + others_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	mgpu_merge_window_lists(merged, tile, slot, inputs.run_items, others_slot, others_items, thread * items);
	__syncthreads();				/* inputs are read */
	mgpu_put_forwards(merged, tile, sink.phase(begin) + thread * items);
	__syncthreads();				/* the merged tile is whole */
	sink.template store_tile<threads>(begin, tile, inputs.run_items + others_items, thread);
}

template <class Tuning, class Array, class Sink>
static __global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_windows(Array array, mgpu_merge_pass pass, const uint32_t *splits, uint32_t question, mgpu_signals *signals,
				   Sink sink)
{
	bool		fails;

	mgpu_await_previous();
	fails = *(volatile uint32_t *) &mgpu_window_failure == question;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		signals->words[MGPU_WINDOW_ANSWER] = MGPU_SIGNAL(question, !fails);
	if (fails)
		return;
	mgpu_merge_window<Tuning>(array, mgpu_find_window_inputs(pass, mgpu_find_run_window(pass, blockIdx.x), blockIdx.x,
															  splits[blockIdx.x],
															  splits[min((uint64_t) blockIdx.x + 1, pass.num_tiles - 1)]),
							  blockIdx.x * (uint64_t) pass.tile_items, sink);
}

#endif							/* MGPU_SORT_WINDOW_KERNELS_CUH */
