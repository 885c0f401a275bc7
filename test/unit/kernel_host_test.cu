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
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "merge_sort.cuh"

static int	passed = 0;
static int	failed = 0;
static std::mt19937_64 random_bits(20250117);

#define CHECK(condition, ...) \
	do { \
		if (condition) \
			passed++; \
		else \
		{ \
			failed++; \
			printf("FAILED %s:%d: ", __FILE__, __LINE__); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

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

/* A CTA's shared memory: aligned to 16, poisoned, with canaries around it. */
template <typename Item>
struct shared_memory
{
	static constexpr size_t canary_items = 64;
	size_t		num_items;
	std::vector<Item> memory;
	Item	   *items;

	explicit shared_memory(size_t num_items)
		: num_items(num_items), memory(num_items + 3 * canary_items, (Item) 0x5A5A5A5A5A5A5A5A)
	{
		uintptr_t	address = reinterpret_cast<uintptr_t>(memory.data() + canary_items);

		items = reinterpret_cast<Item *>((address + 15) & ~(uintptr_t) 15);
	}

	bool
	intact() const
	{
		for (const Item *item = memory.data(); item < memory.data() + memory.size(); item++)
		{
			if ((item < items || item >= items + num_items) && *item != (Item) 0x5A5A5A5A5A5A5A5A)
				return false;
		}
		return true;
	}
};

/* ------------------------------------------------------------ thread sort */

template <int items, typename Key>
static void
test_thread_sort()
{
	for (int round = 0; round < 2000; round++)
	{
		Key			keys[items];
		Key			stable_keys[items];
		uint32_t	values[items];
		std::vector<std::pair<Key, uint32_t>> expected(items);
		bool		good = true;

		for (int i = 0; i < items; i++)
		{
			/* 0-1 inputs in half of the rounds: the zero-one principle */
			keys[i] = stable_keys[i] = round % 2 ? (Key) (random_bits() % 2) : (Key) random_bits();
			values[i] = i;
			expected[i] = {keys[i], i};
		}
		mgpu_thread_sort(keys);
		mgpu_thread_sort_stable(stable_keys, values);
		std::stable_sort(expected.begin(), expected.end(),
						 [] (const auto &a, const auto &b) { return a.first < b.first; });
		for (int i = 0; i < items; i++)
			good = good && keys[i] == expected[i].first && stable_keys[i] == expected[i].first &&
				values[i] == expected[i].second;
		if (!good)
		{
			CHECK(good, "thread sort of %d keys of %zu bytes, round %d", items, sizeof(Key), round);
			return;
		}
	}
	CHECK(true, "thread sort");
}

/* ------------------------------------------------------------- block sort */

template <int items, typename Key>
using thread_keys = Key[items];

/* mgpu_cta_sort, then the store to shared memory; keys is padded to a tile. */
template <int threads, int items, typename Key>
static bool
emulate_cta_sort(Key *keys)
{
	shared_memory<Key> tile(threads * items);
	auto		registers = std::make_unique<thread_keys<items, Key>[]>(threads);

	for (int thread = 0; thread < threads; thread++)
	{
		for (int i = 0; i < items; i++)
			registers[thread][i] = keys[thread + i * threads];
		mgpu_thread_sort(registers[thread]);
	}
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		for (int thread = 0; thread < threads; thread++)
			mgpu_store_facing(registers[thread], tile.items, thread, run_threads);
		for (int thread = 0; thread < threads; thread++)
			mgpu_merge_facing(registers[thread], tile.items, thread, run_threads);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_store_items(registers[thread], tile.items, thread);
	std::copy(tile.items, tile.items + threads * items, keys);
	return tile.intact();
}

template <int threads, int items, typename Key>
static bool
emulate_cta_sort_pairs(Key *keys, uint32_t *values)
{
	shared_memory<Key> tile(threads * items);
	shared_memory<uint32_t> tile_values(threads * items);
	auto		registers = std::make_unique<thread_keys<items, Key>[]>(threads);
	auto		register_values = std::make_unique<thread_keys<items, uint32_t>[]>(threads);

	for (int thread = 0; thread < threads; thread++)
	{
		for (int i = 0; i < items; i++)
		{
			registers[thread][i] = keys[thread * items + i];
			register_values[thread][i] = values[thread * items + i];
		}
		mgpu_thread_sort_stable(registers[thread], register_values[thread]);
	}
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		for (int thread = 0; thread < threads; thread++)
		{
			mgpu_store_items(registers[thread], tile.items, thread);
			mgpu_store_items(register_values[thread], tile_values.items, thread);
		}
		for (int thread = 0; thread < threads; thread++)
			mgpu_merge_pairs(registers[thread], register_values[thread], tile.items, tile_values.items, thread,
							 run_threads);
	}
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_store_items(registers[thread], tile.items, thread);
		mgpu_store_items(register_values[thread], tile_values.items, thread);
	}
	std::copy(tile.items, tile.items + threads * items, keys);
	std::copy(tile_values.items, tile_values.items + threads * items, values);
	return tile.intact() && tile_values.intact();
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

/* mgpu_load_interval's geometry: every item once, whole vectors on boundaries. */
template <typename Item>
static bool
emulate_load(Item *shared, const Item *global, uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	mgpu_interval_parts parts = mgpu_split_interval(global, num_items);
	bool		good = mgpu_phase(shared) == mgpu_phase(global) && parts.tail_items < vector_items &&
		parts.head_items < vector_items;

	for (uint32_t i = 0; i < parts.head_items; i++)
		shared[i] = global[i];
	for (uint32_t i = 0; i < parts.tail_items; i++)
		shared[num_items - 1 - i] = global[num_items - 1 - i];
	for (uint32_t vector = 0; vector < parts.num_vectors; vector++)
	{
		uint32_t	item = parts.head_items + vector * vector_items;

		good = good && mgpu_phase(shared + item) == 0 && mgpu_phase(global + item) == 0;
		memcpy(shared + item, global + item, MGPU_VECTOR_BYTES);
	}
	return good && parts.head_items + parts.num_vectors * vector_items + parts.tail_items == num_items;
}

/* mgpu_merge_tiles */
template <int threads, int items, typename Key>
static bool
emulate_merge_tile(const Key *keys, const mgpu_merge_pass &pass, const uint32_t *splits, uint64_t tile_number,
				   Key *out)
{
	shared_memory<Key> tile(mgpu_inputs_capacity<Key>(threads * items, items));
	auto		registers = std::make_unique<thread_keys<items, Key>[]>(threads);
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, tile_number);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	mgpu_tile_slots slots = mgpu_place_inputs(a_keys, inputs.a_items, b_keys, items);
	uint32_t	count = inputs.a_items + inputs.b_items;
	bool		good = count <= (uint32_t) threads * items;

	if (!good)
		return false;
	good = emulate_load(tile.items + slots.a, a_keys, inputs.a_items) &&
		emulate_load(tile.items + slots.b, b_keys, inputs.b_items);
	for (int thread = 0; thread < items; thread++)
	{
		tile.items[slots.a + inputs.a_items + thread] = mgpu_largest_key<Key>();
		tile.items[slots.b + inputs.b_items + thread] = mgpu_largest_key<Key>();
	}
	for (int thread = 0; thread < threads; thread++)
	{
		uint32_t	diagonal = std::min<uint32_t>(thread * items, count);
		uint32_t	a = mgpu_merge_path(tile.items + slots.a, inputs.a_items, tile.items + slots.b,
										inputs.b_items, diagonal);

		mgpu_serial_merge<1, items>(reinterpret_cast<const char *>(tile.items),
									(slots.a + a) * (uint32_t) sizeof(Key),
									(slots.b + diagonal - a) * (uint32_t) sizeof(Key), registers[thread]);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_store_items(registers[thread], tile.items, thread);
	std::copy(tile.items, tile.items + count, out + tile_number * (threads * items));
	return good && tile.intact();
}

/* mgpu_merge_tiles_indexed */
template <int threads, int items, typename Key>
static bool
emulate_merge_tile_indexed(const Key *keys, const uint32_t *indices, const mgpu_merge_pass &pass,
						   const uint32_t *splits, uint64_t tile_number, Key *out, uint32_t *out_indices)
{
	shared_memory<Key> tile(mgpu_inputs_capacity<Key>(threads * items, 0));
	shared_memory<uint32_t> tile_indices(mgpu_inputs_capacity<uint32_t>(threads * items, 0));
	auto		registers = std::make_unique<thread_keys<items, Key>[]>(threads);
	auto		register_indices = std::make_unique<thread_keys<items, uint32_t>[]>(threads);
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, tile_number);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	const uint32_t *a_indices = indices + inputs.a_begin;
	const uint32_t *b_indices = indices + inputs.b_begin;
	mgpu_tile_slots slots = mgpu_place_inputs(a_keys, inputs.a_items, b_keys, 0);
	mgpu_tile_slots index_slots = mgpu_place_inputs(a_indices, inputs.a_items, b_indices, 0);
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint64_t	begin = tile_number * (threads * items);
	bool		good = count <= (uint32_t) threads * items;

	if (!good)
		return false;
	good = emulate_load(tile.items + slots.a, a_keys, inputs.a_items) &&
		emulate_load(tile.items + slots.b, b_keys, inputs.b_items) &&
		emulate_load(tile_indices.items + index_slots.a, a_indices, inputs.a_items) &&
		emulate_load(tile_indices.items + index_slots.b, b_indices, inputs.b_items);
	for (int thread = 0; thread < threads; thread++)
	{
		uint32_t	diagonal = std::min<uint32_t>(thread * items, count);
		mgpu_merge_range range;

		range.a_begin = slots.a + mgpu_merge_path(tile.items + slots.a, inputs.a_items, tile.items + slots.b,
												  inputs.b_items, diagonal);
		range.a_end = slots.a + inputs.a_items;
		range.b_begin = slots.b + diagonal - (range.a_begin - slots.a);
		range.b_end = slots.b + inputs.b_items;
		mgpu_serial_merge_bounded(tile.items, tile_indices.items + ((int32_t) index_slots.a - (int32_t) slots.a),
								  tile_indices.items + ((int32_t) index_slots.b - (int32_t) slots.b), range,
								  registers[thread], register_indices[thread]);
	}
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_store_items(registers[thread], tile.items, thread);
		mgpu_store_items(register_indices[thread], tile_indices.items, thread);
	}
	std::copy(tile.items, tile.items + count, out + begin);
	std::copy(tile_indices.items, tile_indices.items + count, out_indices + begin);
	return good && tile.intact() && tile_indices.intact();
}

