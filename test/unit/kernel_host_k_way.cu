/*
 * kernel_host_k_way.cu
 *		K-way passes on the host: plans, searches for cuts in runs of any kind,
 *		tables of levels, and whole sorts of runs.
 */
#include "kernel_host_cuts.cuh"
#include "kernel_host_test.cuh"
#include "kernel_host_tiles.cuh"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "sort/merge_sort.cuh"

static std::mt19937_64 random_bits(20261122);

#define MOST_ROUNDS 14			/* of any search here, and loads one after the other */
#define MOST_STEPS 60

static int	all_rounds;
static int	all_steps;
static copied_tiles copied;

/* ------------------------------------------------------------------ search */

enum run_kind
{
	ALIKE, SKEWED, FEW_KEYS, ONE_KEY, APART, APART_DOWN, OVERLAPPING, CLUSTERS, ONE_LONG, STAIRS, LARGEST, NUM_RUN_KINDS
};

/* A key of a run, before the run is sorted. */
template <typename Key>
static Key
run_key(int kind, int run)
{
	Key			key = (Key) random_bits();

	switch (kind)
	{
		case SKEWED:
			return key >> random_bits() % (sizeof(Key) * 8);
		case FEW_KEYS:
			return key % 5;
		case ONE_KEY:
			return 42;
		case APART:
			return (Key) run * 1000000 + key % 1000000;
		case APART_DOWN:
			return (Key) (100 - run) * 1000000 + key % 1000000;
		case OVERLAPPING:
			return (Key) run * 1000000 + key % 1500000;
		case CLUSTERS:
			return (key % 200 << (sizeof(Key) * 8 - 8)) + (key >> 20) % 16;
		case STAIRS:
			return key % 1000 * 65536 + (Key) run;
		case LARGEST:
			return random_bits() % 4 ? mgpu_largest_key<Key>() : key;
		default:
			return key;
	}
}

/* Runs of a group, of any lengths on odd turns, in memory; not sorted: keys as they come. */
template <typename Key>
static k_way_runs<const Key *>
make_runs(std::vector<std::vector<Key>> &memory, int kind, uint32_t most_items, int turn, bool sorted)
{
	k_way_runs<const Key *> runs;

	for (size_t run = 0; run < memory.size(); run++)
	{
		bool		is_long = kind != ONE_LONG || run == memory.size() / 3;

		memory[run].resize(turn % 2 == 0 && is_long ? most_items :
						   is_long ? random_bits() % (most_items + 1) : random_bits() % 3);
		for (Key &key : memory[run])
			key = run_key<Key>(kind, (int) run);
		if (sorted)
			std::sort(memory[run].begin(), memory[run].end());
		runs.keys.push_back(memory[run].data());
		runs.items.push_back((uint32_t) memory[run].size());
	}
	return runs;
}

template <class Keys>
static uint32_t
count_items(const k_way_runs<Keys> &runs)
{
	return std::accumulate(runs.items.begin(), runs.items.end(), 0u);
}

/* Any goal in runs of two items or more. */
template <class Keys>
static mgpu_k_way_goal
make_goal(const k_way_runs<Keys> &runs, uint32_t slack)
{
	uint32_t	diagonal = 1 + (uint32_t) (random_bits() % (count_items(runs) - 1));

	return {diagonal - std::min(diagonal, slack), diagonal};
}

