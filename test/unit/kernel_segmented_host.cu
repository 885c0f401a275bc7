/*
 * kernel_segmented_host.cu
 *		The segmented sort on the host: all its steps, without a GPU.
 *
 * Plays every CTA with the very functions that the kernels are made of: a loop
 * over threads or lanes stands for what runs between two barriers.  Ballots and
 * shuffles are played by plain loops.  Work of a pass is done in random order.
 */
#include "kernel_segmented_test.cuh"

#include <memory>

#include "segmented_sort.cuh"

template <int items, typename Key>
using thread_items = Key[items];

static const uint64_t poison = UINT64_C(0xBABABABABABABABA);

/* A CTA's shared memory: aligned, poisoned, with canaries around it. */
template <typename Item>
struct shared_memory
{
	static constexpr size_t canary_items = 64;
	size_t		num_items;
	std::vector<Item> memory;
	Item	   *items;

	explicit shared_memory(size_t num_items_)
		: num_items(num_items_), memory(num_items_ + 3 * canary_items, (Item) poison)
	{
		uintptr_t	address = reinterpret_cast<uintptr_t>(memory.data() + canary_items);

		items = reinterpret_cast<Item *>((address + 15) & ~(uintptr_t) 15);
	}

	bool
	intact() const
	{
		for (const Item *item = memory.data(); item < memory.data() + memory.size(); item++)
		{
			if ((item < items || item >= items + num_items) && *item != (Item) poison)
				return false;
		}
		return true;
	}
};

/* -------------------------------------------------------------- block sort */

/* One level for the threads of [first, end): all read, then all write. */
template <int items, int unit_threads, typename Key>
static bool
emulate_level(thread_items<items, Key> *registers, Key *tile, const std::vector<mgpu_thread_pieces> &pieces,
			  uint32_t first, uint32_t end, uint32_t run_units, uint32_t last_slot)
{
	std::vector<bool> changed(end);
	bool		good = true;

	for (uint32_t thread = first; thread < end; thread++)
	{
		mgpu_piece_merge merge = mgpu_plan_pieces<items, unit_threads>(tile, pieces[thread], thread, run_units);
		thread_items<items, Key> bounded;

		std::copy(registers[thread], registers[thread] + items, bounded);
		mgpu_merge_pieces(bounded, tile, merge, last_slot);
		if (mgpu_is_unbounded<items>(merge))
		{
			mgpu_merge_pieces_unbounded(registers[thread], tile, merge);
			good = good && std::equal(bounded, bounded + items, registers[thread]);
		}
		std::copy(bounded, bounded + items, registers[thread]);
		changed[thread] = merge.active != 0;
	}
	for (uint32_t thread = first; thread < end; thread++)
	{
		if (changed[thread])
			mgpu_store_forwards(registers[thread], tile, thread * items);
	}
	return good;
}

/* Pieces of all threads, with heads and ends of the scope (a warp or the CTA) only. */
template <int items>
static std::vector<mgpu_thread_pieces>
find_all_pieces(const std::vector<uint32_t> &heads, uint32_t scope_threads)
{
	std::vector<mgpu_thread_pieces> pieces(heads.size());

	for (uint32_t thread = 0; thread < heads.size(); thread++)
	{
		uint32_t	scope = thread / scope_threads * scope_threads;
		uint32_t	previous = scope * items;
		uint32_t	next = (scope + scope_threads) * items;

		for (uint32_t other = scope; other < thread; other++)
			if (heads[other] != 0)
				previous = other * items + mgpu_highest_bit(heads[other]);
		for (uint32_t other = scope + scope_threads - 1; other > thread; other--)
			if (heads[other] != 0)
				next = other * items + mgpu_lowest_bit(heads[other]);
		pieces[thread] = mgpu_find_pieces<items>(heads[thread], thread, previous, next);
	}
	return pieces;
}

/* mgpu_warp_sort */
template <int items, typename Key>
static void
emulate_warp_sort(thread_items<items, Key> *registers, Key *tile, uint32_t first)
{
	for (uint32_t thread = first; thread < first + 32; thread++)
		mgpu_thread_sort(registers[thread]);
	for (uint32_t run_threads = 1; run_threads < 32; run_threads *= 2)
	{
		for (uint32_t thread = first; thread < first + 32; thread++)
			mgpu_store_facing(registers[thread], tile, thread, run_threads);
		for (uint32_t thread = first; thread < first + 32; thread++)
			mgpu_merge_facing_runs(registers[thread], tile, thread, run_threads);
	}
	for (uint32_t thread = first; thread < first + 32; thread++)
		mgpu_store_forwards(registers[thread], tile, thread * items);
}

