/*
 * kernel_host_windows.cu
 *		Window passes, played on the host: splits, the proof, what each window reads
 *		before the proof is done, and merges of items with indices.
 */
#include "kernel_host_test.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "sort/window_kernels.cuh"

static std::mt19937_64 random_bits(20261122);

/* As the kernel's warps do. */
static std::vector<uint32_t>
find_window_splits(const std::vector<uint32_t> &keys, const mgpu_merge_pass &pass, bool *fails)
{
	std::vector<uint32_t> splits(pass.num_tiles);
	bool		fails_before = false;

	*fails = false;
	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		mgpu_run_window window = mgpu_find_run_window(pass, tile);
		uint64_t	low;
		uint64_t	high;
		int			steps = 0;

		*fails |= mgpu_window_fails(keys.data(), window, tile, pass);
		fails_before |= pass.run_tiles == 1 && mgpu_window_fails_before(keys.data(), pass, tile);
		mgpu_window_split_range(window, low, high);
		for (; low < high && steps < 100; steps++)
		{
			uint32_t	num_before = 0;

			for (uint32_t lane = 0; lane < 32; lane++)
				num_before += mgpu_window_split_test(keys.data(), window, mgpu_split_probe(low, high, lane));
			mgpu_split_narrow(low, high, num_before);
		}
		CHECK(steps < 100, "the search for a window's split goes on and on");
		splits[tile] = (uint32_t) low;
	}
	CHECK(pass.run_tiles > 1 || fails_before == *fails, "the proof of tiles before the one that checks differs");
	return splits;
}

/*
 * Where each tile is a run, windows are merged before the proof is done: is what each reads as much
 * as its places hold, and of the three runs, or left out?  It is left out only where the proof fails.
 */
static bool
reads_within_windows(const mgpu_merge_pass &pass, const std::vector<uint32_t> &splits, bool fails)
{
	bool		within = true;

	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		mgpu_run_window window = mgpu_find_run_window(pass, tile);
		uint32_t	next = splits[std::min(tile + 1, pass.num_tiles - 1)];
		mgpu_window_inputs inputs = mgpu_find_window_inputs(pass, window, tile, splits[tile], next);

		if (tile + 1 < pass.num_tiles && splits[tile] + next > window.run_items)
			within = within && fails;
		else
			within = within && (uint64_t) inputs.run_items + inputs.left_items + inputs.right_items == window.run_items &&
				inputs.run_begin >= window.run_begin && splits[tile] + inputs.run_items <= window.run_items &&
				inputs.left_items <= window.left_items && inputs.left_begin >= window.left_begin &&
				inputs.left_begin + inputs.left_items <= window.run_begin && inputs.right_items <= window.right_items &&
				(inputs.right_items == 0 || inputs.right_begin == window.run_begin + window.run_items);
	}
	return within;
}

/* Do what each tile takes make a permutation in order? */
static bool
merges_by_windows(const std::vector<uint32_t> &keys, const mgpu_merge_pass &pass, const std::vector<uint32_t> &splits)
{
	std::vector<uint32_t> taken(pass.num_items);
	std::vector<uint32_t> merged;
	bool		whole = true;

	for (uint64_t tile = 0; tile < pass.num_tiles; tile++)
	{
		uint64_t	tile_items = std::min<uint64_t>(pass.tile_items, pass.num_items - tile * pass.tile_items);
		mgpu_window_inputs inputs = mgpu_find_window_inputs(pass, mgpu_find_run_window(pass, tile), tile, splits[tile],
															splits[std::min(tile + 1, pass.num_tiles - 1)]);
		std::vector<uint32_t> others;
		std::vector<uint32_t> own;

		if ((uint64_t) inputs.run_items + inputs.left_items + inputs.right_items != tile_items)
			return false;
		for (uint32_t i = 0; i < inputs.run_items; i++)
			own.push_back((uint32_t) inputs.run_begin + i);
		for (uint32_t i = 0; i < inputs.left_items; i++)
			others.push_back((uint32_t) inputs.left_begin + i);
		for (uint32_t i = 0; i < inputs.right_items; i++)
			others.push_back((uint32_t) inputs.right_begin + i);
		for (std::vector<uint32_t> *list : {&own, &others})
			for (uint32_t &item : *list)
			{
				whole = whole && item < pass.num_items && taken[item]++ == 0;
				item = item < pass.num_items ? keys[item] : 0;
			}
		whole = whole && std::is_sorted(others.begin(), others.end());
		std::merge(own.begin(), own.end(), others.begin(), others.end(), std::back_inserter(merged));
	}
	return whole && std::is_sorted(merged.begin(), merged.end());
}

/*
 * Runs of so many tiles of keys within a distance of their places; divisor: how many places share a key.
 * in_blocks: runs whose keys are all alike, in any order, instead.
 */