/* Cuts of groups of any runs: empty ones, one that has all, ties in all or in none. */
template <typename Key>
static void
test_k_way_search(uint32_t levels, uint32_t most_items, uint32_t slack, int groups)
{
	for (int kind = 0; kind < NUM_RUN_KINDS; kind++)
	{
		int			most_rounds = 0;
		int			most_steps = 0;
		bool		good = true;

		for (int group = 0; group < groups && good; group++)
		{
			std::vector<std::vector<Key>> memory((size_t) 1 << levels);
			k_way_runs<const Key *> runs = make_runs(memory, kind, most_items, group, true);

			for (int cut = 0; cut < 20 && count_items(runs) > 1 && good; cut++)
			{
				mgpu_k_way_goal goal = make_goal(runs, slack);
				search_costs costs;

				good = is_k_way_split(runs, goal, play_search(runs, goal, &costs));
				most_rounds = std::max(most_rounds, costs.rounds);
				most_steps = std::max(most_steps, costs.steps);
			}
		}
		CHECK(good && most_rounds <= MOST_ROUNDS && most_steps <= MOST_STEPS,
			  "cuts of %d runs of up to %u keys of %zu bytes, slack %u, kind %d: %d rounds, %d steps", 1 << levels, most_items,
			  sizeof(Key), slack, kind, most_rounds, most_steps);
		all_rounds = std::max(all_rounds, most_rounds);
		all_steps = std::max(all_steps, most_steps);
		if (most_items >= 10000)
			printf("cuts of %d runs of up to %u keys, kind %d: at most %d rounds, %d steps\n", 1 << levels, most_items, kind,
				   most_rounds, most_steps);
	}
}

/* Runs that are out of order, by a fault before: a search reads nothing outside its runs, and its rounds are counted. */
template <typename Key>
static void
test_disorder(uint32_t levels, uint32_t most_items, int groups)
{
	bool		good = true;

	for (int group = 0; group < groups && good; group++)
	{
		std::vector<std::vector<Key>> memory((size_t) 1 << levels);
		k_way_runs<const Key *> runs = make_runs(memory, group / 2 % NUM_RUN_KINDS, most_items, group, false);
		k_way_split	split;
		search_costs costs;
		bool		found;

		if (count_items(runs) > 1)
			good = play_rounds(runs, make_goal(runs, group % 3 == 0 ? 1 : MGPU_K_WAY_SLACK), &split, &found, &costs);
	}
	CHECK(good, "cuts of %d runs out of order, of up to %u keys of %zu bytes", 1 << levels, most_items, sizeof(Key));
}

/* ------------------------------------------------------------------- tiles */

/* mgpu_plan_k_way_level for all levels */
template <int items>
static mgpu_k_way_table
play_table(const std::vector<uint32_t> &run_items, const std::vector<uint32_t> &run_slots)
{
	mgpu_k_way_table table = {};
	uint32_t	runs = (uint32_t) run_items.size();
	std::vector<uint32_t> list_items = run_items;
	std::vector<uint32_t> slots = run_slots;

	for (uint32_t level = 0; runs >> level > 1; level++)
	{
		uint32_t	begin = mgpu_k_way_level_begin(runs, level);
		uint32_t	first = 0;

		for (uint32_t pair = 0; pair < runs >> (level + 1); pair++)
		{
			uint32_t	pair_items = list_items[2 * pair] + list_items[2 * pair + 1];

			table.firsts[begin + pair] = first;
			table.pairs[begin + pair] = {(uint16_t) slots[2 * pair], (uint16_t) slots[2 * pair + 1],
				(uint16_t) list_items[2 * pair], (uint16_t) list_items[2 * pair + 1]};
			slots[pair] = mgpu_k_way_list_slot<items>(first, pair);
			list_items[pair] = pair_items;
			first += mgpu_k_way_list_threads<items>(pair_items);
		}
	}
	return table;
}