/* -------------------------------------------------------------- whole sorts */

template <class Tuning>
static std::vector<uint64_t>
interesting_sizes()
{
	uint64_t	tile = Tuning::sort_tile_items;
	std::vector<uint64_t> sizes = {1, 2, 3, 31, 32, 33, Tuning::merge_tile_items - 1, Tuning::merge_tile_items,
		Tuning::merge_tile_items + 1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1,
		3 * tile + 5, 4 * tile, 4 * tile + 1, 5 * tile - 1, 7 * tile + 3, 8 * tile + 1};

	for (int i = 0; i < 5; i++)
		sizes.push_back(1 + random_bits() % (9 * tile));
	return sizes;
}

template <class Tuning, typename Key>
static void
test_sort(int pattern, uint64_t num_items)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr uint64_t tile_items = Tuning::sort_tile_items;
	std::vector<Key> expected = make_keys<Key>(pattern, num_items);
	std::vector<Key> keys = expected;
	std::vector<Key> merged(num_items);
	int			num_passes;
	int			max_steps = 0;
	mgpu_merge_pass pass = mgpu_first_pass<Tuning>(num_items, &num_passes);
	bool		good = true;

	for (uint64_t begin = 0; begin < num_items; begin += tile_items)
	{
		uint64_t	count = std::min(tile_items, num_items - begin);
		std::vector<Key> tile(tile_items, mgpu_largest_key<Key>());

		std::copy(keys.begin() + begin, keys.begin() + begin + count, tile.begin());
		good = emulate_cta_sort<Tuning::sort_threads, items>(tile.data()) && good;
		std::copy(tile.begin(), tile.begin() + count, keys.begin() + begin);
	}
	for (; num_passes > 0; num_passes--, pass.run_tiles *= 2)
	{
		std::vector<uint32_t> splits = emulate_partition(keys.data(), pass, &max_steps);

		std::fill(merged.begin(), merged.end(), (Key) 0xBABABABABABABABA);
		for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
			good = emulate_merge_tile<Tuning::merge_threads, items>(keys.data(), pass, splits.data(), tile,
																	merged.data()) && good;
		keys.swap(merged);
	}
	std::sort(expected.begin(), expected.end());
	CHECK(good && max_steps <= 8 && keys == expected, "sort of %llu keys of %zu bytes, pattern %d, tiles of %d threads"
		  " (memory and geometry %s, %d search steps)", (unsigned long long) num_items, sizeof(Key), pattern,
		  Tuning::sort_threads, good ? "good" : "bad", max_steps);
}

