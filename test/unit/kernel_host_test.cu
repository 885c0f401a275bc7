/*
 * kernel_host_test.cu
 *		The kernels' index arithmetic on the CPU, where there is no GPU.
 *
 * The steps between two barriers of a kernel are functions of (thread, state)
 * that run on the host as well.  This program plays a CTA: every step for all
 * threads in turn, then the next.  It repeats the loops that kernels make
 * around those steps, and checks all results against std::stable_sort.  Shared
 * memory is poisoned and guarded by canaries before and after.
 */
#include "kernel_host_four_way.cuh"
#include "kernel_host_test.cuh"
#include "kernel_host_tiles.cuh"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "sort/merge_sort.cuh"

int			checks_passed = 0;
int			checks_failed = 0;
static int	most_steps = 0;
static std::mt19937_64 random_bits(20250117);

enum pattern
{
	RANDOM, SORTED, REVERSED, ALL_EQUAL, FEW, ALL_LARGEST, MANY_LARGEST, INTERLEAVED, NUM_PATTERNS
};

template <typename Key>
static Key
pattern_key(int pattern, uint64_t item, uint64_t num_items)
{
	switch (pattern)
	{
		case SORTED:
			return (Key) item;
		case REVERSED:
			return (Key) (num_items - item);
		case ALL_EQUAL:
			return 42;
		case FEW:
			return (Key) (random_bits() % 5);
		case ALL_LARGEST:
			return mgpu_largest_key<Key>();
		case MANY_LARGEST:
			return random_bits() % 2 ? mgpu_largest_key<Key>() : (Key) random_bits();
		case INTERLEAVED:
			return (Key) (item % 32 * 1000 + item / 32);
		default:
			return (Key) random_bits();
	}
}

template <typename Key>
static std::vector<Key>
make_keys(int pattern, uint64_t num_items)
{
	std::vector<Key> keys(num_items);

	for (uint64_t i = 0; i < num_items; i++)
		keys[i] = pattern_key<Key>(pattern, i, num_items);
	return keys;
}

/* ------------------------------------------------------------ thread sort */

template <int items, typename Item>
static void
test_thread_sort()
{
	for (int round = 0; round < 2000; round++)
	{
		Item		values[items];
		std::vector<Item> expected(items);
		bool		good = true;

		for (int i = 0; i < items; i++)
		{
			/* 0-1 inputs in half of the rounds: the zero-one principle */
			set_item(round % 2 ? random_bits() % 2 : random_bits(), i, &values[i]);
			expected[i] = values[i];
		}
		mgpu_thread_sort(values);
		std::sort(expected.begin(), expected.end());
		for (int i = 0; i < items; i++)
			good = good && is_same(values[i], expected[i]);
		if (!good)
		{
			CHECK(good, "thread sort of %d items of %zu bytes, round %d", items, sizeof(Item), round);
			return;
		}
	}
	CHECK(true, "thread sort");
}

/* Keys, then indices, decide which of two indexed keys comes first. */
static void
test_indexed_order()
{
	static const uint64_t keys[] = {0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0x8000000000000000), UINT64_MAX - 1, UINT64_MAX};
	static const uint32_t indices[] = {0, 1, UINT32_MAX - 1, UINT32_MAX};

	for (uint64_t a_key : keys)
		for (uint64_t b_key : keys)
			for (uint32_t a_index : indices)
				for (uint32_t b_index : indices)
				{
					mgpu_indexed_key a = {a_key, a_index};
					mgpu_indexed_key b = {b_key, b_index};

					CHECK((a < b) == (std::make_pair(a_key, a_index) < std::make_pair(b_key, b_index)),
						  "(%llx, %x) before (%llx, %x)", (unsigned long long) a_key, a_index,
						  (unsigned long long) b_key, b_index);
				}
}

/* ------------------------------------------------------------- block sort */

