/*
 * kernel_segmented_aligned.cu
 *		The sort by tiles that begin where segments do, on the host: without a GPU.
 *
 * Plays groups and CTAs with the very functions that the kernels are made of, as
 * kernel_segmented_host.cu does; groups lie anywhere in their CTA, and what is done
 * between two barriers is done in random order.
 */
#include "kernel_segmented_test.cuh"

#include <memory>

#include "segmented/segmented_sort.cuh"

/* One whole sort, its memory as the kernels have it. */
template <class Tuning, typename Key>
struct aligned_sort
{
	static constexpr uint32_t tile_items = Tuning::tile_items;
	static constexpr int items = Tuning::items_per_thread;
	static constexpr uint32_t vector_items = Tuning::most_phase + 1;

	std::vector<Key> side[2];
	std::vector<mgpu_aligned_chunk> chunks[Tuning::num_classes];
	std::vector<mgpu_aligned_tile> tiles[MGPU_ALIGNED_MAX_PASSES + 1];
	bool		needs_passes = false;
	bool		good = true;

	aligned_sort(const std::vector<Key> &keys, const std::vector<uint32_t> &heads)
		: side{keys, std::vector<Key>(keys.size(), (Key) poison)}
	{
		for (size_t segment = 0; segment < heads.size(); segment++)
			list_segment(heads[segment], segment + 1 < heads.size() ? heads[segment + 1] : (uint32_t) keys.size());
		if (heads.size() <= keys.size() / MGPU_ALIGNED_MIN_MEAN)
			check_capacity(keys.size());
	}

	/* mgpu_begin_aligned */
	void
	list_segment(uint32_t begin, uint32_t end)
	{
		uint32_t	passes = mgpu_count_aligned_passes<Tuning>(end - begin);
		uint32_t	rest = passes > 0 ? (end - begin) % tile_items : end - begin;
		uint32_t	num_whole = passes > 0 ? (end - begin) / tile_items : 0;

		good = good && (uint64_t) tile_items << passes >= end - begin;
		for (uint32_t i = 0; i < num_whole; i++)
			chunks[Tuning::num_classes - 1].push_back(mgpu_make_chunk(begin + i * tile_items, tile_items, passes,
																	   i + 1 < num_whole || rest > 0));
		if (rest >= (passes > 0 ? 1 : 2))
			chunks[mgpu_find_group_class<Tuning>(rest)].push_back(mgpu_make_chunk(end - rest, rest, passes, false));
		for (uint32_t i = 0; passes > 0 && i < num_whole + (rest > 0); i++)
			tiles[passes].push_back({begin, end, i, 0});
	}

	/* The lists hold what the layout promises. */
	void
	check_capacity(uint64_t num_items)
	{
		for (uint32_t i = 0; i < Tuning::num_classes; i++)
			good = good && chunks[i].size() <= mgpu_most_of_class<Tuning>(num_items, i);
		for (const auto &list : tiles)
			good = good && list.size() <= mgpu_most_aligned_tiles<Tuning>(num_items);
	}

	/* Is a chunk in order, and the item behind it? */
	bool
	in_order(const mgpu_aligned_chunk &chunk) const
	{
		const Key  *keys = side[0].data() + chunk.begin;

		return std::is_sorted(keys, keys + chunk.num_items() + chunk.goes_on());
	}

	/* mgpu_sort_chunks, for one group of a CTA of which others must keep what they have. */
	void
	sort_chunk(const mgpu_aligned_chunk &chunk, uint32_t group_class)
	{
		uint32_t	threads = mgpu_group_threads(group_class);
		uint32_t	first = (uint32_t) random_below(Tuning::threads / threads) * threads;
		uint32_t	num_items = chunk.num_items();
		uint32_t	live = mgpu_count_live_threads<items>(num_items, threads);
		uint32_t	live_end = first + live;
		uint32_t	slot = mgpu_group_slot<Tuning>(first, chunk.begin % vector_items);
		uint32_t	area_end = (first + threads) * items + (threads == Tuning::threads ? Tuning::most_phase : 0);
		shared_memory<Key> shared(mgpu_inputs_capacity<Key>(tile_items, 2, items));
		auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);