template <class Tuning, typename Key>
static void
test_sort_indexed(int pattern, uint64_t num_items)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr uint64_t tile_items = Tuning::sort_tile_items;
	std::vector<Key> keys = make_keys<Key>(pattern, num_items);
	std::vector<Key> original = keys;
	std::vector<Key> merged(num_items);
	std::vector<uint32_t> indices(num_items);
	std::vector<uint32_t> merged_indices(num_items);
	std::vector<uint32_t> expected(num_items);
	int			num_passes;
	int			max_steps = 0;
	mgpu_merge_pass pass = mgpu_first_pass<Tuning>(num_items, &num_passes);
	bool		good = true;

	for (uint64_t i = 0; i < num_items; i++)
		expected[i] = (uint32_t) i;
	std::stable_sort(expected.begin(), expected.end(),
					 [&] (uint32_t a, uint32_t b) { return original[a] < original[b]; });
	for (uint64_t begin = 0; begin < num_items; begin += tile_items)
	{
		uint64_t	count = std::min(tile_items, num_items - begin);
		std::vector<Key> tile(tile_items, mgpu_largest_key<Key>());
		std::vector<uint32_t> tile_indices(tile_items);

		std::copy(keys.begin() + begin, keys.begin() + begin + count, tile.begin());
		for (uint64_t i = 0; i < tile_items; i++)
			tile_indices[i] = (uint32_t) (begin + i);
		good = emulate_cta_sort_pairs<Tuning::sort_threads, items>(tile.data(), tile_indices.data()) && good;
		std::copy(tile.begin(), tile.begin() + count, keys.begin() + begin);
		std::copy(tile_indices.begin(), tile_indices.begin() + count, indices.begin() + begin);
	}
	for (; num_passes > 0; num_passes--, pass.run_tiles *= 2)
	{
		std::vector<uint32_t> splits = emulate_partition(keys.data(), pass, &max_steps);

		for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
			good = emulate_merge_tile_indexed<Tuning::merge_threads, items>(keys.data(), indices.data(), pass,
																			splits.data(), tile, merged.data(),
																			merged_indices.data()) && good;
		keys.swap(merged);
		indices.swap(merged_indices);
	}
	for (uint64_t i = 0; i < num_items && good; i++)
		good = keys[i] == original[expected[i]];
	CHECK(good && max_steps <= 8 && indices == expected, "sort of %llu keys of %zu bytes with indices, pattern %d",
		  (unsigned long long) num_items, sizeof(Key), pattern);
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

