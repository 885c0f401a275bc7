/*
 * sort/four_way_kernels.cuh
 *		The 4-way merge: two levels of merging for one trip through memory.
 *
 * A CTA loads its intervals of four runs.  First X = run 0 + run 1 and Y = run 2 + run 3 are
 * merged into registers: the first threads share X, the others Y, each list rounded up to whole
 * threads.  X and Y go back to shared memory, and one more merge yields the tile.  A tree of four
 * heads a thread was rejected: three comparisons and three dependent loads an item, where two
 * levels take one each.
 */
#ifndef MGPU_SORT_FOUR_WAY_KERNELS_CUH
#define MGPU_SORT_FOUR_WAY_KERNELS_CUH

#include "sort/four_way_pass.cuh"
#include "sort/merge_kernels.cuh"

#define MGPU_FOUR_WAY_WARP 0xFFFFFFFFu

/* Sum over a warp's four runs of a value that a run's lanes share. */
static __device__ __forceinline__ uint32_t
mgpu_sum_runs(uint32_t value)
{
	value += __shfl_xor_sync(MGPU_FOUR_WAY_WARP, value, MGPU_FOUR_WAY_LANES);
	return value + __shfl_xor_sync(MGPU_FOUR_WAY_WARP, value, 2 * MGPU_FOUR_WAY_LANES);
}

/* The split of a tile's first diagonal, found by a warp.  Each lane gets the number of items of its run. */
template <class Keys>
static __device__ __forceinline__ uint32_t
mgpu_find_four_way_split(Keys keys, const mgpu_merge_pass &pass, uint64_t tile, uint32_t lane)
{
	typedef mgpu_key_of<Keys> Key;
	uint32_t	run = lane / MGPU_FOUR_WAY_LANES;
	uint32_t	run_lane = lane & ~(MGPU_FOUR_WAY_LANES - 1);
	uint32_t	probe = lane % MGPU_FOUR_WAY_LANES;
	mgpu_four_way_group group = mgpu_find_four_way_group(pass, tile);
	Keys		run_keys = keys + (group.begin + run * group.run_items);
	uint32_t	items = mgpu_split_item(mgpu_four_way_end(group), run);
	mgpu_four_way_window window = mgpu_start_four_way_window(group, items);
	uint32_t	position = mgpu_first_four_way_probe(group, items, window, probe);

	while (__any_sync(MGPU_FOUR_WAY_WARP, window.low != window.high))
	{
		bool		valid = probe < MGPU_FOUR_WAY_PROBES && window.low < window.high;
		Key			key = valid ? run_keys[position] : 0;
		uint32_t	least = position;	/* items before the key */
		uint32_t	most = position;
		uint32_t	in;
		uint32_t	out;
		uint32_t	last_in;
		uint32_t	first_out;

#pragma unroll
		for (uint32_t other = 1; other < 4; other++)
		{
			uint32_t	lanes = run_lane ^ other * MGPU_FOUR_WAY_LANES;
			bool		earlier_run = lanes < run_lane;
			uint32_t	count = 0;
			uint32_t	other_position;

#pragma unroll
			for (uint32_t step = MGPU_FOUR_WAY_LANES / 2; step > 0; step /= 2)
			{
				if (mgpu_probe_before(__shfl_sync(MGPU_FOUR_WAY_WARP, key, lanes + count + step - 1), key, earlier_run))
					count += step;
			}
			other_position = __shfl_sync(MGPU_FOUR_WAY_WARP, position, lanes + count);
			least += mgpu_least_before(__shfl_sync(MGPU_FOUR_WAY_WARP, window.low, lanes), count,
									   __shfl_sync(MGPU_FOUR_WAY_WARP, position, lanes + (count > 0 ? count - 1 : 0)),
									   other_position);
			most += other_position;
		}
		in = __ballot_sync(MGPU_FOUR_WAY_WARP, valid && most < group.diagonal);
		out = __ballot_sync(MGPU_FOUR_WAY_WARP, valid && least >= group.diagonal);
		if ((in | out) == 0)
			__trap();				/* runs out of order: a trap is better than a hang */
		in = in >> run_lane & ((1u << MGPU_FOUR_WAY_LANES) - 1);
		out = out >> run_lane & ((1u << MGPU_FOUR_WAY_LANES) - 1);
		last_in = __shfl_sync(MGPU_FOUR_WAY_WARP, position, run_lane + (in != 0 ? mgpu_highest_bit(in) : 0));
		first_out = __shfl_sync(MGPU_FOUR_WAY_WARP, position, run_lane + (out != 0 ? mgpu_lowest_bit(out) : 0));
		window.low = in != 0 ? last_in + 1 : window.low;
		window.high = out != 0 ? first_out : window.high;
		mgpu_bound_four_way_window(window, group.diagonal, mgpu_sum_runs(window.low), mgpu_sum_runs(window.high));
		position = mgpu_four_way_probe(window, probe);
	}
	return window.low;
}

