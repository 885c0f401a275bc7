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
#include "kernel_host_test.cuh"
#include "kernel_host_tiles.cuh"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "sort/block_sort.cuh"

int			checks_passed = 0;
int			checks_failed = 0;
static std::mt19937_64 random_bits(20250117);

enum pattern
{
	RANDOM, SORTED, REVERSED, ALL_EQUAL, FEW, ALL_LARGEST, MANY_LARGEST, INTERLEAVED, NUM_PATTERNS
};

static uint64_t
pattern_key(int pattern, uint64_t item, uint64_t num_items)
{
	switch (pattern)
	{
		case SORTED:
			return item;
		case REVERSED:
			return (num_items - item);
		case ALL_EQUAL:
			return 42;
		case FEW:
			return (random_bits() % 5);
		case ALL_LARGEST:
			return UINT64_MAX;
		case MANY_LARGEST:
			return random_bits() % 2 ? UINT64_MAX : random_bits();
		case INTERLEAVED:
			return (item % 32 * 1000 + item / 32);
		default:
			return random_bits();
	}
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

/* A tile of the block sort, whole or in part. */
template <int threads, int items, typename Item>
static void
test_block_sort(int pattern, uint32_t num_items)
{
	std::vector<Item> expected(num_items);
	std::vector<Item> tile(threads * items, mgpu_largest_key<Item>());
	bool		good;

	for (uint32_t i = 0; i < num_items; i++)
		set_item(pattern_key(pattern, i, num_items), i, &expected[i]);
	std::copy(expected.begin(), expected.end(), tile.begin());
	good = emulate_cta_sort<threads, items>(tile.data());
	std::sort(expected.begin(), expected.end());
	for (uint32_t i = 0; i < num_items && good; i++)
		good = is_same(tile[i], expected[i]);
	CHECK(good, "block sort of %u items of %zu bytes, pattern %d, %d threads x %d", num_items, sizeof(Item), pattern,
		  threads, items);
}

template <class Tuning, typename Item>
static void
test_block_sorts()
{
	const uint32_t most = Tuning::tile_items;

	for (int pattern = 0; pattern < NUM_PATTERNS; pattern++)
	{
		for (uint32_t num_items : {1u, 2u, 31u, 33u, most / 2, most - 1, most})
			test_block_sort<Tuning::threads, Tuning::items_per_thread, Item>(pattern, num_items);
		for (int round = 0; round < 5; round++)
			test_block_sort<Tuning::threads, Tuning::items_per_thread, Item>(pattern, 1 + random_bits() % most);
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
	test_block_sorts<mgpu_tuning_u32, uint32_t>();
	test_block_sorts<mgpu_tuning_u32_small, uint32_t>();
	test_block_sorts<mgpu_tuning_u64, uint64_t>();
	test_block_sorts<mgpu_tuning_u64_small, uint64_t>();
	test_block_sorts<mgpu_tuning_u64_index, mgpu_indexed_key>();
	test_block_sorts<mgpu_tuning_u64_index_small, mgpu_indexed_key>();
	test_block_sorts<mgpu_merge_tuning<32, 3, 2, 32>, uint32_t>();
	test_block_sorts<mgpu_merge_tuning<128, 5, 2, 128>, uint64_t>();
	test_block_sorts<mgpu_merge_tuning<64, 3, 2, 64>, mgpu_indexed_key>();
	test_k_way_sorts_on_host();
	test_probe_on_host();
	printf("%d passed, %d failed\n", checks_passed, checks_failed);
	return checks_failed == 0 ? 0 : 1;
}