/* mgpu_merge_k_way, from splits that are in order */
template <class Tuning, class Array>
static bool
play_merge(const Array &array, const mgpu_k_way_pass &pass, const std::vector<k_way_split> &splits, uint32_t tile_number,
		   const Array &out)
{
	typedef typename Array::Item Item;
	constexpr int threads = Tuning::threads;
	constexpr int items = Tuning::items_per_thread;
	shared_tile<Item> shared(mgpu_k_way_slots<Array>(threads, items, Tuning::ways));
	auto		registers = std::make_unique<thread_items<items, Item>[]>(threads);
	mgpu_k_way_group group = mgpu_find_k_way_group(pass, tile_number);
	uint32_t	runs = 1u << pass.levels;
	std::vector<uint32_t> run_items;
	std::vector<uint32_t> run_slots;
	std::vector<uint64_t> run_begins;
	uint64_t	begin = group.begin;
	uint32_t	count = 0;
	uint32_t	slot = 0;
	bool		good = true;
	mgpu_k_way_table table;

	for (uint32_t run = 0; run < runs && good; run++)
	{
		uint32_t	first = group.place == 0 ? 0 : splits[tile_number][run];
		uint32_t	end = group.is_last ? mgpu_k_way_run_items(pass, group, run) : splits[tile_number + 1][run];
		uint64_t	run_begin = group.begin + run * pass.run_items + first;
		uint32_t	phase = array.phase(run_begin);

		good = first <= end;
		begin += first;
		count += end - first;
		run_items.push_back(end - first);
		run_slots.push_back(slot + phase);
		run_begins.push_back(run_begin);
		slot += (phase + end - first + items + Array::vector_items - 1) / Array::vector_items * Array::vector_items;
		if (!good || count > mgpu_k_way_capacity(threads, items, pass.levels))
			return false;
	}
	for (uint32_t run = 0; run < runs; run++)
		if (run_items[run] == count)
			return good && emulate_only_run(array, run_begins[run], shared, out, begin, count, &copied);
	for (uint32_t run = 0; run < runs; run++)
	{
		good = emulate_load(array, shared.tile, run_slots[run], run_begins[run], run_items[run]) && good;
		for (int guard = 0; guard < items; guard++)
			shared.tile.put(run_slots[run] + run_items[run] + guard, mgpu_largest_key<Item>());
	}
	table = play_table<items>(run_items, run_slots);
	for (uint32_t level = 0; level < pass.levels; level++)
	{
		std::vector<mgpu_k_way_share> shares(threads);
		uint32_t	outputs = 0;

		for (int thread = 0; thread < threads; thread++)
		{
			const mgpu_k_way_share share = shares[thread] = mgpu_find_k_way_share<items>(table, runs, level, thread);

			if (!share.any)
				continue;
			mgpu_merge_guarded_lists(registers[thread], shared.tile, share.lists.a_slot, share.lists.a_items,
									 share.lists.b_slot, share.lists.b_items, share.diagonal);
			outputs += std::min<uint32_t>(items, share.lists.a_items + share.lists.b_items - share.diagonal);
		}
		good = good && outputs == count;
		if (level + 1 == pass.levels)
			break;
		for (int thread = 0; thread < threads; thread++)
		{
			mgpu_put_k_way_guards<items>(shared.tile, table, runs, level + 1, thread, threads);
			if (shares[thread].any)
				mgpu_put_forwards(registers[thread], shared.tile, mgpu_k_way_list_slot<items>(thread, shares[thread].pair));
		}
	}
	return emulate_store<threads, items>(registers.get(), shared.tile, out, begin, count) && good && shared.intact();
}

/* ------------------------------------------------------------- whole sorts */

enum sort_kind
{
	RANDOM, SORTED, REVERSED, EQUAL, FEW, MANY_LARGEST, RUNS_ALIKE, NUM_SORT_KINDS
};

template <typename Key>
static Key
sort_key(int kind, uint64_t item, uint64_t num_items, uint64_t run_items)
{
	switch (kind)
	{
		case SORTED:
			return (Key) item;
		case REVERSED:
			return (Key) (num_items - item);
		case EQUAL:
			return 42;
		case FEW:
			return (Key) (random_bits() % 5);
		case MANY_LARGEST:
			return random_bits() % 2 ? mgpu_largest_key<Key>() : (Key) random_bits();
		case RUNS_ALIKE:
			return (Key) (item % run_items);
		default:
			return (Key) random_bits();
	}
}

