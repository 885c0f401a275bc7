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
static int	most_steps = 0;
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

template <int items, typename Item>
using thread_items = Item[items];

/* mgpu_cta_sort, then the store to shared memory; keys is padded to a tile. */
template <int threads, int items, typename Key>
static bool
emulate_cta_sort(Key *keys)
{
	shared_memory<Key> tile(threads * items);
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);

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
			mgpu_merge_facing_runs(registers[thread], tile.items, thread, run_threads);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_store_forwards(registers[thread], tile.items, thread * items);
	std::copy(tile.items, tile.items + threads * items, keys);
	return tile.intact();
}

template <int threads, int items, typename Key>
static bool
emulate_cta_sort_pairs(Key *keys, uint32_t *values)
{
	shared_memory<Key> tile(threads * items);
	shared_memory<uint32_t> tile_values(threads * items);
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);
	auto		register_values = std::make_unique<thread_items<items, uint32_t>[]>(threads);

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
			mgpu_store_forwards(registers[thread], tile.items, thread * items);
			mgpu_store_forwards(register_values[thread], tile_values.items, thread * items);
		}
		for (int thread = 0; thread < threads; thread++)
			mgpu_merge_pairs(registers[thread], register_values[thread], tile.items, tile_values.items, thread,
							 run_threads);
	}
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_store_forwards(registers[thread], tile.items, thread * items);
		mgpu_store_forwards(register_values[thread], tile_values.items, thread * items);
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

/* Geometry of mgpu_load_interval and mgpu_store_interval: every item once, vectors on boundaries. */
template <typename Item>
static bool
emulate_copy(Item *shared, const Item *global, uint32_t num_items)
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

/* The last step of merge kernels: registers to shared memory in phase, then out. */
template <int threads, int items, typename Item>
static bool
emulate_store(const thread_items<items, Item> *registers, Item *shared, Item *global, uint32_t num_items)
{
	shared += mgpu_phase(global);
	for (int thread = 0; thread < threads; thread++)
		mgpu_store_forwards(registers[thread], shared, thread * items);
	return emulate_copy(global, shared, num_items);
}

/* mgpu_merge_tiles */
template <int threads, int items, typename Key>
static bool
emulate_merge_tile(const Key *keys, const mgpu_merge_pass &pass, const uint32_t *splits, uint64_t tile_number,
				   Key *out)
{
	shared_memory<Key> tile(mgpu_inputs_capacity<Key>(threads * items, 2, items));
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, tile_number);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	uint32_t	a_slot = mgpu_phase(a_keys);
	uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items + items, b_keys);
	uint32_t	count = inputs.a_items + inputs.b_items;
	bool		good = count <= pass.tile_items;

	if (!good)
		return false;
	good = emulate_copy(tile.items + a_slot, a_keys, inputs.a_items) &&
		emulate_copy(tile.items + b_slot, b_keys, inputs.b_items);
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_store_guard<items>(tile.items, a_slot + inputs.a_items, thread);
		mgpu_store_guard<items>(tile.items, b_slot + inputs.b_items, thread);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_guarded(registers[thread], tile.items, a_slot, inputs.a_items, b_slot, inputs.b_items,
						   thread * items);
	good = emulate_store<threads, items>(registers.get(), tile.items, out + tile_number * pass.tile_items, count) && good;
	return good && tile.intact();
}