/* Find the split of every tile's first diagonal, one warp a tile. */
template <class Keys>
__global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition_four_way(Keys keys, mgpu_merge_pass pass, mgpu_four_way_split *splits)
{
	uint64_t	tile = (uint64_t) blockIdx.x * (MGPU_PARTITION_THREADS / 32) + threadIdx.x / 32;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	split;

	mgpu_await_previous();
	if (tile >= pass.num_tiles)
		return;
	split = mgpu_find_four_way_split(keys, pass, tile, lane);
	if (lane % MGPU_FOUR_WAY_LANES == 0)
		splits[tile].items[lane / MGPU_FOUR_WAY_LANES] = split;
}

template <class Array>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_four_way_slots(uint32_t threads, uint32_t items)
{
	return mgpu_merge_slots<Array>(threads * items, 4, items);
}

/* Where a tile's four inputs lie in shared memory, and how they are merged. */
struct mgpu_four_way_plan
{
	uint64_t	begins[4];		/* in the array */
	uint32_t	slots[4];
	uint32_t	items[4];
	uint32_t	x_threads;		/* threads that share X = run 0 + run 1 */
	uint32_t	y_threads;		/* the threads behind them, which share Y */
};

template <int items, class Array>
MGPU_HOST_DEVICE mgpu_four_way_plan
mgpu_plan_four_way(const Array &array, const mgpu_four_way_group &group, const mgpu_four_way_split &begin,
				   const mgpu_four_way_split &end)
{
	mgpu_four_way_plan plan;
	uint32_t	slot = 0;

#pragma unroll
	for (int run = 0; run < 4; run++)
	{
		plan.begins[run] = group.begin + run * group.run_items + begin.items[run];
		plan.items[run] = end.items[run] - begin.items[run];
		plan.slots[run] = mgpu_slot_in_array_phase(slot, array, plan.begins[run]);
		slot = plan.slots[run] + plan.items[run] + items;
	}
	plan.x_threads = (plan.items[0] + plan.items[1] + items - 1) / items;
	plan.y_threads = (plan.items[2] + plan.items[3] + items - 1) / items;
	return plan;
}

MGPU_HOST_DEVICE uint32_t
mgpu_count_four_way_items(const mgpu_four_way_plan &plan)
{
	return plan.items[0] + plan.items[1] + plan.items[2] + plan.items[3];
}

/* The run that has all of a tile's items, or 4. */
MGPU_HOST_DEVICE uint32_t
mgpu_find_only_run(const mgpu_four_way_plan &plan)
{
	uint32_t	num_items = mgpu_count_four_way_items(plan);
	uint32_t	only = 4;

#pragma unroll
	for (uint32_t run = 0; run < 4; run++)
		only = plan.items[run] == num_items ? run : only;
	return only;
}