/* All tiles of a pass, whose splits are as they have to be, and fit in temporary memory. */
template <class Tuning, bool packed, typename Item>
static bool
play_pass(host_array<Item> &items_in, const mgpu_merge_plan &plan, host_array<Item> &merged)
{
	auto		in = array_of<packed>(items_in);
	auto		out = array_of<packed>(merged);
	const mgpu_k_way_pass &pass = plan.pass;
	uint32_t	runs = 1u << pass.levels;
	std::vector<k_way_split> splits(pass.num_tiles);
	bool		good = (uint64_t) pass.num_tiles * runs * sizeof(uint32_t) <= mgpu_k_way_temp_bytes<Tuning>(pass.num_items);

	for (uint32_t tile = 0; tile < pass.num_tiles && good; tile++)
	{
		mgpu_k_way_group group = mgpu_find_k_way_group(pass, tile);
		mgpu_k_way_goal goal = mgpu_find_k_way_goal(pass, group);
		k_way_runs<decltype(in.search_keys())> group_runs;
		search_costs costs;

		if (group.place == 0)
			continue;
		for (uint32_t run = 0; run < runs; run++)
		{
			group_runs.keys.push_back(in.search_keys() + (group.begin + run * pass.run_items));
			group_runs.items.push_back(mgpu_k_way_run_items(pass, group, run));
		}
		splits[tile] = play_search(group_runs, goal, &costs);
		good = goal.most < group.num_items && is_k_way_split(group_runs, goal, splits[tile]) &&
			costs.rounds <= MOST_ROUNDS && costs.steps <= MOST_STEPS;
	}
	for (uint32_t tile = 0; tile < pass.num_tiles && good; tile++)
		good = play_merge<Tuning>(in, pass, splits, tile, out);
	return good;
}

template <class Tuning, typename Item, bool packed>
static void
test_k_way_sort(int kind, uint64_t num_items)
{
	typedef typename std::conditional<sizeof(Item) == 4 || packed, uint32_t, uint64_t>::type Key;
	constexpr uint64_t run_items = Tuning::tile_items;
	std::vector<Item> expected(num_items);
	std::vector<Item> sorted;
	host_array<Item> values(num_items);
	host_array<Item> merged(num_items);
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
	bool		good = true;

	for (uint64_t i = 0; i < num_items; i++)
	{
		Key			key = sort_key<Key>(kind, i, num_items, run_items);

		set_item(packed ? mgpu_packing_source::make((uint32_t) key, i) : key, (uint32_t) i, &expected[i]);
	}
	sorted = expected;
	for (uint64_t begin = 0; begin < num_items; begin += run_items)
		std::sort(sorted.begin() + begin, sorted.begin() + std::min(begin + run_items, num_items));
	for (uint64_t i = 0; i < num_items; i++)
		values.set(i, sorted[i]);
	for (; plan.num_passes > 0 && good; mgpu_advance_plan(&plan))
	{
		for (uint64_t i = 0; i < num_items; i++)
			merged.set(i, mgpu_largest_key<Item>());
		good = play_pass<Tuning, packed>(values, plan, merged);
		std::swap(values, merged);
	}
	std::sort(expected.begin(), expected.end());
	for (uint64_t i = 0; i < num_items && good; i++)
		good = is_same(values.get(i), expected[i]);
	CHECK(good && plan.levels == 0, "merges of %llu items of %zu bytes, kind %d, up to %d ways",
		  (unsigned long long) num_items, sizeof(Item), kind, Tuning::ways);
}

/* Around runs, tiles and groups, and several passes. */
template <class Tuning, typename Item, bool packed = false>
static void
test_k_way_sorts(std::vector<uint64_t> runs)
{
	for (uint64_t num_runs : runs)
		for (int over : {-1, 0, 1, 1000})
			for (int kind = 0; kind < NUM_SORT_KINDS; kind++)
				test_k_way_sort<Tuning, Item, packed>(kind, num_runs * Tuning::tile_items + over);
}