static void
test_windows(uint64_t num_items, uint32_t tile_items, uint64_t run_tiles, uint64_t distance, uint32_t divisor,
			 bool in_blocks)
{
	mgpu_merge_pass pass = {num_items, (num_items + tile_items - 1) / tile_items, run_tiles, tile_items};
	uint64_t	run_items = tile_items * run_tiles;
	uint64_t	num_runs = (num_items + run_items - 1) / run_items;
	std::vector<uint32_t> keys(num_items);
	std::vector<uint32_t> splits;
	bool		wrong = false;
	bool		fails;

	for (uint64_t i = 0; i < num_items; i++)
		keys[i] = !in_blocks ? (uint32_t) ((i + random_bits() % (distance + 1)) / divisor) :
			i % run_items > 0 ? keys[i - 1] : (uint32_t) (random_bits() % 4 + i / run_items / 2);
	for (uint64_t run = 0; run < num_runs; run++)
		std::sort(keys.begin() + run * run_items, keys.begin() + std::min(num_items, (run + 1) * run_items));
	for (uint64_t run = 0; run + 2 < num_runs; run++)
		for (uint64_t behind = run + 2; behind < num_runs; behind++)
			wrong |= keys[behind * run_items] < keys[(run + 1) * run_items - 1];
	splits = find_window_splits(keys, pass, &fails);
	CHECK(fails == wrong && (!fails || in_blocks || distance > run_items), "%llu items within %llu, runs of %llu: %s",
		  (unsigned long long) num_items, (unsigned long long) distance, (unsigned long long) run_items,
		  fails ? "refused" : "not refused");
	CHECK(run_tiles > 1 || reads_within_windows(pass, splits, fails), "%llu items within %llu, runs of %u: a window reads elsewhere",
		  (unsigned long long) num_items, (unsigned long long) distance, tile_items);
	CHECK(fails || merges_by_windows(keys, pass, splits), "windows of %llu items within %llu, %u a key, runs of %llu tiles of %u",
		  (unsigned long long) num_items, (unsigned long long) distance, divisor, (unsigned long long) run_tiles, tile_items);
}

static void
test_all_windows()
{
	for (int turn = 0; turn < 3000; turn++)
	{
		uint32_t	tile_items = 1 + random_bits() % 40;
		uint64_t	run_tiles = UINT64_C(1) << random_bits() % 4;
		uint64_t	run_items = tile_items * run_tiles;
		const uint64_t distances[] = {0, 1, run_items / 3, run_items - 1, run_items, run_items + 1, 2 * run_items, 9 * run_items};
		const uint32_t divisors[] = {1, 3, (uint32_t) run_items + 2, 1000000};

		for (uint64_t distance : distances)
			test_windows(1 + random_bits() % (7 * run_items + 1), tile_items, run_tiles, distance, divisors[turn % 4], false);
		test_windows(1 + random_bits() % (9 * run_items + 1), tile_items, run_tiles, 0, 1, true);
	}
}

/*
 * A tile of 8-byte keys with indices, few distinct ones: the left list's equals
 * come before the own one's, the right list's behind them.
 */
static void
test_indexed_window(uint32_t left_items, uint32_t own_items, uint32_t right_items, uint32_t distinct)
{
	constexpr int items = 5;
	const uint32_t list_items[3] = {left_items, own_items, right_items};
	uint32_t	others_slot = own_items + items;
	uint32_t	num_items = left_items + own_items + right_items;
	uint32_t	slots = num_items + 2 * items;
	std::vector<char> memory(mgpu_tile<mgpu_indexed_key>::bytes(slots));
	mgpu_tile<mgpu_indexed_key> tile = mgpu_tile<mgpu_indexed_key>::lay_out(memory.data(), slots);
	uint32_t	index = 0;
	uint32_t	slot = others_slot;
	mgpu_indexed_key last = {0, 0};
	bool		in_order = true;

	for (int list = 0; list < 3; list++)
	{
		std::vector<uint64_t> keys(list_items[list]);

		/* left and right follow each other in order */
		for (uint64_t &key : keys)
			key = random_bits() % distinct + (list == 2 ? distinct - 1 : 0) + (list == 1 ? distinct / 2 : 0);
		std::sort(keys.begin(), keys.end());
		for (uint32_t i = 0; i < list_items[list]; i++)
			tile.put(list == 1 ? i : slot++, {keys[i], index++});
	}
	for (int i = 0; i < items; i++)
	{
		mgpu_put_guard<items>(tile, own_items, i);
		mgpu_put_guard<items>(tile, others_slot + left_items + right_items, i);
	}
	for (uint32_t diagonal = 0; diagonal < num_items; diagonal += items)
	{
		mgpu_indexed_key merged[items];

		mgpu_merge_window_lists(merged, tile, 0, own_items, others_slot, left_items + right_items, diagonal);
		for (uint32_t i = 0; i < items && diagonal + i < num_items; i++)
		{
			in_order &= diagonal + i == 0 || last < merged[i];
			last = merged[i];
		}
	}
	CHECK(in_order, "a window of %u, %u and %u indexed items, %u keys", left_items, own_items, right_items, distinct);
}

void
test_windows_on_host()
{
	test_all_windows();
	for (int turn = 0; turn < 2000; turn++)
		test_indexed_window(random_bits() % 20, random_bits() % 40, random_bits() % 20, 1 + turn % 9);
}
