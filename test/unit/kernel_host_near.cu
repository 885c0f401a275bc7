/*
 * kernel_host_near.cu
 *		Sorts that use the order that is there, played on the host: where the
 *		sortedness probe samples and how it reverses keys, and the block sort of keys that are near
 *		their places.  Window passes are in kernel_host_windows.cu.
 */
#include "kernel_host_test.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "sort/cta_sort.cuh"
#include "sort/probe_plan.cuh"
#include "sort/quantised_tiles.cuh"
#include "sort/tuning.cuh"

static std::mt19937_64 random_bits(20261121);

/* --------------------------------------------------------------- the probe */

/* Samples lie in the array, and in the runs that they are to compare. */
static void
test_samples(uint64_t num_items, uint64_t first_run_items)
{
	mgpu_probe_plan plan = {num_items, 0, {}, 0};
	bool		inside = true;

	for (uint64_t run_items = first_run_items; plan.num_levels < MGPU_PROBE_LEVELS && 2 * run_items < num_items; run_items *= 4)
		plan.run_items[plan.num_levels++] = run_items;
	for (uint32_t place = 0; place < MGPU_PROBE_PLACES; place++)
		for (uint32_t thread = 0; thread < MGPU_PROBE_THREADS; thread++)
		{
			mgpu_probe_sample sample = mgpu_sample_neighbours(plan, place, thread);

			inside &= sample.item < num_items && !(sample.in_first && sample.in_second);
			for (uint32_t level = 0; level < plan.num_levels; level++)
			{
				uint64_t	run = mgpu_sample_runs(plan, level, place, 0).item / plan.run_items[level];

				sample = mgpu_sample_runs(plan, level, place, thread);
				inside &= sample.item < num_items && sample.in_first != sample.in_second &&
					sample.item / plan.run_items[level] == run + (sample.in_second ? 2 : 0);
			}
		}
	CHECK(inside, "a probe's samples of %llu items in runs of %llu", (unsigned long long) num_items,
		  (unsigned long long) first_run_items);
}

/* Vector by vector, and the keys over, as the kernel does. */
template <typename Key>
static void
test_turning(uint64_t num_items)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = num_items / items;
	uint32_t	over = (uint32_t) (num_items % items);
	std::vector<Key> keys(num_items);
	std::vector<Key> reversed(num_items);

	for (Key &key : keys)
		key = (Key) random_bits();
	for (uint64_t number = 0; number < num_vectors; number++)
	{
		mgpu_key_vector<Key> vector;
		mgpu_key_vector<Key> next;

		for (int i = 0; i < items; i++)
		{
			vector.keys[i] = keys[number * items + i];
			next.keys[i] = (number + 1) * items + i < num_items ? keys[(number + 1) * items + i] : 0;
		}
		vector = mgpu_reverse_vector(vector, next, over);
		for (int i = 0; i < items; i++)
			reversed[(num_vectors - 1 - number) * items + i] = vector.keys[i];
	}
	for (uint32_t i = 0; i < over; i++)
		reversed[num_items - 1 - i] = keys[i];
	std::reverse(keys.begin(), keys.end());
	CHECK(keys == reversed, "%llu keys of %d bytes reversed", (unsigned long long) num_items, (int) sizeof(Key));
}

/* Levels that windows could end a sort from, by the kinds of samples that failed. */
static void
test_outcomes()
{
	mgpu_probe_plan plan = {1000000, 3, {3000, 12000, 48000}, 0};
	mgpu_probe_plan quantised = {10000000, 4, {12032, 6000, 24000, 96000}, 1 << 17};

	CHECK(mgpu_conclude_samples(plan, 0).window_passes == 0 && mgpu_conclude_samples(plan, 0).near, "no sample failed");
	CHECK(mgpu_conclude_samples(plan, MGPU_PROBE_FAR | 1).window_passes == 1 && !mgpu_conclude_samples(plan, MGPU_PROBE_FAR).near,
		  "runs of the first level are too short");
	CHECK(mgpu_conclude_samples(plan, 2).window_passes == 2 && mgpu_conclude_samples(plan, 4).window_passes == -1,
		  "all levels above must hold");
	CHECK(mgpu_conclude_samples(quantised, 2).quantised && mgpu_conclude_samples(quantised, 2).window_passes == 1 &&
		  !mgpu_conclude_samples(quantised, 1).quantised && !mgpu_conclude_samples(quantised, 4).quantised &&
		  !mgpu_conclude_samples(quantised, MGPU_PROBE_LACKS_BITS).quantised, "quantised tiles, where all that is longer holds");
}

/* -------------------------------------------------------------- block sort */