		good = good && num_items <= mgpu_group_most_items<Tuning>(group_class) && live <= threads && (uint64_t) live * items >= num_items &&
			slot >= first * items && slot + num_items <= area_end && slot % vector_items == chunk.begin % vector_items;
		if (!good)
			return;
		for (uint32_t thread = 0; thread < live; thread++)
		{
			for (uint32_t i = 0; i < items; i++)
				registers[thread][i] = thread + i * live < num_items ? side[0][chunk.begin + thread + i * live] :
					mgpu_largest_key<Key>();
			mgpu_thread_sort(registers[thread]);
		}
		for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
		{
			for (uint32_t thread = 0; thread < threads; thread++)
				if (mgpu_group_merges(first + thread, live_end, run_threads))
					mgpu_store_group_facing(registers[thread], shared.items, first + thread, live_end, run_threads);
			for (uint32_t thread = 0; thread < threads; thread++)
				if (mgpu_group_merges(first + thread, live_end, run_threads))
					mgpu_merge_group_facing(registers[thread], shared.items, first + thread, live_end, run_threads);
		}
		for (uint32_t thread = 0; thread < threads; thread++)
			mgpu_store_group_items(registers[thread], shared.items + slot, thread, num_items);
		for (uint32_t i = 0; i < shared.num_items; i++)
			good = good && ((i >= first * items && i < area_end) || shared.items[i] == (Key) poison);
		good = good && shared.intact();
		std::copy(shared.items + slot, shared.items + slot + num_items, side[chunk.side()].begin() + chunk.begin);
	}

	/* mgpu_begin_chunks and what follows it, for a CTA with one chunk alone */
	void
	sort_chunks()
	{
		for (uint32_t group_class = 0; group_class < Tuning::num_classes; group_class++)
		{
			std::shuffle(chunks[group_class].begin(), chunks[group_class].end(), random_bits);
			for (const mgpu_aligned_chunk &chunk : chunks[group_class])
			{
				if (!in_order(chunk))
				{
					needs_passes = needs_passes || chunk.is_part();
					sort_chunk(chunk, group_class);
				}
				else if (chunk.side() == 1)
					std::copy_n(side[0].begin() + chunk.begin, chunk.num_items(), side[1].begin() + chunk.begin);
			}
		}
	}

	/* mgpu_find_split */
	uint32_t
	split(const mgpu_aligned_search<Key> &search, uint32_t which)
	{
		uint64_t	low;
		uint64_t	high;

		search.range(which, low, high);
		while (low < high)
		{
			uint32_t	num_before = 0;

			for (uint32_t lane = 0; lane < 32; lane++)
				num_before += search.before(which, mgpu_group_probe<32>(low, high, lane));
			mgpu_group_narrow<32>(low, high, num_before);
		}
		return (uint32_t) low;
	}

	/* mgpu_merge_aligned_tile */
	void
	merge_tile(const mgpu_aligned_tile &work, uint32_t pass, uint32_t from)
	{
		mgpu_aligned_search<Key> search = {side[from].data(), mgpu_find_aligned_inputs<Tuning>(work, pass)};
		const mgpu_aligned_inputs &inputs = search.inputs;
		uint32_t	splits[2] = {split(search, 0), split(search, 1)};
		uint32_t	count = inputs.diagonals[1] - inputs.diagonals[0];
		uint32_t	out_begin = work.begin + work.tile * tile_items;
		uint32_t	a_items = splits[1] - splits[0];
		uint32_t	b_items = count - a_items;
		uint32_t	a_begin = inputs.a_begin + splits[0];
		uint32_t	b_begin = inputs.b_begin + inputs.diagonals[0] - splits[0];
		uint32_t	a_slot = a_begin % vector_items;
		uint32_t	b_slot = mgpu_second_slot<Tuning>(a_slot + a_items, b_begin % vector_items);
		shared_memory<Key> shared(mgpu_inputs_capacity<Key>(tile_items, 2, items));
		auto		merged = std::make_unique<thread_items<items, Key>[]>(Tuning::threads);

		good = good && splits[0] <= splits[1] && a_items <= count && count <= tile_items && out_begin + count <= work.end &&
			a_begin + a_items <= inputs.b_begin && b_begin + b_items <= work.end &&
			b_slot + b_items + items <= shared.num_items && out_begin % vector_items + Tuning::threads * items <= shared.num_items;
		if (!good)
			return;
		std::copy_n(side[from].begin() + a_begin, a_items, shared.items + a_slot);
		std::copy_n(side[from].begin() + b_begin, b_items, shared.items + b_slot);
		for (uint32_t thread = 0; thread < Tuning::threads; thread++)
		{
			mgpu_store_guard<items>(shared.items, a_slot + a_items, thread);
			mgpu_store_guard<items>(shared.items, b_slot + b_items, thread);
		}
		for (uint32_t thread = 0; thread < Tuning::threads; thread++)
			mgpu_merge_guarded(merged[thread], shared.items, a_slot, a_items, b_slot, b_items, thread * items);
		for (uint32_t i = 0; i < count; i++)
			side[from ^ 1][out_begin + i] = merged[i / items][i % items];
		good = good && shared.intact();
	}

	void
	run()
	{
		uint32_t	last_pass = MGPU_ALIGNED_MAX_PASSES;

		sort_chunks();
		while (last_pass > 0 && tiles[last_pass].empty())
			last_pass--;
		for (uint32_t pass = 0; pass < last_pass && needs_passes && good; pass++)
			for (uint32_t passes = pass + 1; passes <= last_pass; passes++)
			{
				std::shuffle(tiles[passes].begin(), tiles[passes].end(), random_bits);
				for (const mgpu_aligned_tile &tile : tiles[passes])
					merge_tile(tile, pass, (passes - pass) & 1);
			}
	}
};