/* Plans of any count hold together: no levels are left, tiles fit, and the last one has items. */
template <class Tuning>
static void
test_k_way_plans()
{
	for (int round = 0; round < 2000; round++)
	{
		uint64_t	num_items = 1 + random_bits() % (MGPU_MAX_ITEMS >> random_bits() % 30);
		mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
		bool		good = true;

		for (; plan.num_passes > 0; mgpu_advance_plan(&plan))
		{
			const mgpu_k_way_pass &pass = plan.pass;
			mgpu_k_way_group last = mgpu_find_k_way_group(pass, pass.num_tiles - 1);

			good = good && pass.levels > 0 && 1 << pass.levels <= Tuning::ways && last.is_last &&
				pass.tile_items + MGPU_K_WAY_SLACK <= mgpu_k_way_capacity(plan.threads, plan.items, pass.levels) &&
				(uint64_t) last.place * pass.tile_items < last.num_items &&
				last.num_items - (uint64_t) last.place * pass.tile_items <= pass.tile_items &&
				(uint64_t) (pass.group_tiles - 1) * pass.tile_items < pass.run_items << pass.levels &&
				((uint64_t) pass.num_tiles << pass.levels) * sizeof(uint32_t) <= mgpu_k_way_temp_bytes<Tuning>(num_items);
		}
		CHECK(good && plan.levels == 0 && plan.pass.run_items >= num_items, "k-way passes of %llu items, up to %d ways",
			  (unsigned long long) num_items, Tuning::ways);
	}
}

void
test_k_way_sorts_on_host()
{
	for (uint32_t slack : {0, 3, MGPU_K_WAY_SLACK})
	{
		test_k_way_search<uint32_t>(1, 40, slack, 20);
		test_k_way_search<uint32_t>(3, 5, slack, 40);
		test_k_way_search<uint64_t>(4, 3000, slack, 4);
		test_k_way_search<uint32_t>(5, 500, slack, 10);
	}
	test_k_way_search<uint32_t>(5, 12495, MGPU_K_WAY_SLACK, 2);
	test_k_way_search<uint64_t>(4, 100000, MGPU_K_WAY_SLACK, 2);
	test_disorder<uint32_t>(1, 4, 3000);
	test_disorder<uint32_t>(5, 1000, 100);
	test_disorder<uint64_t>(4, 1000, 100);
	test_k_way_plans<mgpu_tuning_u32>();
	test_k_way_plans<mgpu_tuning_u32_small>();
	test_k_way_plans<mgpu_tuning_u64>();
	test_k_way_plans<mgpu_tuning_u64_small>();
	test_k_way_plans<mgpu_tuning_u64_index>();
	test_k_way_plans<mgpu_tuning_u64_index_small>();
	test_k_way_sorts<mgpu_tuning_u32, uint32_t>({2, 5, 32, 33});
	test_k_way_sorts<mgpu_tuning_u32_small, uint32_t>({2, 16, 17});
	test_k_way_sorts<mgpu_tuning_u64, uint64_t>({1, 3, 16, 17});
	test_k_way_sorts<mgpu_tuning_u64, uint64_t, true>({2, 5, 33});
	test_k_way_sorts<mgpu_tuning_u64_small, uint64_t>({2, 33});
	test_k_way_sorts<mgpu_tuning_u64_small, uint64_t, true>({3, 17});
	test_k_way_sorts<mgpu_tuning_u64_index, mgpu_indexed_key>({2, 7, 16, 40});
	test_k_way_sorts<mgpu_tuning_u64_index_small, mgpu_indexed_key>({3, 17, 70});
	test_k_way_sorts<mgpu_merge_tuning<64, 7, 2, 64>, uint32_t>({2, 3, 9});
	test_k_way_sorts<mgpu_merge_tuning<128, 5, 4, 128>, uint64_t, true>({3, 17, 65});
	CHECK(copied.in_phase > 0 && copied.out_of_phase > 0, "tiles of merges all of one run: %llu in phase, %llu not",
		  (unsigned long long) copied.in_phase, (unsigned long long) copied.out_of_phase);
	printf("searches for cuts: at most %d rounds, %d steps\n", all_rounds, all_steps);
}
