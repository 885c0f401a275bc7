/*
 * kernel_segmented_host.cu
 *		The segmented sort on the host: all its steps, without a GPU.
 *
 * Plays every CTA with the very functions that the kernels are made of: a loop
 * over threads or lanes stands for what runs between two barriers.  Ballots and
 * shuffles are played by plain loops.  Work of a pass is done in random order.
 */
#include "kernel_segmented_tiles.cuh"

/* One whole sort, its memory as the kernels have it. */
template <class Tuning, typename Key>
struct emulated_sort
{
	static constexpr uint32_t tile_items = Tuning::tile_items;
	typedef mgpu_sided_keys<tile_items, Key> sided_keys;

	std::vector<Key> side[2];
	std::vector<uint32_t> heads;
	std::vector<uint32_t> tile_heads;
	std::vector<uint8_t> sides;
	std::vector<uint8_t> next_sides;
	std::vector<uint32_t> splits;
	std::vector<mgpu_active_range> ranges;
	std::vector<mgpu_segment_work> work;
	mgpu_segment_pass pass = {};
	mgpu_segmented_stats stats = {};
	uint64_t	sorted_items = 0;	/* by the block sort, up to a border */
	bool		good = true;

	emulated_sort(const std::vector<Key> &keys, const std::vector<uint32_t> &heads_)
		: side{keys, std::vector<Key>(keys.size(), (Key) poison)}, heads(heads_)
	{
		uint32_t	num_sort_tiles = mgpu_divide_up(keys.size(), Tuning::sort_tile_items);

		pass.num_items = keys.size();
		pass.num_tiles = mgpu_divide_up(keys.size(), tile_items);
		pass.run_tiles = pass.sort_tiles = Tuning::sort_tiles;
		sides.assign(num_sort_tiles * Tuning::sort_tiles, 0);
		next_sides.assign(sides.size(), 0xBA);
		splits.assign(sides.size(), (uint32_t) poison);
		find_tile_heads(num_sort_tiles);
		pass.segments = {heads.size() > 1 ? heads.data() : nullptr, tile_heads.data(), (uint32_t) heads.size(),
			Tuning::sort_tile_items, Tuning::overhang};
		stats.num_tiles = pass.num_tiles;
	}

	/* mgpu_find_split */
	void
	find_tile_heads(uint32_t num_sort_tiles)
	{
		constexpr int lanes = MGPU_SEGMENTED_HEAD_PROBES;
		mgpu_head_search search = {heads.data(), pass.num_items, (uint32_t) heads.size(), Tuning::sort_tile_items};

		for (uint64_t tile = 0; tile <= num_sort_tiles; tile++)
		{
			uint64_t	low;
			uint64_t	high;

			search.range(tile, low, high);
			while (low < high)
			{
				uint32_t	num_before = 0;

				for (uint32_t lane = 0; lane < lanes; lane++)
					num_before += search.before(tile, mgpu_group_probe<lanes>(low, high, lane));
				mgpu_group_narrow<lanes>(low, high, num_before);
			}
			tile_heads.push_back((uint32_t) low);
			good = good && low == (size_t) (std::lower_bound(heads.begin(), heads.end(), tile * Tuning::sort_tile_items) -
											heads.begin());
		}
	}

	/* mgpu_sort_locality */
	void
	sort_whole_tile(uint64_t begin)
	{
		uint64_t	end = std::min<uint64_t>(begin + Tuning::sort_tile_items, pass.num_items);
		std::vector<Key> tile(Tuning::sort_tile_items, mgpu_largest_key<Key>());

		std::copy(side[0].begin() + begin, side[0].begin() + end, tile.begin());
		emulate_cta_sort<Tuning::sort_threads, Tuning::items_per_thread>(tile.data());
		std::copy(tile.begin(), tile.begin() + (end - begin), side[0].begin() + begin);
	}