template <class Tuning, typename Key>
static void
check_sort(int segments, int pattern, uint64_t num_items)
{
	std::vector<uint32_t> heads = make_heads(segments, num_items, Tuning::tile_items);
	std::vector<Key> keys = make_keys<Key>(pattern, num_items, heads);
	std::vector<Key> expected = keys;
	auto		sort = std::make_unique<aligned_sort<Tuning, Key>>(keys, heads);

	sort_segments<Key>(heads, expected, nullptr);
	sort->run();
	expect(sort->good && sort->side[0] == expected, "aligned: %llu keys of %zu bytes, %d threads, %s, %s (geometry %s)",
		   (unsigned long long) num_items, sizeof(Key), Tuning::threads, segment_pattern_name(segments),
		   key_pattern_name(pattern), sort->good ? "good" : "bad");
	expect(pattern != KEYS_SORTED || !sort->needs_passes, "aligned: passes over %llu sorted keys, %s",
		   (unsigned long long) num_items, segment_pattern_name(segments));
}

template <class Tuning, typename Key>
static void
check_sorts(int rounds)
{
	uint64_t	tile = Tuning::tile_items;
	std::vector<uint64_t> sizes = {2, 33, tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 1, 5 * tile + 7};

	for (int i = 0; i < rounds; i++)
		sizes.push_back(1 + random_below(20 * tile));
	for (uint64_t size : sizes)
		for (int segments = SEGMENTS_ONE; segments < NUM_SEGMENT_PATTERNS; segments++)
		{
			check_sort<Tuning, Key>(segments, KEYS_RANDOM, size);
			check_sort<Tuning, Key>(segments, KEYS_SORTED, size);
			check_sort<Tuning, Key>(segments, (int) random_below(NUM_KEY_PATTERNS), size);
		}
}

/* Segments of every length around what each class takes, and the passes of the longest there are. */
template <class Tuning, typename Key>
static void
check_lengths()
{
	for (uint32_t group_class = 0; group_class < Tuning::num_classes; group_class++)
	{
		uint32_t	most = mgpu_group_most_items<Tuning>(group_class);

		expect(mgpu_find_group_class<Tuning>(most) == group_class &&
			   (most == Tuning::tile_items || mgpu_find_group_class<Tuning>(most + 1) == group_class + 1),
			   "the class of %u keys of %zu bytes", most, sizeof(Key));
		for (uint32_t num_items = most > 40 ? most - 40 : 1; num_items <= most + 2; num_items++)
		{
			std::vector<Key> keys = make_keys<Key>(KEYS_RANDOM, num_items + 1, {});
			std::vector<Key> expected = keys;
			std::vector<uint32_t> heads = {0, 1};
			aligned_sort<Tuning, Key> sort(keys, heads);

			std::sort(expected.begin() + 1, expected.end());
			sort.run();
			expect(sort.good && sort.side[0] == expected, "aligned: a segment of %u keys of %zu bytes", num_items,
				   sizeof(Key));
		}
	}
	expect(mgpu_count_aligned_passes<Tuning>(UINT32_MAX) <= MGPU_ALIGNED_MAX_PASSES, "passes of keys of %zu bytes",
		   sizeof(Key));
}

void
test_aligned_on_host()
{
	check_lengths<mgpu_aligned_u32, uint32_t>();
	check_lengths<mgpu_aligned_u64, uint64_t>();
	/* small tiles, so that many passes follow */
	check_sorts<mgpu_aligned_tuning<128, 7, 3, 1024>, uint32_t>(quick ? 2 : 8);
	check_sorts<mgpu_aligned_tuning<128, 5, 1, 1024>, uint64_t>(quick ? 2 : 8);
	/* the kernels' own */
	check_sorts<mgpu_aligned_u32, uint32_t>(quick ? 0 : 1);
	check_sorts<mgpu_aligned_u64, uint64_t>(quick ? 0 : 1);
}