/* One level of a tile; first: see mgpu_merge_runs. */
template <int threads, int items>
static void
play_level(uint32_t (&registers)[threads][items], const mgpu_tile<uint32_t> &tile, uint32_t run_threads, bool has_largest,
		   uint32_t first)
{
	for (uint32_t thread = 0; thread < threads; thread++)
		mgpu_put_run(registers[thread], tile, thread, run_threads);
	for (uint32_t thread = first; thread < threads - first; thread++)
		mgpu_merge_runs(registers[thread], tile, thread, run_threads, has_largest, first);
}

/* mgpu_cta_sort_runs of keys near their places, up to its last level for these. */
template <int threads, int items>
static void
test_near_tile(uint32_t distance, uint32_t divisor, bool has_largest)
{
	constexpr uint32_t run_threads = mgpu_near_run_threads(items);
	constexpr uint32_t run_items = run_threads * items;
	std::vector<uint32_t> slots(mgpu_sort_slots(threads, items));
	mgpu_tile<uint32_t> tile = {slots.data()};
	static uint32_t registers[threads][items];
	std::vector<uint32_t> keys(threads * items);
	std::vector<uint32_t> sorted;
	bool		fails = false;
	bool		wrong = false;

	for (uint32_t i = 0; i < threads * items; i++)
		keys[i] = has_largest && i >= threads * items - 2 * items ? UINT32_MAX :
			distance == UINT32_MAX ? i % run_items > 0 ? keys[i - 1] : (uint32_t) (random_bits() % 4 + i / run_items / 2) :
			(i + (uint32_t) (random_bits() % (distance + 1))) / divisor;
	for (int thread = 0; thread < threads; thread++)
	{
		std::copy(keys.begin() + thread * items, keys.begin() + (thread + 1) * items, registers[thread]);
		mgpu_thread_sort(registers[thread]);
	}
	for (uint32_t level = 1; level <= run_threads; level *= 2)
		play_level(registers, tile, level, has_largest, 0);
	for (int thread = 0; thread < threads; thread++)
		mgpu_put_run(registers[thread], tile, thread, run_threads);
	for (int thread = 0; thread < threads; thread++)
		fails |= mgpu_near_fails(tile, thread, threads, items, run_threads);
	play_level(registers, tile, run_threads, has_largest, run_threads);
	for (int thread = 0; thread < threads; thread++)
		sorted.insert(sorted.end(), registers[thread], registers[thread] + items);
	wrong = !std::is_sorted(sorted.begin(), sorted.end());
	CHECK(fails || !wrong, "a tile of %d x %d keys within %u", threads, items, distance);
	CHECK(!fails || distance > run_items, "a tile of %d x %d keys within %u refused", threads, items, distance);
	std::sort(keys.begin(), keys.end());
	std::sort(sorted.begin(), sorted.end());
	CHECK(keys == sorted, "a tile of %d x %d keys within %u lost some", threads, items, distance);
}

/* ---------------------------------------------------------- quantised tiles */

/* How a tile is sorted: in one round or several, or in one whose codes lack bits. */
struct quantised_form
{
	bool		lossy;
	uint32_t	rounds;
};

template <typename Item>
struct list_sink
{
	Item	   *items;

	MGPU_MEMBER void
	put(uint64_t item, const Item &value) const
	{
		items[item] = value;
	}
};

/* The form of a tile, as the kernel's threads agree on it. */
template <class Source, typename Key>
static mgpu_quantised_form
find_form(const std::vector<Key> &keys, mgpu_quantised_origin *origin)
{
	uint32_t	least = UINT32_MAX;
	uint32_t	greatest = 0;
	bool		far = false;
	std::vector<Key> samples;

	for (uint32_t lane = 0; lane < 32; lane++)
		samples.push_back(keys[mgpu_quantised_sample(lane, (uint32_t) keys.size())]);
	*origin = {0, 0};
	if (sizeof(Key) > sizeof(uint32_t))
		*origin = mgpu_find_quantised_origin(*std::min_element(samples.begin(), samples.end()),
											 *std::max_element(samples.begin(), samples.end()));
	for (Key key : keys)
	{
		uint64_t	steps = (key - origin->key) >> origin->shift;

		far |= steps >> 32 != 0;
		least = std::min(least, (uint32_t) steps);
		greatest = std::max(greatest, (uint32_t) steps);
	}
	return mgpu_find_quantised_form(Source::has_indices, *origin, far, least, greatest);
}

/* Places in order of keys, by digits, each round's codes with ranks of the one before. */
template <typename Key>
static std::vector<uint32_t>
play_rounds(const std::vector<Key> &keys, const mgpu_quantised_form &form)
{
	std::vector<uint32_t> codes(keys.size());
	std::vector<uint32_t> places(keys.size());

	for (size_t i = 0; i < keys.size(); i++)
		places[i] = (uint32_t) i;
	for (uint32_t round = 0; round < form.rounds; round++)
	{
		std::vector<uint32_t> before = places;

		for (size_t rank = 0; rank < keys.size(); rank++)
			codes[rank] = mgpu_quantised_code(form, keys[before[rank]], round, (uint32_t) rank);
		std::sort(codes.begin(), codes.end());
		for (size_t rank = 0; rank < keys.size(); rank++)
			places[rank] = before[mgpu_quantised_place(codes[rank])];
	}
	return places;
}