/* mgpu_merge_tiles_indexed */
template <int threads, int items, typename Key>
static bool
emulate_merge_tile_indexed(const Key *keys, const uint32_t *indices, const mgpu_merge_pass &pass,
						   const uint32_t *splits, uint64_t tile_number, Key *out, uint32_t *out_indices)
{
	shared_memory<Key> tile(mgpu_inputs_capacity<Key>(threads * items, 2, 0));
	shared_memory<uint32_t> tile_indices(mgpu_inputs_capacity<uint32_t>(threads * items, 2, 0));
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);
	auto		register_indices = std::make_unique<thread_items<items, uint32_t>[]>(threads);
	mgpu_tile_inputs inputs = mgpu_find_tile_inputs(pass, splits, tile_number);
	const Key  *a_keys = keys + inputs.a_begin;
	const Key  *b_keys = keys + inputs.b_begin;
	const uint32_t *a_indices = indices + inputs.a_begin;
	const uint32_t *b_indices = indices + inputs.b_begin;
	uint32_t	a_slot = mgpu_phase(a_keys);
	uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items, b_keys);
	uint32_t	a_index_slot = mgpu_phase(a_indices);
	uint32_t	b_index_slot = mgpu_slot_in_phase(a_index_slot + inputs.a_items, b_indices);
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint64_t	begin = tile_number * pass.tile_items;
	bool		good = count <= pass.tile_items;

	if (!good)
		return false;
	good = emulate_copy(tile.items + a_slot, a_keys, inputs.a_items) &&
		emulate_copy(tile.items + b_slot, b_keys, inputs.b_items) &&
		emulate_copy(tile_indices.items + a_index_slot, a_indices, inputs.a_items) &&
		emulate_copy(tile_indices.items + b_index_slot, b_indices, inputs.b_items);
	for (int thread = 0; thread < threads; thread++)
	{
		mgpu_merge_range range = mgpu_find_merge_range(tile.items, a_slot, inputs.a_items, b_slot, inputs.b_items,
													   std::min<uint32_t>(thread * items, count));

		mgpu_serial_merge_bounded(tile.items, tile_indices.items + ((int32_t) a_index_slot - (int32_t) a_slot),
								  tile_indices.items + ((int32_t) b_index_slot - (int32_t) b_slot), range,
								  registers[thread], register_indices[thread]);
	}
	good = emulate_store<threads, items>(registers.get(), tile.items, out + begin, count) &&
		emulate_store<threads, items>(register_indices.get(), tile_indices.items, out_indices + begin, count) && good;
	return good && tile.intact() && tile_indices.intact();
}

/* ---------------------------------------------------------- 4-way merge pass */

/* mgpu_partition_quads for one tile */
template <typename Key>
static mgpu_quad_split
emulate_quad_search(const Key *keys, const mgpu_run_quad &quad, int *steps)
{
	mgpu_quad_search search = mgpu_start_quad_search(quad);

	for (*steps = 0; !mgpu_quad_search_done(quad, search) && *steps < 1000; ++*steps)
	{
		Key			probes[32] = {};
		uint32_t	positions[32] = {};
		bool		valid[32];
		uint32_t	in = 0;
		uint32_t	out = 0;

		for (uint32_t lane = 0; lane < 32; lane++)
		{
			uint32_t	low = mgpu_split_item(search.low, lane / 8);
			uint32_t	high = mgpu_split_item(search.high, lane / 8);

			valid[lane] = lane % 8 < MGPU_QUAD_PROBES && low < high;
			if (valid[lane])
			{
				positions[lane] = mgpu_quad_probe(low, high, lane % 8);
				probes[lane] = keys[quad.begin + lane / 8 * quad.run_items + positions[lane]];
			}
		}
		for (uint32_t lane = 0; lane < 32; lane++)
		{
			uint32_t	counts[4] = {};
			int			verdict = 0;

			for (uint32_t other = 0; other < 4; other++)
			{
				for (uint32_t step = 4; step > 0; step /= 2)
				{
					Key			probe = probes[other * 8 + counts[other] + step - 1];

					if (other < lane / 8 ? !(probes[lane] < probe) : probe < probes[lane])
						counts[other] += step;
				}
			}
			if (valid[lane])
				verdict = mgpu_judge_probe(quad, search, lane / 8, positions[lane], counts);
			in |= (uint32_t) (verdict > 0) << lane;
			out |= (uint32_t) (verdict < 0) << lane;
		}
		mgpu_narrow_quad_search(search, in, out);
	}
	return mgpu_end_quad_search(quad, search);
}

/* Is a split what sorting by (key, run, position) gives? */
template <typename Key>
static bool
is_quad_split(const Key *keys, const mgpu_run_quad &quad, const mgpu_quad_split &split)
{
	uint64_t	sum = 0;

	for (int run = 0; run < 4; run++)
	{
		sum += split.items[run];
		if (split.items[run] > quad.items[run])
			return false;
		for (int other = 0; other < 4 && split.items[run] > 0; other++)
		{
			Key			last_in = keys[quad.begin + run * quad.run_items + split.items[run] - 1];
			Key			first_out;

			if (split.items[other] == quad.items[other])
				continue;
			first_out = keys[quad.begin + other * quad.run_items + split.items[other]];
			if (first_out < last_in || (first_out == last_in && other < run))
				return false;
		}
	}
	return sum == quad.diagonal;
}