	/* mgpu_sort_segments; the tile's pieces are those that the heads and both borders make. */
	void
	sort_pieces(uint32_t sort_tile)
	{
		mgpu_tile_pieces pieces = mgpu_find_tile_pieces(pass.segments, pass.num_items, sort_tile);
		shared_memory<Key> shared(mgpu_tile_capacity<Key>(Tuning::sort_tile_capacity));
		Key		   *tile = shared.items + mgpu_phase(reinterpret_cast<Key *>((uint64_t) pieces.begin * sizeof(Key)));
		uint32_t	at = 0;

		good = good && pieces.begin == sorted_items && pieces.num_items <= Tuning::sort_tile_capacity;
		if (!good)
			return;
		sorted_items += pieces.num_items;
		std::copy(side[0].begin() + pieces.begin, side[0].begin() + sorted_items, tile);
		for (uint32_t piece = 0; piece < pieces.num_pieces && pieces.num_items > 0 && good; piece++)
		{
			uint32_t	begin = pieces.at(piece) & 0xFFFF;
			uint32_t	num_items = pieces.at(piece) >> 16;

			good = begin == at && num_items > 0 && begin + num_items <= pieces.num_items &&
				(piece == 0 || std::binary_search(heads.begin(), heads.end(), pieces.begin + begin));
			if (good)
				emulate_piece<Tuning>(tile, begin, num_items, &good);
			at += num_items;
		}
		good = good && at == pieces.num_items && shared.intact();
		std::copy(tile, tile + pieces.num_items, side[0].begin() + pieces.begin);
	}

	/* mgpu_begin_segments: borders open in a pass; borders are at heads else. */
	uint32_t
	count_open(uint32_t pass_number)
	{
		uint32_t	num_open = 0;

		for (uint32_t tile = 1; tile + 1 < tile_heads.size(); tile++)
		{
			mgpu_tile_border border = mgpu_find_border(pass.segments, pass.num_items, tile);

			num_open += border.open && mgpu_lowest_bit(tile) == pass_number;
			good = good && (border.item == pass.num_items ||
							border.open != std::binary_search(heads.begin(), heads.end(), border.item));
		}
		return num_open;
	}

	sided_keys
	keys() const
	{
		return {side[0].data(), side[1].data(), sides.data()};
	}

	/* mgpu_narrow_range */
	void
	narrow(mgpu_active_range &range)
	{
		mgpu_narrow_search<sided_keys> search = {keys(), range};
		uint64_t	found[2];

		for (uint32_t which = 0; which < 2; which++)
		{
			uint64_t	low;
			uint64_t	high;

			search.bounds(which, low, high);
			while (low < high)
			{
				uint32_t	num_before = 0;

				for (uint32_t lane = 0; lane < 16; lane++)
					num_before += search.before(which, mgpu_group_probe<16>(low, high, lane));
				mgpu_group_narrow<16>(low, high, num_before);
			}
			found[which] = low;
		}
		good = good && found[0] < range.middle && found[1] > range.middle;
		range.begin = (uint32_t) found[0];
		range.end = (uint32_t) found[1];
	}

	/* mgpu_find_split */
	uint32_t
	split(const mgpu_active_range &range, uint32_t diagonal)
	{
		constexpr int lanes = MGPU_SEGMENTED_SPLIT_PROBES;
		mgpu_range_search<sided_keys> search = {keys(), range};
		uint64_t	low;
		uint64_t	high;

		search.range(diagonal, low, high);
		while (low < high)
		{
			uint32_t	num_before = 0;

			for (uint32_t lane = 0; lane < lanes; lane++)
				num_before += search.before(diagonal, mgpu_group_probe<lanes>(low, high, lane));
			mgpu_group_narrow<lanes>(low, high, num_before);
		}
		return (uint32_t) low;
	}