/* What one round makes of a tile; false: groups are too long. */
template <class Source, typename Key, typename Item>
static bool
play_one_round(const std::vector<Key> &keys, const mgpu_quantised_form &form, std::vector<Item> &items)
{
	constexpr uint32_t low_bits = mgpu_quantised_tuning::low_bits;
	uint32_t	count = (uint32_t) keys.size();
	std::vector<uint32_t> codes(count);
	std::vector<uint8_t> lows(count);
	std::vector<uint32_t> descents((count + 31) / 32);
	list_sink<Item> sink = {items.data()};
	bool		padded = false;
	bool		repaired = true;
	mgpu_lossy_tile<Key> tile = {codes.data(), lows.data(), keys.data(), count, form.shift, (Key) form.base};

	for (uint32_t i = 0; i < count; i++)
	{
		codes[i] = form.has_places ? mgpu_quantised_code(form, keys[i], 0, i) : (uint32_t) (keys[i] - form.base);
		lows[i] = form.shift <= low_bits ? (uint8_t) ((keys[i] - form.base) & ((1u << form.shift) - 1)) : 0xA5;
		padded |= form.has_places && codes[i] == UINT32_MAX;
	}
	CHECK(!padded, "the code of an item pads a tile");
	std::sort(codes.begin(), codes.end());
	for (uint32_t i = 0; i < count; i++)
	{
		Key			key = form.shift > 0 ? tile.key(codes[i]) :
			(Key) (form.base + (form.has_places ? codes[i] >> mgpu_quantised_tuning::place_bits : codes[i]));

		if (i > 0 && form.shift > 0 && key < tile.key(codes[i - 1]))
			descents[i / 32] |= 1u << i % 32;
		sink.put(i, Source::make(key, mgpu_quantised_place(codes[i])));
	}
	for (uint32_t i = 0; i < count; i++)
		if ((descents[i / 32] >> i % 32 & 1) != 0)
			repaired &= mgpu_repair_group<Source>(tile, descents.data(), i, sink, 0);
	return repaired;
}