/* mgpu_warp_sort_segments */
template <int items, typename Key>
static bool
emulate_warp_sort_segments(thread_items<items, Key> *registers, Key *tile, const std::vector<uint32_t> &heads,
						   const std::vector<mgpu_thread_pieces> &pieces, uint32_t first)
{
	uint32_t	most_run_threads = 0;
	bool		good = true;

	for (uint32_t thread = first; thread < first + 32; thread++)
	{
		mgpu_thread_sort_segments(registers[thread], heads[thread]);
		mgpu_store_forwards(registers[thread], tile, thread * items);
		most_run_threads = std::max(most_run_threads, mgpu_most_run_units<items>(pieces[thread]));
	}
	for (uint32_t run_threads = 1; run_threads <= most_run_threads; run_threads *= 2)
		good = emulate_level<items, 1>(registers, tile, pieces, first, first + 32, run_threads,
									   (first + 32) * items - 1) && good;
	return good;
}

/* mgpu_cta_sort_segments: tile holds the keys, then the sorted ones. */
template <int threads, int items, typename Key>
static bool
emulate_cta_sort_segments(Key *keys, const std::vector<uint32_t> &heads)
{
	shared_memory<Key> tile(mgpu_tile_capacity<Key>(threads * items));
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);
	std::vector<mgpu_thread_pieces> pieces = find_all_pieces<items>(heads, 32);
	uint32_t	most_run_warps = 0;
	bool		good = true;

	std::copy(keys, keys + threads * items, tile.items);
	for (uint32_t thread = 0; thread < threads; thread++)
		mgpu_load_forwards(registers[thread], tile.items, thread * items);
	for (uint32_t first = 0; first < threads; first += 32)
	{
		bool		headed = (heads[first] & ~1u) != 0;

		for (uint32_t thread = first + 1; thread < first + 32; thread++)
			headed = headed || heads[thread] != 0;
		if (headed)
			good = emulate_warp_sort_segments<items>(registers.get(), tile.items, heads, pieces, first) && good;
		else
			emulate_warp_sort<items>(registers.get(), tile.items, first);
	}
	pieces = find_all_pieces<items>(heads, threads);
	for (const mgpu_thread_pieces &thread_pieces : pieces)
		most_run_warps = std::max(most_run_warps, mgpu_most_run_units<32 * items>(thread_pieces));
	for (uint32_t run_warps = 1; run_warps <= most_run_warps; run_warps *= 2)
		good = emulate_level<items, 32>(registers.get(), tile.items, pieces, 0, threads, run_warps,
										threads * items - 1) && good;
	std::copy(tile.items, tile.items + threads * items, keys);
	return good && tile.intact();
}

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
	std::vector<mgpu_segment_work> work;
	mgpu_segment_pass pass = {};
	mgpu_segmented_stats stats = {};
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
		pass.segments.heads = heads.size() > 1 ? heads.data() : nullptr;
		pass.segments.tile_heads = tile_heads.data();
		pass.segments.num_segments = (uint32_t) heads.size();
		stats.num_tiles = pass.num_tiles;
	}

	/* mgpu_find_splits */
	void
	find_tile_heads(uint32_t num_sort_tiles)
	{
		constexpr int lanes = MGPU_OPS_LAUNCH_PROBES;
		mgpu_head_search search = {heads.data(), (uint32_t) heads.size(), Tuning::sort_tile_items};

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

	/* mgpu_sort_segments */
	void
	sort_tile(uint32_t sort_tile)
	{
		constexpr int threads = Tuning::sort_threads;
		constexpr int items = Tuning::items_per_thread;
		uint64_t	begin = (uint64_t) sort_tile * Tuning::sort_tile_items;
		uint64_t	end = std::min<uint64_t>(begin + Tuning::sort_tile_items, pass.num_items);
		std::vector<Key> tile(Tuning::sort_tile_items, mgpu_largest_key<Key>());
		std::vector<uint32_t> words(mgpu_head_words(Tuning::sort_tile_items));
		std::vector<uint32_t> thread_heads(threads);
		bool		descent = false;

		std::copy(side[0].begin() + begin, side[0].begin() + end, tile.begin());
		if (pass.segments.heads != nullptr)
		{
			for (uint32_t head = tile_heads[sort_tile]; head < tile_heads[sort_tile + 1]; head++)
				words[(heads[head] - begin) / 32] |= 1u << (heads[head] - begin) % 32;
		}
		for (uint32_t thread = 0; thread < threads; thread++)
		{
			thread_items<items, Key> keys;

			thread_heads[thread] = mgpu_thread_heads<items>(words.data(), thread) | (thread == 0);
			mgpu_load_forwards(keys, tile.data(), thread * items);
			descent = mgpu_has_descent(keys, thread_heads[thread], tile.data(), thread) || descent;
		}
		if (!descent)
			return;
		good = emulate_cta_sort_segments<threads, items>(tile.data(), thread_heads) && good;
		std::copy(tile.begin(), tile.begin() + (end - begin), side[0].begin() + begin);
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

	/* mgpu_find_range_split */
	uint32_t
	split(const mgpu_active_range &range, uint32_t diagonal)
	{
		uint64_t	low;
		uint64_t	high;

		mgpu_range_split_bounds(range, diagonal, low, high);
		while (low < high)
		{
			uint32_t	num_before = 0;

			for (uint32_t lane = 0; lane < 32; lane++)
				num_before += mgpu_range_split_test(keys(), range, diagonal, (uint32_t) mgpu_split_probe(low, high, lane));
			mgpu_split_narrow(low, high, num_before);
		}
		return (uint32_t) low;
	}

	/* mgpu_plan_segments */
	void
	plan_tile(uint32_t tile, mgpu_pass_stats *counts)
	{
		mgpu_active_range range = mgpu_find_segment_range<tile_items>(pass, tile);
		bool		touched = false;
		bool		in_place = false;

		if (mgpu_touches_range<tile_items>(range, tile) && !mgpu_range_in_order(keys(), range))
		{
			narrow(range);
			touched = mgpu_touches_range<tile_items>(range, tile);
			in_place = mgpu_fits_one_tile<tile_items>(range);
		}
		if (touched && !in_place)
			splits[tile] = split(range, mgpu_tile_diagonal<tile_items>(range, tile));
		if (touched && (!in_place || tile == range.begin / tile_items))
			work.push_back({tile, range});
		next_sides[tile] = sides[tile] ^ (touched && !in_place);
		counts->merge_tiles += touched;
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
		shared_memory<Key> shared(mgpu_inputs_capacity<Key>(tile_items, 2, items));
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

		for (uint64_t begin = 0; begin < pass.num_items; begin += Tuning::sort_tile_items)
			sort_tile((uint32_t) (begin / Tuning::sort_tile_items));
		for (; pass.run_tiles < pass.num_tiles && good; pass.run_tiles *= 2, num_passes++)
		{
			work.clear();
			for (uint32_t tile = 0; tile < pass.num_tiles; tile++)
				plan_tile(tile, &stats.passes[num_passes]);
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

/* The networks inside segments, by zeros and ones and by any keys, for random heads. */
template <int items, typename Key>
static void
check_thread_sort()
{
	bool		good = true;

	for (int round = 0; round < 20000 && good; round++)
	{
		thread_items<items, Key> keys;
		uint32_t	heads = (uint32_t) (random_bits() & (round % 3 == 0 ? random_bits() & random_bits() : random_bits())) &
			mgpu_all_items<items>();
		std::vector<uint32_t> positions = {0};
		std::vector<Key> expected(items);

		for (int i = 0; i < items; i++)
		{
			expected[i] = keys[i] = (Key) (round % 2 == 0 ? random_bits() % 2 : random_bits());
			if (i > 0 && (heads >> i & 1) != 0)
				positions.push_back(i);
		}
		sort_segments<Key>(positions, expected, nullptr);
		mgpu_thread_sort_segments(keys, heads);
		good = std::equal(expected.begin(), expected.end(), keys);
	}
	expect(good, "network of %d keys of %zu bytes inside segments", items, sizeof(Key));
}

void
test_on_host()
{
	typedef unsigned __int128 u128;

	check_thread_sort<31, uint32_t>();
	check_thread_sort<15, uint64_t>();
	check_thread_sort<7, u128>();
	/* small tiles, so that many passes follow */
	check_sorts<mgpu_segmented_tuning<64, 32, 5>, uint32_t>(quick ? 2 : 8);
	check_sorts<mgpu_segmented_tuning<128, 32, 3>, uint64_t>(quick ? 2 : 8);
	/* the kernels' own */
	check_sorts<mgpu_segmented_u32_small, uint32_t>(quick ? 0 : 1);
	check_sorts<mgpu_segmented_u128, u128>(quick ? 0 : 1);
	if (quick)
		return;
	check_sorts<mgpu_segmented_u32_large, uint32_t>(1);
	check_sorts<mgpu_segmented_u64_large, uint64_t>(1);
	check_sorts<mgpu_segmented_u64_small, uint64_t>(0);
}