/* mgpu_exchange_items where needed, and mgpu_cta_sort_runs; values are padded to a tile. */
template <int threads, int items, typename Item>
static bool
emulate_cta_sort(Item *values)
{
	shared_tile<Item> shared(mgpu_sort_slots(threads, items));
	auto		registers = std::make_unique<thread_items<items, Item>[]>(threads);
	bool		has_largest = false;

	for (int thread = 0; thread < threads; thread++)
	{
		for (int i = 0; i < items; i++)
			registers[thread][i] = values[mgpu_tile<Item>::is_indexed ? thread * items + i : thread + i * threads];
		mgpu_thread_sort(registers[thread]);
		has_largest = mgpu_ends_largest(registers[thread]) || has_largest;
	}
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		for (int thread = 0; thread < threads; thread++)
			mgpu_put_run(registers[thread], shared.tile, thread, run_threads);
		for (int thread = 0; thread < threads; thread++)
			mgpu_merge_runs(registers[thread], shared.tile, thread, run_threads, has_largest);
	}
	for (int thread = 0; thread < threads; thread++)
		std::copy(registers[thread], registers[thread] + items, values + thread * items);
	return shared.intact();
}

/* ------------------------------------------------------------- merge pass */

template <typename Key>
static std::vector<uint32_t>
emulate_partition(const Key *keys, const mgpu_merge_pass &pass, int *max_steps)
{
	std::vector<uint32_t> splits(pass.num_tiles);

	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		mgpu_run_pair pair = mgpu_find_run_pair(pass, tile);
		uint64_t	low;
		uint64_t	high;
		int			steps = 0;

		mgpu_split_range(pair, low, high);
		for (; low < high && steps < 100; steps++)
		{
			uint32_t	num_before = 0;

			for (uint32_t lane = 0; lane < 32; lane++)
				num_before += mgpu_split_test(keys, pair, mgpu_split_probe(low, high, lane));
			mgpu_split_narrow(low, high, num_before);
		}
		*max_steps = std::max(*max_steps, steps);
		splits[tile] = (uint32_t) low;
	}
	return splits;
}

/* mgpu_merge_tiles */
template <int threads, int items, class Array>
static bool
emulate_merge_tile(const Array &array, const mgpu_merge_pass &pass, const uint32_t *splits, uint64_t tile_number,
				   const Array &out)
{
	typedef typename Array::Item Item;
	shared_tile<Item> shared(mgpu_merge_slots<Array>(threads * items, 2, items));
	auto		registers = std::make_unique<thread_items<items, Item>[]>(threads);
	mgpu_run_pair pair = mgpu_find_run_pair(pass, tile_number);
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, pair, splits[tile_number],
													mgpu_find_end_split(pass, pair, splits, tile_number));
	uint32_t	a_slot = array.phase(inputs.a_begin);
	uint32_t	b_slot = mgpu_slot_in_array_phase(a_slot + inputs.a_items + items, array, inputs.b_begin);
	uint32_t	count = inputs.a_items + inputs.b_items;
	bool		good = count <= pass.tile_items;

	if (!good)
		return false;
	good = emulate_load(array, shared.tile, a_slot, inputs.a_begin, inputs.a_items) &&
		emulate_load(array, shared.tile, b_slot, inputs.b_begin, inputs.b_items);
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_put_guard<items>(shared.tile, a_slot + inputs.a_items, thread);
		mgpu_put_guard<items>(shared.tile, b_slot + inputs.b_items, thread);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_guarded_lists(registers[thread], shared.tile, a_slot, inputs.a_items, b_slot, inputs.b_items,
								 thread * items);
	good = emulate_store<threads, items>(registers.get(), shared.tile, out, tile_number * pass.tile_items, count) && good;
	return good && shared.intact();
}

/* -------------------------------------------------------------- whole sorts */

template <class Tuning>
static std::vector<uint64_t>
interesting_sizes()
{
	uint64_t	tile = Tuning::sort_tile_items;
	std::vector<uint64_t> sizes = {1, 2, 3, 31, 32, 33, Tuning::merge_tile_items - 1, Tuning::merge_tile_items,
		Tuning::merge_tile_items + 1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1,
		3 * tile + 5, 4 * tile, 4 * tile + 1, 5 * tile - 1, 7 * tile + 3, 8 * tile + 1, 15 * tile + 2, 16 * tile, 17 * tile};

	for (int i = 0; i < 5; i++)
		sizes.push_back(1 + random_bits() % (20 * tile));
	return sizes;
}