/* A tile's keys by codes as the kernel sorts them, compared with a stable sort. */
template <class Source, typename Key>
static quantised_form
test_quantised_tile(const std::vector<Key> &keys, const char *name)
{
	typedef decltype(Source::make(Key(), 0)) Item;
	mgpu_quantised_origin origin;
	mgpu_quantised_form form = find_form<Source>(keys, &origin);
	quantised_form way = {form.shift > 0, form.rounds};
	std::vector<uint32_t> expected(keys.size());
	std::vector<Item> items(keys.size());
	bool		right = true;

	for (size_t i = 0; i < keys.size(); i++)
		expected[i] = (uint32_t) i;
	std::stable_sort(expected.begin(), expected.end(), [&] (uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
	if (form.rounds == 1 && !play_one_round<Source>(keys, form, items))
		form = mgpu_find_exact_form(form);
	way.rounds = form.rounds;
	if (form.rounds > 1)
	{
		std::vector<uint32_t> places = play_rounds(keys, form);

		way.lossy = false;
		for (size_t i = 0; i < keys.size(); i++)
			items[i] = Source::make(keys[places[i]], places[i]);
	}
	for (size_t i = 0; i < keys.size(); i++)
	{
		Item		item = Source::make(keys[expected[i]], expected[i]);

		right &= !(item < items[i]) && !(items[i] < item);
	}
	CHECK(right, "a quantised tile of %zu keys from %llu on, %s: %u rounds%s", keys.size(), (unsigned long long) keys.back(), name,
		  way.rounds, way.lossy ? ", bits left out" : "");
	return way;
}

/* Keys that differ in so many bits, from a least one on. */
static void
test_quantised_tiles(uint64_t least, uint32_t bits)
{
	constexpr uint32_t digit_bits = mgpu_quantised_tuning::digit_bits;
	std::vector<uint64_t> keys(40 + random_bits() % (mgpu_quantised_tuning::tile_items - 40));
	uint64_t	most = bits == 0 ? 0 : ~UINT64_C(0) >> (64 - bits);
	std::vector<uint32_t> short_keys;
	quantised_form way;

	for (uint64_t &key : keys)
		key = least + (random_bits() & most);
	keys[0] = least + most;		/* a sample, and the last one too */
	keys.back() = least;
	way = test_quantised_tile<mgpu_plain_source<uint64_t>>(keys, "keys alone");
	CHECK(way.rounds == 1 && way.lossy == (bits > 31), "keys of %u bits alone: %u rounds", bits, way.rounds);
	way = test_quantised_tile<mgpu_indexing_source>(keys, "with indices");
	CHECK(way.rounds == 1 && way.lossy == (bits > digit_bits), "keys of %u bits with indices: %u rounds", bits, way.rounds);
	if (least + most > UINT32_MAX || bits > 32)
		return;
	short_keys.assign(keys.begin(), keys.end());
	way = test_quantised_tile<mgpu_packing_source>(short_keys, "4 bytes");
	CHECK(way.rounds == 1 && way.lossy == (bits > digit_bits), "4-byte keys of %u bits: %u rounds", bits, way.rounds);
}

/* Keys in order far from each other, but for crowds of some that descend and are alike otherwise. */
template <class Source, typename Key>
static void
test_crowded_tile(uint32_t crowd, bool equal)
{
	constexpr uint32_t tile_items = mgpu_quantised_tuning::tile_items;
	constexpr Key step = (Key) ~(Key) 0 / tile_items / 4;
	std::vector<Key> keys(tile_items);
	quantised_form way;
	bool		repaired = equal || crowd <= mgpu_quantised_tuning::group_items;

	for (uint32_t i = 0; i < tile_items; i++)
	{
		keys[i] = (Key) i * step;
		if (i / crowd % 7 == 1)
			keys[i] = (Key) (i / crowd * crowd) * step + (equal ? 0 : (Key) (crowd - i % crowd) / 2 * 3);
	}
	way = test_quantised_tile<Source>(keys, "crowds");
	CHECK(repaired ? way.lossy : !way.lossy && way.rounds == (sizeof(Key) * 8 + 15) / 18, "crowds of %u%s keys: %u rounds%s",
		  crowd, equal ? " equal" : "", way.rounds, way.lossy ? ", bits left out" : "");
}

static void
test_all_quantised_tiles()
{
	std::vector<uint64_t> far_keys(1000, UINT64_C(1) << 50);
	quantised_form way;

	for (uint32_t bits : {0, 1, 17, 18, 19, 26, 27, 31, 32, 33, 52, 63, 64})
		for (uint64_t least : {UINT64_C(0), UINT64_C(5), UINT64_C(1) << 31, UINT64_C(1) << 40, ~UINT64_C(0)})
		{
			uint64_t	highest = bits == 0 ? ~UINT64_C(0) : ~(~UINT64_C(0) >> (64 - bits));

			test_quantised_tiles(std::min(least, highest), bits);
		}
	for (uint32_t crowd : {2, 3, 15, 16, 17, 100, 5000})
		for (bool equal : {false, true})
		{
			test_crowded_tile<mgpu_plain_source<uint64_t>, uint64_t>(crowd, equal);
			test_crowded_tile<mgpu_indexing_source, uint64_t>(crowd, equal);
			test_crowded_tile<mgpu_packing_source, uint32_t>(crowd, equal);
		}
	/* one that no sample sees, far below all, or above */
	for (uint64_t far_key : {UINT64_C(3), ~UINT64_C(0)})
	{
		far_keys[17] = far_key;
		way = test_quantised_tile<mgpu_plain_source<uint64_t>>(far_keys, "one far");
		CHECK(way.rounds == 4, "one far key: %u rounds", way.rounds);
		way = test_quantised_tile<mgpu_indexing_source>(far_keys, "one far");
		CHECK(way.rounds == 4, "one far key with indices: %u rounds", way.rounds);
	}
	for (uint32_t count : {1, 2, 31})
		test_quantised_tile<mgpu_indexing_source>(std::vector<uint64_t>(count, count), "few");
}

void
test_near_sorts_on_host()
{
	test_all_quantised_tiles();
	for (uint64_t num_items : {UINT64_C(262144), UINT64_C(262147), UINT64_C(1000000), UINT64_C(100000001), MGPU_MAX_ITEMS})
		for (uint64_t run_items : {UINT64_C(3825), UINT64_C(11985), UINT64_C(100003)})
			test_samples(num_items, run_items);
	for (uint64_t num_items = 4; num_items < 40; num_items++)
	{
		test_turning<uint32_t>(num_items);
		test_turning<uint64_t>(num_items);
	}
	test_outcomes();
	for (int turn = 0; turn < 400; turn++)
	{
		test_near_tile<256, 7>(turn % 50 * 10, 1 + turn % 3 * 20, turn % 2);
		test_near_tile<256, 47>(turn % 20 * 15, 1 + turn % 3 * 20, turn % 2);
		test_near_tile<256, 51>(turn % 20 * 15, 1 + turn % 3 * 20, turn % 2);
		test_near_tile<128, 15>(turn % 20 * 40, 1, turn % 2);
		test_near_tile<128, 25>(UINT32_MAX, 1, turn % 2);
	}
}