template <typename Key>
static bool
emulate_quad_partition(const Key *keys, const mgpu_merge_pass &pass, std::vector<mgpu_quad_split> *splits, int *max_steps)
{
	bool		good = true;

	splits->resize(pass.num_tiles);
	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		mgpu_run_quad quad = mgpu_find_run_quad(pass, tile);
		int			steps;

		(*splits)[tile] = emulate_quad_search(keys, quad, &steps);
		*max_steps = std::max(*max_steps, steps);
		good = is_quad_split(keys, quad, (*splits)[tile]) && good;
	}
	return good;
}

/* mgpu_merge_quads */
template <int threads, int items, typename Key>
static bool
emulate_merge_quad(const Key *keys, const mgpu_merge_pass &pass, const mgpu_quad_split *splits, uint64_t tile_number,
				   Key *out)
{
	shared_memory<Key> tile(mgpu_quad_capacity<Key>(threads, items));
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);
	mgpu_run_quad quad = mgpu_find_run_quad(pass, tile_number);
	mgpu_quad_split begin_split = splits[tile_number];
	mgpu_quad_split end_split = mgpu_find_end_split(pass, quad, splits, tile_number);
	const Key  *inputs[4];
	mgpu_quad_plan plan;
	uint32_t	count = 0;
	bool		good = true;

	for (int run = 0; run < 4; run++)
		inputs[run] = keys + quad.begin + run * quad.run_items + begin_split.items[run];
	plan = mgpu_plan_quad<items>(inputs, begin_split, end_split);
	for (int run = 0; run < 4; run++)
	{
		if (end_split.items[run] < begin_split.items[run])
			return false;
		count += plan.items[run];
	}
	if (count > pass.tile_items || plan.x_threads + plan.y_threads > threads)
		return false;
	for (int run = 0; run < 4; run++)
	{
		good = emulate_copy(tile.items + plan.slots[run], inputs[run], plan.items[run]) && good;
		for (int thread = 0; thread < threads; thread++)
			mgpu_store_guard<items>(tile.items, plan.slots[run] + plan.items[run], thread);
	}
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_quad_inputs(registers[thread], tile.items, plan, thread);
	for (int thread = 0; thread < threads; thread++)
		mgpu_store_quad_lists(registers[thread], tile.items, plan, thread);
	for (int thread = 0; thread < threads; thread++)
		mgpu_merge_quad_lists(registers[thread], tile.items, plan, thread);
	good = emulate_store<threads, items>(registers.get(), tile.items, out + tile_number * pass.tile_items, count) && good;
	return good && tile.intact();
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

