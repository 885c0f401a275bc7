/*
 * sort/k_way_partition.cuh
 *		Finds where each tile of a k-way pass begins in its runs.
 *
 * A warp searches the splits of one tile or more, one lane a run (k_way_search.cuh).
 */
#ifndef MGPU_SORT_K_WAY_PARTITION_CUH
#define MGPU_SORT_K_WAY_PARTITION_CUH

#include "device/launch.cuh"
#include "sort/k_way_search.cuh"

#define MGPU_K_WAY_ROUNDS 200	/* more than any search takes: two rounds that name middles leave three quarters */

/* The sum over the lanes of a group, which are a power of two. */
static __device__ __forceinline__ uint32_t
mgpu_sum_lanes(uint32_t value, uint32_t lanes)
{
	for (uint32_t distance = 1; distance < lanes; distance *= 2)
		value += __shfl_xor_sync(MGPU_WHOLE_WARP, value, distance);
	return value;
}

/* The sum of what the lanes of a group before this one have. */
static __device__ __forceinline__ uint32_t
mgpu_sum_before(uint32_t value, uint32_t group_lane)
{
	uint32_t	sum = value;

#pragma unroll
	for (uint32_t distance = 1; distance < 32; distance *= 2)
	{
		uint32_t	other = __shfl_up_sync(MGPU_WHOLE_WARP, sum, distance);

		sum += group_lane >= distance ? other : 0;
	}
	return sum - value;
}

/* Items of the windows whose named items come before this one, by key, then run. */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_items_before(Key key, uint32_t items, uint32_t run, uint32_t runs)
{
	uint32_t	before = 0;

	for (uint32_t other = 1; other < runs; other++)
	{
		Key			other_key = __shfl_xor_sync(MGPU_WHOLE_WARP, key, other);
		uint32_t	other_items = __shfl_xor_sync(MGPU_WHOLE_WARP, items, other);

		if (mgpu_probe_before(other_key, key, (run ^ other) < run))
			before += other_items;
	}
	return before;
}

/* The lowest key of a group's lanes, or the highest. */
template <bool highest, typename Key>
static __device__ __forceinline__ Key
mgpu_end_of_lanes(Key key, uint32_t lanes)
{
	for (uint32_t distance = 1; distance < lanes; distance *= 2)
	{
		Key			other = __shfl_xor_sync(MGPU_WHOLE_WARP, key, distance);

		key = (other < key) != highest ? other : key;
	}
	return key;
}

/* The key at a group's cut if keys rose evenly between the known ones.  Not all windows are empty. */
template <typename Key>
static __device__ __forceinline__ Key
mgpu_model_pivot(const mgpu_k_way_window &window, const mgpu_k_way_keys<Key> &keys, const mgpu_k_way_goal &goal, bool any,
				 uint32_t runs)
{
	Key			low = mgpu_end_of_lanes<false>(any ? keys.first : mgpu_largest_key<Key>(), runs);
	Key			high = mgpu_end_of_lanes<true>(any ? keys.last : 0, runs);
	bool		done = high <= low || high - low <= 1;

	for (int step = 0; step < MGPU_K_WAY_HALVINGS && !__all_sync(MGPU_WHOLE_WARP, done); step++)
	{
		Key			middle = low + (high - low) / 2;
		uint32_t	sum = mgpu_sum_lanes(any ? mgpu_expect_before(window, keys, middle) : window.low, runs);

		if (!done)
			done = mgpu_halve_pivots(low, high, middle, goal, sum);
	}
	return high;
}

/*
 * The pivot of a round: the median of the items named, or the model's if the median is in less than
 * half of the windows.
 */