	/* mgpu_plan_ranges */
	void
	plan_ranges(mgpu_pass_stats *counts)
	{
		ranges.clear();
		for (uint32_t tile = 0; tile < pass.num_tiles; tile += 2 * pass.run_tiles)
		{
			mgpu_active_range range = mgpu_find_segment_range<tile_items>(pass, tile);

			ranges.push_back({0, 0, 0});
			if (range.begin == range.end || mgpu_range_in_order(keys(), range))
				continue;
			narrow(range);
			if (!mgpu_fits_one_tile<tile_items>(range))
				ranges.back() = range;
			else
			{
				work.push_back({range.begin / tile_items, range});
				counts->merge_tiles += 2;
			}
		}
	}

	/* mgpu_plan_splits */
	void
	plan_splits(mgpu_pass_stats *counts)
	{
		for (uint32_t tile = 0; tile < pass.num_tiles; tile++)
		{
			const mgpu_active_range &range = ranges[tile / (2 * pass.run_tiles)];
			bool		touched = mgpu_touches_range<tile_items>(range, tile);

			if (touched)
			{
				splits[tile] = split(range, mgpu_tile_diagonal<tile_items>(range, tile));
				work.push_back({tile, range});
			}
			next_sides[tile] = sides[tile] ^ touched;
			counts->merge_tiles += touched;
		}
	}

	/* mgpu_load_sided, whose halves have the phases of their places. */
	void
	load(Key *shared, uint32_t begin, uint32_t num_items)
	{
		good = good && (uint64_t) begin + num_items <= pass.num_items && num_items <= tile_items;
		for (uint32_t i = 0; i < num_items && good; i++)
			shared[i] = keys().at(begin + i);
	}

	void
	store(uint32_t to_side, uint64_t begin, const Key *items, uint64_t num_items)
	{
		good = good && begin + num_items <= pass.num_items;
		if (good)
			std::copy(items, items + num_items, side[to_side].begin() + begin);
	}

	/* mgpu_merge_segments */
	void
	merge(const mgpu_segment_work &item)
	{
		constexpr int threads = Tuning::merge_threads;
		constexpr int items = Tuning::items_per_thread;
		shared_memory<Key> shared(mgpu_guarded_capacity<Key>(tile_items, items));
		auto		merged = std::make_unique<thread_items<items, Key>[]>(threads);
		mgpu_segment_inputs inputs = mgpu_find_segment_inputs<tile_items>(item, splits.data());
		uint32_t	count = inputs.a_items + inputs.b_items;
		uint32_t	a_slot = mgpu_phase(reinterpret_cast<Key *>((uint64_t) inputs.a_begin * sizeof(Key)));
		uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items + items,
												reinterpret_cast<Key *>((uint64_t) inputs.b_begin * sizeof(Key)));
		Key		   *out = shared.items + mgpu_phase(reinterpret_cast<Key *>((uint64_t) inputs.out_begin * sizeof(Key)));
		uint32_t	a_items = item.range.middle - item.range.begin;