/* One pass over all tiles. */
template <class Tuning, bool packed, typename Item>
static bool
emulate_pass(host_array<Item> &items_in, const mgpu_merge_plan &plan, host_array<Item> &merged)
{
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	std::vector<mgpu_four_way_split> four_way_splits;
	std::vector<uint32_t> splits;
	int			max_steps = 0;
	bool		good = true;
	bool		is_four_way = mgpu_next_levels(&plan) == 2;
	auto		in = array_of<packed>(items_in);
	auto		out = array_of<packed>(merged);

	if (is_four_way)
		good = emulate_four_way_partition(in.search_keys(), plan.pass, &four_way_splits, &max_steps);
	else
		splits = emulate_partition(in.keys, plan.pass, &max_steps);
	for (uint64_t tile = 0; tile < plan.pass.num_tiles; tile++)
		good = (is_four_way ? emulate_merge_four_way<threads, items>(in, plan.pass, four_way_splits.data(), tile, out) :
				emulate_merge_tile<threads, items>(in, plan.pass, splits.data(), tile, out)) && good;
	most_steps = std::max(most_steps, max_steps);
	return good && max_steps <= 40;
}

template <class Tuning, typename Item, bool packed>
static void
test_sort(int pattern, uint64_t num_items)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr uint64_t tile_items = Tuning::sort_tile_items;
	typedef typename std::conditional<sizeof(Item) == 4 || packed, uint32_t, uint64_t>::type Key;
	std::vector<Key> keys = make_keys<Key>(pattern, num_items);
	std::vector<Item> expected(num_items);
	host_array<Item> values(num_items);
	host_array<Item> merged(num_items);
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
	bool		good = true;

	for (uint64_t i = 0; i < num_items; i++)
		set_item(packed ? mgpu_packing_source::make((uint32_t) keys[i], i) : keys[i], (uint32_t) i, &expected[i]);
	for (uint64_t begin = 0; begin < num_items; begin += tile_items)
	{
		uint64_t	count = std::min(tile_items, num_items - begin);
		std::vector<Item> tile(Tuning::sort_threads * items, mgpu_largest_key<Item>());

		std::copy(expected.begin() + begin, expected.begin() + begin + count, tile.begin());
		good = emulate_cta_sort<Tuning::sort_threads, items>(tile.data()) && good;
		for (uint64_t i = 0; i < count; i++)
			values.set(begin + i, tile[i]);
	}
	for (; plan.num_passes > 0; mgpu_advance_plan(&plan))
	{
		for (uint64_t i = 0; i < num_items; i++)
			merged.set(i, mgpu_largest_key<Item>());
		good = emulate_pass<Tuning, packed>(values, plan, merged) && good;
		std::swap(values, merged);
	}
	std::sort(expected.begin(), expected.end());
	for (uint64_t i = 0; i < num_items && good; i++)
		good = is_same(values.get(i), expected[i]);
	CHECK(good && plan.levels == 0, "sort of %llu items of %zu bytes, pattern %d, %d ways, tiles of %d threads",
		  (unsigned long long) num_items, sizeof(Item), pattern, Tuning::ways, Tuning::sort_threads);
}

/* Searches in four runs of any lengths, some empty, with many ties or none. */
template <typename Key>
static void
test_four_way_search(uint32_t most_items, int rounds)
{
	int			worst_steps = 0;
	bool		good = true;

	for (int round = 0; round < rounds && good; round++)
	{
		mgpu_four_way_group group = {};
		std::vector<Key> keys;
		Key			distinct = round % 3 == 0 ? 3 : round % 3 == 1 ? 1000 : 0;
		int			steps;
		mgpu_four_way_split split;

		group.run_items = most_items;
		keys.resize(4 * group.run_items);
		for (int run = 0; run < 4; run++)
		{
			auto		run_keys = keys.begin() + run * group.run_items;

			group.items[run] = (uint32_t) (random_bits() % 3 == 0 ? random_bits() % 3 : random_bits() % (most_items + 1));
			group.num_items += group.items[run];
			for (uint32_t i = 0; i < group.items[run]; i++)
			{
				run_keys[i] = (Key) (distinct != 0 ? random_bits() % distinct :
									 round % 4 == 0 ? random_bits() % 1000000 + run * 500000 : random_bits());
				if (round % 5 >= 3)		/* runs follow each other, or share a key with the next */
					run_keys[i] = (Key) (random_bits() % 1000 + (round % 5 == 3 ? run : 3 - run) * 999);
			}
			std::sort(run_keys, run_keys + group.items[run]);
		}
		group.diagonal = (uint32_t) (random_bits() % (group.num_items + 1));
		split = emulate_four_way_search(static_cast<const Key *>(keys.data()), group, &steps);
		worst_steps = std::max(worst_steps, steps);
		good = is_four_way_split(keys.data(), group, split) && steps <= 40;
	}
	CHECK(good, "4-way search of keys of %zu bytes in runs of up to %u, %d steps", sizeof(Key), most_items, worst_steps);
	printf("4-way searches in runs of up to %u items of %zu bytes: at most %d steps\n", most_items, sizeof(Key),
		   worst_steps);
}