template <typename Key>
static __device__ __forceinline__ Key
mgpu_choose_pivot(const mgpu_k_way_window &window, const mgpu_k_way_keys<Key> &keys, const mgpu_k_way_goal &goal, int round,
				  bool any, uint32_t lane, uint32_t runs)
{
	uint32_t	run = lane % runs;
	uint32_t	group_lanes = (runs == 32 ? MGPU_WHOLE_WARP : (1u << runs) - 1) << (lane - run);
	uint32_t	items = any ? window.high - window.low : 0;
	bool		is_median = mgpu_is_median(window, items, mgpu_items_before(keys.key, items, run, runs));
	uint32_t	median = __ballot_sync(MGPU_WHOLE_WARP, is_median) & group_lanes;
	Key			pivot = __shfl_sync(MGPU_WHOLE_WARP, keys.key, median != 0 ? __ffs((int) median) - 1 : (int) lane);
	bool		has_pivot = any && !(pivot < keys.first) && !(keys.last < pivot);
	int			windows = __popc(__ballot_sync(MGPU_WHOLE_WARP, any) & group_lanes);
	int			with_pivot = __popc(__ballot_sync(MGPU_WHOLE_WARP, has_pivot) & group_lanes);
	bool		apart = round < MGPU_K_WAY_GUESSES && 2 * with_pivot < windows;

	if (__any_sync(MGPU_WHOLE_WARP, apart))
	{
		Key			by_model = mgpu_model_pivot(window, keys, goal, any, runs);

		pivot = apart ? by_model : pivot;
	}
	return pivot;
}

/*
 * One round of all groups of a warp: has this lane's group found its cut? Then split is the lane's
 * part of it.  Groups that are done take part with nothing.
 */
template <class Run>
static __device__ __forceinline__ bool
mgpu_do_k_way_round(const Run &run, mgpu_k_way_window &window, const mgpu_k_way_goal &goal, int round,
					bool found, uint32_t lane, uint32_t runs, uint32_t &split)
{
	typedef typename Run::Key Key;
	bool		any = !found && window.low < window.high;
	mgpu_k_way_keys<Key> keys = {};
	mgpu_k_way_place place = {window.low, false};
	mgpu_k_way_sums sums;
	Key			pivot;

	if (any)
		keys = mgpu_load_k_way_keys(run, window, mgpu_name_item(window, goal, round));
	pivot = mgpu_choose_pivot(window, keys, goal, round, any, lane, runs);
	if (any)
		place = mgpu_find_k_way_place(run, window, keys, pivot);
	__syncwarp();
	sums.before = place.before;
	sums.sum = mgpu_sum_lanes(sums.before, runs);
	sums.equals = 0;
	if (place.is_equal && sums.sum < goal.least)
		sums.equals = mgpu_find_k_way_equals(run, window, keys, pivot, sums.before) - sums.before;
	__syncwarp();
	sums.earlier_equals = mgpu_sum_before(sums.equals, lane % runs);
	sums.equals_sum = __shfl_sync(MGPU_WHOLE_WARP, sums.earlier_equals + sums.equals, runs - 1, (int) runs);
	return found || mgpu_end_k_way_round(window, goal, sums, split);
}

/* Find the split that every tile begins with, one lane a run, 32 / runs tiles a warp. */
template <class Keys>
__global__ void
__launch_bounds__(MGPU_PARTITION_THREADS)
mgpu_partition_k_way(Keys keys, mgpu_k_way_pass pass, uint32_t *splits)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	runs = 1u << pass.levels;
	uint32_t	run = lane % runs;
	uint64_t	number = ((uint64_t) blockIdx.x * MGPU_PARTITION_THREADS + threadIdx.x) / runs;
	uint32_t	tile = number < pass.num_tiles ? (uint32_t) number : 0;	/* the first tile, if there is no such tile */
	mgpu_k_way_group group = mgpu_find_k_way_group(pass, tile);
	mgpu_k_way_goal goal = mgpu_find_k_way_goal(pass, group);
	mgpu_k_way_window window = {0, mgpu_k_way_run_items(pass, group, run), 0, group.num_items};
	mgpu_k_way_run<Keys> run_keys = {keys + (group.begin + run * pass.run_items)};
	bool		found = group.place == 0;
	uint32_t	split = 0;

	mgpu_await_previous();
	for (int round = 0; !__all_sync(MGPU_WHOLE_WARP, found); round++)
	{
		if (round == MGPU_K_WAY_ROUNDS)
			__trap();				/* runs out of order: a trap is better than a hang */
		found = mgpu_do_k_way_round(run_keys, window, goal, round, found, lane, runs, split);
	}
	if (group.place > 0)
		splits[(uint64_t) tile * runs + run] = split;
}

#endif							/* MGPU_SORT_K_WAY_PARTITION_CUH */