/* First level: a thread's share of X or of Y. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_four_way_inputs(typename Tile::Item (&merged)[items], const Tile &tile, const mgpu_four_way_plan &plan,
						   uint32_t thread)
{
	bool		is_y = thread >= plan.x_threads;

	mgpu_merge_guarded_lists(merged, tile, is_y ? plan.slots[2] : plan.slots[0], is_y ? plan.items[2] : plan.items[0],
							 is_y ? plan.slots[3] : plan.slots[1], is_y ? plan.items[3] : plan.items[1],
							 (is_y ? thread - plan.x_threads : thread) * items);
}

/* Put a thread's share of X or Y, and the guards behind both, where the second level reads them. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_four_way_lists(const typename Tile::Item (&merged)[items], const Tile &tile, const mgpu_four_way_plan &plan,
						uint32_t thread)
{
	uint32_t	x_end = plan.x_threads * items;
	uint32_t	y_end = x_end + items + plan.y_threads * items;

	if (thread < plan.x_threads + plan.y_threads)
		mgpu_put_forwards(merged, tile, thread * items + (thread < plan.x_threads ? 0 : items));
	mgpu_put_guard<items>(tile, x_end, thread);
	mgpu_put_guard<items>(tile, y_end, thread);
}

/* Second level: a thread's share of the tile.  Past the end it is padding. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_four_way_lists(typename Tile::Item (&merged)[items], const Tile &tile, const mgpu_four_way_plan &plan,
						  uint32_t thread)
{
	mgpu_merge_guarded_lists(merged, tile, 0, plan.items[0] + plan.items[1], (plan.x_threads + 1) * items,
							 plan.items[2] + plan.items[3], thread * items);
}

/* A tile's splits: read, or found by two warps. */
template <class Tuning, class Keys>
static __device__ __forceinline__ void
mgpu_get_four_way_splits(Keys keys, const mgpu_merge_pass &pass, const mgpu_four_way_group &group,
						 const mgpu_four_way_split *splits, mgpu_four_way_split &begin, mgpu_four_way_split &end)
{
	if constexpr (Tuning::search_in_tile)
	{
		__shared__ mgpu_four_way_split found[2];
		uint32_t	warp = threadIdx.x / 32;
		uint32_t	lane = threadIdx.x % 32;

		if (warp < 2)
		{
			uint32_t	run = lane / MGPU_FOUR_WAY_LANES;
			uint32_t	split = warp == 1 && mgpu_ends_four_way_group(pass, group) ?
				mgpu_split_item(mgpu_four_way_end(group), run) :
				mgpu_find_four_way_split(keys, pass, blockIdx.x + warp, lane);

			if (lane % MGPU_FOUR_WAY_LANES == 0)
				found[warp].items[run] = split;
		}
		__syncthreads();			/* both splits are found */
		begin = found[0];
		end = found[1];
	}
	else
	{
		begin = splits[blockIdx.x];
		end = mgpu_find_end_split(pass, group, splits, blockIdx.x);
	}
}

template <class Tuning, class Array, class Sink>
__global__ void
__launch_bounds__(Tuning::merge_threads, Tuning::resident_threads / Tuning::merge_threads)
mgpu_merge_four_way(Array array, mgpu_merge_pass pass, const mgpu_four_way_split *splits, Sink sink)
{
	typedef typename Array::Item Item;
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, mgpu_four_way_slots<Array>(threads, items));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = blockIdx.x * (uint64_t) pass.tile_items;
	mgpu_four_way_group group = mgpu_find_four_way_group(pass, blockIdx.x);
	mgpu_four_way_split begin_split;
	mgpu_four_way_split end_split;
	mgpu_four_way_plan plan;
	uint32_t	only;
	Item		merged[items];

	mgpu_await_previous();
	mgpu_get_four_way_splits<Tuning>(array.search_keys(), pass, group, splits, begin_split, end_split);
	plan = mgpu_plan_four_way<items>(array, group, begin_split, end_split);
	only = mgpu_find_only_run(plan);
	if (only < 4)
		mgpu_load_only_run<threads>(array, group.begin + only * group.run_items + mgpu_split_item(begin_split, only), tile,
									sink.phase(begin), mgpu_count_four_way_items(plan), thread);
	else
	{
#pragma unroll
		for (int run = 0; run < 4; run++)
		{
			array.template load_interval<threads>(tile, plan.slots[run], plan.begins[run], plan.items[run], thread);
			mgpu_put_guard<items>(tile, plan.slots[run] + plan.items[run], thread);
		}
		mgpu_wait_copies();
		__syncthreads();			/* inputs and guards are in place */
		mgpu_merge_four_way_inputs(merged, tile, plan, thread);
		__syncthreads();			/* inputs are read */
		mgpu_put_four_way_lists(merged, tile, plan, thread);
		__syncthreads();			/* X and Y are whole */
		mgpu_merge_four_way_lists(merged, tile, plan, thread);
		__syncthreads();			/* X and Y are read */
		mgpu_put_forwards(merged, tile, sink.phase(begin) + thread * items);
		__syncthreads();			/* the merged tile is whole */
	}
	sink.template store_tile<threads>(begin, tile, mgpu_count_four_way_items(plan), thread);
}

#endif							/* MGPU_SORT_FOUR_WAY_KERNELS_CUH */