/* One pass over all tiles; merged is poisoned first. */
template <class Tuning, typename Key>
static bool
emulate_pass(const std::vector<Key> &keys, const mgpu_merge_plan &plan, std::vector<Key> &merged)
{
	constexpr int threads = Tuning::merge_threads;
	constexpr int items = Tuning::items_per_thread;
	std::vector<mgpu_quad_split> quad_splits;
	std::vector<uint32_t> splits;
	int			max_steps = 0;
	bool		good = true;
	bool		is_quad = mgpu_next_levels(&plan) == 2;

	std::fill(merged.begin(), merged.end(), (Key) 0xBABABABABABABABA);
	if (is_quad)
		good = emulate_quad_partition(keys.data(), plan.pass, &quad_splits, &max_steps);
	else
		splits = emulate_partition(keys.data(), plan.pass, &max_steps);
	for (uint64_t tile = 0; tile < plan.pass.num_tiles; tile++)
		good = (is_quad ? emulate_merge_quad<threads, items>(keys.data(), plan.pass, quad_splits.data(), tile, merged.data()) :
				emulate_merge_tile<threads, items>(keys.data(), plan.pass, splits.data(), tile, merged.data())) && good;
	most_steps = std::max(most_steps, max_steps);
	return good && max_steps <= 40;
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
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
	bool		good = true;

	for (uint64_t begin = 0; begin < num_items; begin += tile_items)
	{
		uint64_t	count = std::min(tile_items, num_items - begin);
		std::vector<Key> tile(Tuning::sort_threads * items, mgpu_largest_key<Key>());

		std::copy(keys.begin() + begin, keys.begin() + begin + count, tile.begin());
		good = emulate_cta_sort<Tuning::sort_threads, items>(tile.data()) && good;
		std::copy(tile.begin(), tile.begin() + count, keys.begin() + begin);
	}
	for (; plan.num_passes > 0; mgpu_advance_plan(&plan))
	{
		good = emulate_pass<Tuning>(keys, plan, merged) && good;
		keys.swap(merged);
	}
	std::sort(expected.begin(), expected.end());
	CHECK(good && plan.levels == 0 && keys == expected, "sort of %llu keys of %zu bytes, pattern %d, %d ways, tiles of "
		  "%d threads (memory and geometry %s)", (unsigned long long) num_items, sizeof(Key), pattern, Tuning::ways,
		  Tuning::sort_threads, good ? "good" : "bad");
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
	int			max_steps = 0;
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
	bool		good = true;

	for (uint64_t i = 0; i < num_items; i++)
		expected[i] = (uint32_t) i;
	std::stable_sort(expected.begin(), expected.end(),
					 [&] (uint32_t a, uint32_t b) { return original[a] < original[b]; });
	for (uint64_t begin = 0; begin < num_items; begin += tile_items)
	{
		uint64_t	count = std::min(tile_items, num_items - begin);
		std::vector<Key> tile(Tuning::sort_threads * items, mgpu_largest_key<Key>());
		std::vector<uint32_t> tile_indices(Tuning::sort_threads * items);

		std::copy(keys.begin() + begin, keys.begin() + begin + count, tile.begin());
		for (uint64_t i = 0; i < tile_indices.size(); i++)
			tile_indices[i] = (uint32_t) (begin + i);
		good = emulate_cta_sort_pairs<Tuning::sort_threads, items>(tile.data(), tile_indices.data()) && good;
		std::copy(tile.begin(), tile.begin() + count, keys.begin() + begin);
		std::copy(tile_indices.begin(), tile_indices.begin() + count, indices.begin() + begin);
	}
	for (; plan.num_passes > 0; mgpu_advance_plan(&plan))
	{
		std::vector<uint32_t> splits = emulate_partition(keys.data(), plan.pass, &max_steps);

		for (uint64_t tile = 0; tile < plan.pass.num_tiles; tile++)
			good = emulate_merge_tile_indexed<Tuning::merge_threads, items>(keys.data(), indices.data(), plan.pass,
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

/* Searches in quads of any lengths, some empty, with many ties or none. */
template <typename Key>
static void
test_quad_search(uint32_t most_items, int rounds)
{
	int			worst_steps = 0;
	bool		good = true;

	for (int round = 0; round < rounds && good; round++)
	{
		mgpu_run_quad quad = {};
		std::vector<Key> keys;
		Key			distinct = round % 3 == 0 ? 3 : round % 3 == 1 ? 1000 : 0;
		int			steps;
		mgpu_quad_split split;

		quad.run_items = most_items;
		keys.resize(4 * quad.run_items);
		for (int run = 0; run < 4; run++)
		{
			auto		run_keys = keys.begin() + run * quad.run_items;

			quad.items[run] = (uint32_t) (random_bits() % 3 == 0 ? random_bits() % 3 : random_bits() % (most_items + 1));
			quad.num_items += quad.items[run];
			for (uint32_t i = 0; i < quad.items[run]; i++)
				run_keys[i] = (Key) (distinct != 0 ? random_bits() % distinct :
									 round % 4 == 0 ? random_bits() % 1000000 + run * 500000 : random_bits());
			std::sort(run_keys, run_keys + quad.items[run]);
		}
		quad.diagonal = (uint32_t) (random_bits() % (quad.num_items + 1));
		split = emulate_quad_search(keys.data(), quad, &steps);
		worst_steps = std::max(worst_steps, steps);
		good = is_quad_split(keys.data(), quad, split) && steps <= 40;
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
	test_quad_search<uint32_t>(5, 5000);
	test_quad_search<uint32_t>(40, 5000);
	test_quad_search<uint64_t>(3000, 500);
	test_quad_search<uint32_t>(1000000, 10);
	test_sorts<mgpu_tuning_u32_large, uint32_t>();
	test_sorts<mgpu_tuning_u32_small, uint32_t>();
	test_sorts<mgpu_tuning_u64_large, uint64_t>();
	test_sorts<mgpu_tuning_u64_small, uint64_t>();
	test_sorts<mgpu_merge_tuning<256, 256, 31, 2>, uint32_t>();
	test_sorts<mgpu_merge_tuning<32, 32, 3, 4>, uint32_t>();
	test_sorts<mgpu_merge_tuning<32, 32, 3, 2>, uint32_t>();
	test_sorts<mgpu_merge_tuning<128, 32, 5, 4>, uint64_t>();
	test_sorts_indexed<mgpu_tuning_u64_index, uint64_t>();
	test_sorts_indexed<mgpu_merge_tuning<64, 32, 3, 2>, uint64_t>();
	printf("searches for splits: at most %d steps\n", most_steps);
	printf("%d passed, %d failed\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