/* Splits of runs too long to sort here: keys are given by a formula. */
static void
test_partition_steps()
{
	const uint64_t range_sizes[] = {1, 2, 32, 33, 34, 1000, UINT64_C(1) << 31};

	for (uint64_t size : range_sizes)
	{
		for (int round = 0; round < 200; round++)
		{
			uint64_t	answer = round == 0 ? 0 : round == 1 ? size : random_bits() % (size + 1);
			uint64_t	low = 0;
			uint64_t	high = size;
			int			steps = 0;

			for (; low < high && steps < 100; steps++)
			{
				uint32_t	num_before = 0;

				for (uint32_t lane = 0; lane < 32; lane++)
					num_before += mgpu_split_probe(low, high, lane) < answer;
				mgpu_split_narrow(low, high, num_before);
			}
			CHECK(low == answer && steps <= 8, "search of %llu places for %llu: %llu after %d steps",
				  (unsigned long long) size, (unsigned long long) answer, (unsigned long long) low, steps);
		}
	}
}

template <class Tuning, typename Item, bool packed = false>
static void
test_sorts()
{
	for (uint64_t size : interesting_sizes<Tuning>())
	{
		for (int pattern = 0; pattern < NUM_PATTERNS; pattern++)
			test_sort<Tuning, Item, packed>(pattern, size);
	}
}

int
main()
{
	test_thread_sort<1, uint32_t>();
	test_thread_sort<2, uint32_t>();
	test_thread_sort<7, uint32_t>();
	test_thread_sort<11, mgpu_indexed_key>();
	test_indexed_order();
	test_thread_sort<15, uint64_t>();
	test_thread_sort<23, uint32_t>();
	test_thread_sort<31, uint32_t>();
	test_partition_steps();
	test_four_way_search<uint32_t>(5, 5000);
	test_four_way_search<uint32_t>(40, 5000);
	test_four_way_search<uint64_t>(3000, 500);
	test_four_way_search<uint32_t>(1000000, 10);
	test_sorts<mgpu_tuning_u32_small, uint32_t>();
	test_sorts<mgpu_tuning_u64_small, uint64_t>();
	test_sorts<mgpu_tuning_u32_few, uint32_t>();
	test_sorts<mgpu_tuning_u64_some, uint64_t>();
	test_sorts<mgpu_tuning_u64_some, uint64_t, true>();
	test_sorts<mgpu_merge_tuning<32, 32, 3, 4>, uint64_t, true>();
	test_sorts<mgpu_tuning_u64_few, uint64_t>();
	test_sorts<mgpu_merge_tuning<256, 256, 31, 2>, uint32_t>();
	test_sorts<mgpu_merge_tuning<32, 32, 3, 4>, uint32_t>();
	test_sorts<mgpu_merge_tuning<32, 32, 3, 2>, uint32_t>();
	test_sorts<mgpu_merge_tuning<128, 32, 5, 4>, uint64_t>();
	test_sorts<mgpu_tuning_u64_index_few, mgpu_indexed_key>();
	test_sorts<mgpu_tuning_u64_index_small, mgpu_indexed_key>();
	test_sorts<mgpu_merge_tuning<64, 32, 3, 4>, mgpu_indexed_key>();
	CHECK(upward_groups > 0 && downward_groups > 0, "runs of a 4-way pass followed each other %llu times upwards, %llu downwards",
		  (unsigned long long) upward_groups, (unsigned long long) downward_groups);
	CHECK(copied.in_phase > 0 && copied.out_of_phase > 0, "tiles of 4-way merges all of one run: %llu in phase, %llu not",
		  (unsigned long long) copied.in_phase, (unsigned long long) copied.out_of_phase);
	printf("searches for splits: at most %d steps\n", most_steps);
	test_k_way_sorts_on_host();
	test_probe_on_host();
	printf("%d passed, %d failed\n", checks_passed, checks_failed);
	return checks_failed == 0 ? 0 : 1;
}