template <class Tuning, typename Key>
static void
test_sorts()
{
	for (uint64_t size : interesting_sizes<Tuning>())
	{
		for (int pattern = 0; pattern < NUM_PATTERNS; pattern++)
			test_sort<Tuning, Key>(pattern, size);
	}
}

template <class Tuning, typename Key>
static void
test_sorts_indexed()
{
	for (uint64_t size : interesting_sizes<Tuning>())
	{
		for (int pattern = 0; pattern < NUM_PATTERNS; pattern++)
			test_sort_indexed<Tuning, Key>(pattern, size);
	}
}

int
main()
{
	test_thread_sort<1, uint32_t>();
	test_thread_sort<2, uint32_t>();
	test_thread_sort<7, uint32_t>();
	test_thread_sort<11, uint64_t>();
	test_thread_sort<15, uint64_t>();
	test_thread_sort<23, uint32_t>();
	test_thread_sort<31, uint32_t>();
	test_partition_steps();
	test_sorts<mgpu_tuning_u32_large, uint32_t>();
	test_sorts<mgpu_tuning_u32_small, uint32_t>();
	test_sorts<mgpu_tuning_u64_large, uint64_t>();
	test_sorts<mgpu_merge_tuning<32, 32, 3>, uint32_t>();
	test_sorts<mgpu_merge_tuning<128, 32, 5>, uint64_t>();
	test_sorts_indexed<mgpu_tuning_u64_index, uint64_t>();
	test_sorts_indexed<mgpu_merge_tuning<64, 32, 3>, uint64_t>();
	printf("%d passed, %d failed\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