		load(shared.items + a_slot, inputs.a_begin, inputs.a_items);
		load(shared.items + b_slot, inputs.b_begin, inputs.b_items);
		if (!good || count > tile_items)
		{
			good = false;
			return;
		}
		for (uint32_t thread = 0; thread < threads; thread++)
		{
			mgpu_store_guard<items>(shared.items, a_slot + inputs.a_items, thread);
			mgpu_store_guard<items>(shared.items, b_slot + inputs.b_items, thread);
		}
		for (uint32_t thread = 0; thread < threads; thread++)
			mgpu_merge_guarded(merged[thread], shared.items, a_slot, inputs.a_items, b_slot, inputs.b_items,
							   thread * items);
		for (uint32_t thread = 0; thread < threads; thread++)
			if (thread * items < count)
				mgpu_store_forwards(merged[thread], out, thread * items);
		if (mgpu_fits_one_tile<tile_items>(item.range))
		{
			good = good && item.range.begin / tile_items == item.tile && item.range.middle == (item.tile + 1) * tile_items;
			store(sides[item.tile], item.range.begin, out, a_items);
			store(sides[item.tile + 1], item.range.middle, out + a_items, item.range.end - item.range.middle);
		}
		else
			store_aside(item, inputs, out);
		good = good && shared.intact();
	}

	/* mgpu_store_aside */
	void
	store_aside(const mgpu_segment_work &item, const mgpu_segment_inputs &inputs, const Key *out)
	{
		uint64_t	begin = (uint64_t) item.tile * tile_items;
		uint64_t	end = std::min<uint64_t>(begin + tile_items, pass.num_items);
		uint64_t	out_end = (uint64_t) inputs.out_begin + inputs.a_items + inputs.b_items;
		uint32_t	from = sides[item.tile];

		good = good && inputs.out_begin >= begin && out_end <= end;
		store(from ^ 1, inputs.out_begin, out, out_end - inputs.out_begin);
		if (inputs.out_begin > begin)
			store(from ^ 1, begin, side[from].data() + begin, inputs.out_begin - begin);
		if (out_end < end)
			store(from ^ 1, out_end, side[from].data() + out_end, end - out_end);
	}

	void
	run()
	{
		uint32_t	num_passes = 0;

		for (uint64_t begin = 0; begin < pass.num_items && good; begin += Tuning::sort_tile_items)
		{
			if (pass.segments.heads == nullptr)
				sort_whole_tile(begin);
			else
				sort_pieces((uint32_t) (begin / Tuning::sort_tile_items));
		}
		good = good && (pass.segments.heads == nullptr || sorted_items == pass.num_items);
		for (; pass.run_tiles < pass.num_tiles && good; pass.run_tiles *= 2, num_passes++)
		{
			if (pass.segments.heads != nullptr && count_open(num_passes) == 0)
				continue;
			work.clear();
			plan_ranges(&stats.passes[num_passes]);
			plan_splits(&stats.passes[num_passes]);
			std::shuffle(work.begin(), work.end(), random_bits);
			for (const mgpu_segment_work &item : work)
				merge(item);
			sides.swap(next_sides);
		}
		for (uint32_t tile = 0; tile < pass.num_tiles && num_passes > 0; tile++)
		{
			uint64_t	begin = (uint64_t) tile * tile_items;

			stats.passes[num_passes].copy_tiles += sides[tile];
			if (sides[tile] != 0)
				store(0, begin, side[1].data() + begin, std::min<uint64_t>(tile_items, pass.num_items - begin));
		}
		stats.num_passes = num_passes > 0 ? num_passes + 1 : 0;
	}
};

template <class Tuning, typename Key>
static void
check_sort(int segments, int pattern, uint64_t num_items)
{
	std::vector<uint32_t> heads = make_heads(segments, num_items, Tuning::tile_items);
	std::vector<uint64_t> words = make_keys<uint64_t>(pattern, num_items, heads);
	std::vector<Key> keys(words.begin(), words.end());
	std::vector<Key> expected;
	uint64_t	most_items = heads.empty() ? num_items : num_items - heads.back();

	if (pattern == KEYS_SORTED)		/* codes of a narrower type are not in this order */
		sort_segments<Key>(heads, keys, nullptr);
	if constexpr (sizeof(Key) == 16)	/* as when packed */
	{
		for (uint64_t i = 0; i < num_items; i++)
			keys[i] = keys[i] << 32 | i;
	}
	expected = keys;
	sort_segments<Key>(heads, expected, nullptr);
	for (size_t i = 0; i + 1 < heads.size(); i++)
		most_items = std::max<uint64_t>(most_items, heads[i + 1] - heads[i]);

	auto		sort = std::make_unique<emulated_sort<Tuning, Key>>(keys, heads);

	sort->run();
	expect(sort->good && sort->side[0] == expected, "%llu keys of %zu bytes in sort tiles of %d threads, %s, %s "
		   "(geometry %s)", (unsigned long long) num_items, sizeof(Key), Tuning::sort_threads,
		   segment_pattern_name(segments), key_pattern_name(pattern), sort->good ? "good" : "bad");
	expect(stats_are_sound(sort->stats, num_items, Tuning::tile_items, pattern == KEYS_SORTED) &&
		   stats_halve(sort->stats, Tuning::sort_tiles, most_items, Tuning::tile_items),
		   "statistics of %llu keys of %zu bytes, %s, %s", (unsigned long long) num_items, sizeof(Key),
		   segment_pattern_name(segments), key_pattern_name(pattern));
}

