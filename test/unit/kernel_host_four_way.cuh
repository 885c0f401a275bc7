/*
 * kernel_host_four_way.cuh
 *		4-way merge passes played on the host: the search of a warp, step by step, with
 *		what each of its lanes knows, and the merge of a tile.
 */
#ifndef MGPU_KERNEL_HOST_FOUR_WAY_CUH
#define MGPU_KERNEL_HOST_FOUR_WAY_CUH

#include <algorithm>
#include <memory>
#include <vector>

#include "kernel_host_tiles.cuh"
#include "sort/four_way_kernels.cuh"

static uint64_t upward_groups;	/* of two runs or more that follow each other */
static uint64_t downward_groups;
static copied_tiles copied;

/* A step of mgpu_find_four_way_split; false: nothing is decided, or a probe is not in its window. */
template <class Keys>
static bool
emulate_four_way_step(Keys keys, const mgpu_four_way_group &group, const uint32_t (&positions)[32],
					  mgpu_four_way_window (&windows)[4])
{
	mgpu_key_of<Keys> probes[32] = {};
	uint32_t	in = 0;
	uint32_t	out = 0;
	uint32_t	low_sum = 0;
	uint32_t	high_sum = 0;

	for (uint32_t lane = 0; lane < 32; lane++)
	{
		const mgpu_four_way_window &window = windows[lane / MGPU_FOUR_WAY_LANES];

		if (lane % MGPU_FOUR_WAY_LANES < MGPU_FOUR_WAY_PROBES && window.low < window.high)
		{
			if (positions[lane] < window.low || positions[lane] >= window.high)
				return false;
			probes[lane] = keys[group.begin + lane / MGPU_FOUR_WAY_LANES * group.run_items + positions[lane]];
		}
	}
	for (uint32_t lane = 0; lane < 32; lane++)
	{
		const mgpu_four_way_window &window = windows[lane / MGPU_FOUR_WAY_LANES];
		uint32_t	run_lane = lane & ~(MGPU_FOUR_WAY_LANES - 1);
		uint64_t	least = positions[lane];
		uint64_t	most = positions[lane];

		for (uint32_t other = 1; other < 4; other++)
		{
			uint32_t	lanes = run_lane ^ other * MGPU_FOUR_WAY_LANES;
			uint32_t	count = 0;

			for (uint32_t step = MGPU_FOUR_WAY_LANES / 2; step > 0; step /= 2)
			{
				if (mgpu_probe_before(probes[lanes + count + step - 1], probes[lane], lanes < run_lane))
					count += step;
			}
			least += mgpu_least_before(windows[lanes / MGPU_FOUR_WAY_LANES].low, count,
									   positions[lanes + (count > 0 ? count - 1 : 0)], positions[lanes + count]);
			most += positions[lanes + count];
		}
		if (lane % MGPU_FOUR_WAY_LANES < MGPU_FOUR_WAY_PROBES && window.low < window.high)
		{
			in |= (uint32_t) (most < group.diagonal) << lane;
			out |= (uint32_t) (least >= group.diagonal) << lane;
		}
	}
	for (uint32_t run = 0; run < 4; run++)
	{
		const uint32_t *run_positions = positions + run * MGPU_FOUR_WAY_LANES;
		uint32_t	run_in = in >> run * MGPU_FOUR_WAY_LANES & ((1u << MGPU_FOUR_WAY_LANES) - 1);
		uint32_t	run_out = out >> run * MGPU_FOUR_WAY_LANES & ((1u << MGPU_FOUR_WAY_LANES) - 1);

		if (run_in != 0)
			windows[run].low = run_positions[mgpu_highest_bit(run_in)] + 1;
		if (run_out != 0)
			windows[run].high = run_positions[mgpu_lowest_bit(run_out)];
		low_sum += windows[run].low;
		high_sum += windows[run].high;
	}
	for (mgpu_four_way_window &window : windows)
		mgpu_bound_four_way_window(window, group.diagonal, low_sum, high_sum);
	return (in | out) != 0;
}

/* Do runs with items, two or more, follow each other upwards or downwards? */
template <class Keys>
static bool
are_ordered(Keys keys, const mgpu_four_way_group &group, bool downward)
{
	int			runs = 0;
	bool		good = true;
	mgpu_key_of<Keys> end = 0;

	for (int i = 0; i < 4; i++)
	{
		int			run = downward ? 3 - i : i;
		Keys		run_keys = keys + (group.begin + run * group.run_items);

		if (group.items[run] == 0)
			continue;
		good = good && (runs == 0 || end < run_keys[0] || (!downward && end == run_keys[0]));
		end = run_keys[group.items[run] - 1];
		runs++;
	}
	return good && runs > 1;
}

/*
 * Count groups of four whose runs follow each other.  Where their windows are empty or have all
 * probes of a first step, is that the last?
 */
template <class Keys>
static bool
check_ordered_four_way(Keys keys, const mgpu_four_way_group &group, int steps)
{
	bool		upward = are_ordered(keys, group, false);
	bool		downward = !upward && are_ordered(keys, group, true);
	bool		few = false;

	for (int run = 0; run < 4; run++)
	{
		mgpu_four_way_window window = mgpu_start_four_way_window(group, group.items[run]);

		few = few || (window.low < window.high && window.high - window.low < MGPU_FOUR_WAY_FEW);
	}
	upward_groups += upward && !few;
	downward_groups += downward && !few;
	return few || !(upward || downward) || steps <= 1;
}