template <class Tuning, typename Key>
static void
check_sorts(int rounds)
{
	uint64_t	tile = Tuning::sort_tile_items;
	std::vector<uint64_t> sizes = {1, 2, 33, tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 1};

	for (int i = 0; i < rounds; i++)
		sizes.push_back(1 + random_below(12 * tile));
	for (uint64_t size : sizes)
		for (int segments = 0; segments < NUM_SEGMENT_PATTERNS; segments++)
		{
			check_sort<Tuning, Key>(segments, KEYS_RANDOM, size);
			check_sort<Tuning, Key>(segments, KEYS_SORTED, size);
			check_sort<Tuning, Key>(segments, (int) random_below(NUM_KEY_PATTERNS), size);
			if (segments == SEGMENTS_NONE)
				for (int pattern = 0; pattern < NUM_KEY_PATTERNS; pattern++)
					check_sort<Tuning, Key>(segments, pattern, size);
		}
}

/* Pieces of every length that a CTA may meet, between others' items that must not change. */
template <class Tuning, typename Key>
static void
check_pieces()
{
	for (uint32_t num_items = 1; num_items <= Tuning::sort_tile_capacity; num_items += 1 + num_items / 64)
	{
		shared_memory<Key> tile(num_items + 3);
		std::vector<Key> expected(num_items);
		bool		good = true;
		bool		changed;

		for (uint32_t i = 0; i < num_items; i++)
			expected[i] = tile.items[1 + i] = (Key) (num_items % 3 == 0 ? random_bits() % 3 : random_bits());
		tile.items[0] = tile.items[num_items + 1] = 1;
		changed = !std::is_sorted(expected.begin(), expected.end());
		std::sort(expected.begin(), expected.end());
		good = emulate_piece<Tuning>(tile.items, 1, num_items, &good) == changed && good;
		expect(good && std::equal(expected.begin(), expected.end(), tile.items + 1) && tile.items[0] == 1 &&
			   tile.items[num_items + 1] == 1 && tile.intact(), "a piece of %u keys of %zu bytes, %d a lane", num_items,
			   sizeof(Key), Tuning::lane_items);
	}
}

void
test_on_host()
{
	typedef unsigned __int128 u128;

	check_pieces<mgpu_segmented_u32::large, uint32_t>();
	check_pieces<mgpu_segmented_u64::large, uint64_t>();
	check_pieces<mgpu_segmented_u128::large, u128>();
	/* small tiles, so that many passes follow */
	check_sorts<mgpu_segmented_tuning<64, 32, 5, 7>, uint32_t>(quick ? 2 : 8);
	check_sorts<mgpu_segmented_tuning<128, 32, 3, 5>, uint64_t>(quick ? 2 : 8);
	/* the kernels' own */
	check_sorts<mgpu_segmented_u32::small, uint32_t>(quick ? 0 : 1);
	check_sorts<mgpu_segmented_u128::large, u128>(quick ? 0 : 1);
	if (quick)
		return;
	check_sorts<mgpu_segmented_u32::large, uint32_t>(1);
	check_sorts<mgpu_segmented_u64::large, uint64_t>(1);
	check_sorts<mgpu_segmented_u64::small, uint64_t>(0);
}