/* mgpu_find_four_way_split */
template <class Keys>
static mgpu_four_way_split
emulate_four_way_search(Keys keys, const mgpu_four_way_group &group, int *steps)
{
	mgpu_four_way_window windows[4];
	uint32_t	positions[32];
	mgpu_four_way_split split = {};

	for (int run = 0; run < 4; run++)
		windows[run] = mgpu_start_four_way_window(group, group.items[run]);
	for (uint32_t lane = 0; lane < 32; lane++)
		positions[lane] = mgpu_first_four_way_probe(group, group.items[lane / MGPU_FOUR_WAY_LANES],
													windows[lane / MGPU_FOUR_WAY_LANES],
													lane % MGPU_FOUR_WAY_LANES);
	for (*steps = 0; *steps < 1000; ++*steps)
	{
		bool		is_open = false;

		for (int run = 0; run < 4; run++)
		{
			is_open = is_open || windows[run].low != windows[run].high;
			split.items[run] = windows[run].low;
		}
		if (!is_open)
			return check_ordered_four_way(keys, group, *steps) ? split : mgpu_four_way_split();
		if (!emulate_four_way_step(keys, group, positions, windows))
			return {};
		for (uint32_t lane = 0; lane < 32; lane++)
			positions[lane] = mgpu_four_way_probe(windows[lane / MGPU_FOUR_WAY_LANES], lane % MGPU_FOUR_WAY_LANES);
	}
	return split;
}

/* Is a split what sorting by (key, run, position) gives? */
template <class Keys>
static bool
is_four_way_split(Keys keys, const mgpu_four_way_group &group, const mgpu_four_way_split &split)
{
	uint64_t	sum = 0;

	for (int run = 0; run < 4; run++)
	{
		sum += split.items[run];
		if (split.items[run] > group.items[run])
			return false;
		for (int other = 0; other < 4 && split.items[run] > 0; other++)
		{
			mgpu_key_of<Keys> last_in = keys[group.begin + run * group.run_items + split.items[run] - 1];
			mgpu_key_of<Keys> first_out;

			if (split.items[other] == group.items[other])
				continue;
			first_out = keys[group.begin + other * group.run_items + split.items[other]];
			if (first_out < last_in || (first_out == last_in && other < run))
				return false;
		}
	}
	return sum == group.diagonal;
}

template <class Keys>
static bool
emulate_four_way_partition(Keys keys, const mgpu_merge_pass &pass, std::vector<mgpu_four_way_split> *splits, int *max_steps)
{
	bool		good = true;

	splits->resize(pass.num_tiles);
	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		mgpu_four_way_group group = mgpu_find_four_way_group(pass, tile);
		int			steps;

		(*splits)[tile] = emulate_four_way_search(keys, group, &steps);
		*max_steps = std::max(*max_steps, steps);
		good = is_four_way_split(keys, group, (*splits)[tile]) && good;
	}
	return good;
}

/* mgpu_merge_four_way */
template <int threads, int items, class Array>
static bool
emulate_merge_four_way(const Array &array, const mgpu_merge_pass &pass, const mgpu_four_way_split *splits,
					   uint64_t tile_number,
					   const Array &out)
{
	typedef typename Array::Item Item;
	shared_tile<Item> shared(mgpu_four_way_slots<Array>(threads, items));
	auto		registers = std::make_unique<thread_items<items, Item>[]>(threads);
	mgpu_four_way_group group = mgpu_find_four_way_group(pass, tile_number);
	mgpu_four_way_split begin_split = splits[tile_number];
	mgpu_four_way_split end_split = mgpu_find_end_split(pass, group, splits, tile_number);
	mgpu_four_way_plan plan = mgpu_plan_four_way<items>(array, group, begin_split, end_split);
	uint32_t	only = mgpu_find_only_run(plan);
	uint32_t	count = 0;
	bool		good = true;

	for (int run = 0; run < 4; run++)
	{
		if (end_split.items[run] < begin_split.items[run])
			return false;
		count += plan.items[run];
	}
	if (count > pass.tile_items || plan.x_threads + plan.y_threads > threads)
		return false;
	if (only < 4)
		return plan.items[only] == count &&
			emulate_only_run(array, group.begin + only * group.run_items + mgpu_split_item(begin_split, only), shared, out,
							 tile_number * pass.tile_items, count, &copied);
	for (int run = 0; run < 4; run++)
	{
		good = emulate_load(array, shared.tile, plan.slots[run], plan.begins[run], plan.items[run]) && good;
		for (int thread = 0; thread < threads; thread++)
			mgpu_put_guard<items>(shared.tile, plan.slots[run] + plan.items[run], thread);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_four_way_inputs(registers[thread], shared.tile, plan, thread);
	for (int thread = 0; thread < threads; thread++)
		mgpu_put_four_way_lists(registers[thread], shared.tile, plan, thread);
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_four_way_lists(registers[thread], shared.tile, plan, thread);
	good = emulate_store<threads, items>(registers.get(), shared.tile, out, tile_number * pass.tile_items, count) && good;
	return good && shared.intact();
}

#endif							/* MGPU_KERNEL_HOST_FOUR_WAY_CUH */
