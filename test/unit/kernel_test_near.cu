/*
 * kernel_test_near.cu
 *		Sorts that use the order that is there: mgpu_auto_sort, and the merge sorts
 *		that end by windows, tuning by tuning.
 *
 * Keys are in order but for what each case says, so that every path is taken: no
 * sort, turning round, windows at once and after passes, and all that samples
 * promise and the proof refuses.  Results are those of std::stable_sort.
 */
#include "kernel_test_near.cuh"

#include <functional>

#include "device/map.h"
#include "executor/auto_sort.h"
#include "sort/tuning.cuh"
#include "sort/window_sort.cuh"

/* --------------------------------------------------------------- by tuning */

/* As the probe says; tile_items: of the block sort. */
template <class Tuning, mgpu_sort_shape shape, typename Key>
static void
check_window_sort(const char *name, const near_case<Key> &test, const mgpu_sortedness &sortedness, uint64_t tile_items)
{
	uint64_t	num_items = test.keys.size();
	bool		ended = false;

	check_near(name, shape, test, mgpu_merge_sorters[shape].temp_bytes(num_items), [&] (mgpu_sort_request *request)
	{
		if constexpr (shape == MGPU_SHAPE_U32_INDEX)
			return mgpu_window_sort_packed<Tuning>(request, &sortedness, &ended);
		else if constexpr (shape == MGPU_SHAPE_U64_INDEX)
			return mgpu_window_sort_indexed<Tuning>(request, &sortedness, &ended);
		else
			return mgpu_window_sort_keys<Tuning, Key>(request, &sortedness, &ended);
	});
	/* whoever is within a run of his place, and only he, is found there */
	CHECK(ended || sortedness.window_passes > 0 || test.pattern != NEAR_PLACES || test.distance > tile_items ||
		  num_items <= tile_items, "%s: %llu items within %llu did not end by windows", name, (unsigned long long) num_items,
		  (unsigned long long) test.distance);
}

template <class Tuning, mgpu_sort_shape shape, typename Key>
static void
check_windows(const char *name, uint64_t num_items, int pattern, uint64_t distance)
{
	near_case<Key> test(pattern, num_items, distance);

	for (int turn = 0; turn < 4; turn++)
	{
		mgpu_sortedness sortedness = {};

		sortedness.near = turn % 2;
		sortedness.window_passes = turn / 2;
		if (!tiny || turn == 1)
			check_window_sort<Tuning, shape>(name, test, sortedness, Tuning::sort_tile_items);
	}
}

template <class Tuning, mgpu_sort_shape shape, typename Key>
static void
check_window_tuning(const char *name)
{
	const uint64_t tile = Tuning::sort_tile_items;
	std::vector<uint64_t> sizes = {3 * tile + Tuning::merge_tile_items / 2, 5 * tile + 1};
	std::vector<uint64_t> distances = {100, tile};

	if (!tiny)
		sizes.insert(sizes.end(), {tile + 1, 2 * tile, 3 * tile - 1, 4 * tile});
	if (!tiny)
		distances.insert(distances.end(), {0, 1, tile - 1, tile + 1, 2 * tile});
	if (!quick)
		sizes.insert(sizes.end(), {9 * tile - 1, 20 * tile + 7});
	for (uint64_t size : sizes)
	{
		for (uint64_t distance : distances)
			for (int pattern : {NEAR_PLACES, NEAR_TWICE, NEAR_ONE_FAR})
			{
				if (!tiny || pattern == NEAR_TWICE)
					check_windows<Tuning, shape, Key>(name, size, pattern, distance);
			}
		check_windows<Tuning, shape, Key>(name, size, NEAR_BLOCKS, tile - 1);
		if (tiny)
			continue;
		for (int pattern : {NEAR_REVERSED, NEAR_ALL_EQUAL, NEAR_ENDS, NEAR_REVERSED_ENDS})
			check_windows<Tuning, shape, Key>(name, size, pattern, 0);
	}
}

/*
 * Where block sort and windows are one launch: more tiles than a device runs at a time,
 * and what only the last tile's CTA finds out.  Of one turn, half of the cases.
 */
static void
check_rounds(uint64_t num_items, int turns)
{
	typedef mgpu_tuning_u32_large tuning;

	reserve_near(num_items);
	for (int pattern : {NEAR_PLACES, NEAR_LAST_FAR})
		for (uint64_t distance : {100, 10000})
		{
			mgpu_sortedness sortedness = {};

			if (turns == 1 && (pattern == NEAR_PLACES) != (distance == 100))
				continue;

			near_case<uint32_t> test(pattern, num_items, distance);

			sortedness.near = distance < MGPU_NEAR_PLACES;
			for (int turn = 0; turn < turns; turn++)
				check_window_sort<tuning, MGPU_SHAPE_U32>("rounds", test, sortedness, tuning::sort_tile_items);
		}
	release_near();
}

/* Compact tiles: keys whose codes say all, codes that lack bits, and, where too many are alike then, rounds. */
template <class Tuning, mgpu_sort_shape shape, typename Key>
static void
check_quantised_tuning(const char *name)
{
	const uint64_t tile = mgpu_quantised_tuning::tile_items;
	std::vector<uint64_t> sizes = {5 * tile + 1};
	std::vector<uint64_t> distances = {100};
	std::vector<int> patterns = {NEAR_TWICE, NEAR_FAR_APART, NEAR_ALL_BITS, NEAR_CROWDS};

	if (!tiny)
	{
		sizes.insert(sizes.end(), {tile + 1, 3 * tile - 7});
		distances.insert(distances.end(), {0, 1, mgpu_quantised_tuning::group_items - 1, mgpu_quantised_tuning::group_items, tile, tile + 1});
		patterns.insert(patterns.end(), {NEAR_PLACES, NEAR_APART, NEAR_ONE_FAR, NEAR_REVERSED, NEAR_ALL_EQUAL, NEAR_ENDS,
			NEAR_REVERSED_ENDS, NEAR_BLOCKS});
	}
	if (!quick)
		sizes.insert(sizes.end(), {2 * tile, 9 * tile - 1, 20 * tile + 7});
	for (uint64_t size : sizes)
		for (uint64_t distance : distances)
			for (int pattern : patterns)
			{
				near_case<Key> test(pattern, size, distance);

				for (bool near : {false, true})
				{
					mgpu_sortedness sortedness = {};

					sortedness.near = near;
					sortedness.quantised = true;
					check_window_sort<Tuning, shape>(name, test, sortedness, tile);
				}
			}
}

/* ------------------------------------------------------------ the probe alone */

/* What is neither in order nor reversed is merged. */
template <typename Key>
static void
check_sortedness(mgpu_sort_shape shape, const near_case<Key> &test)
{
	bool		indexed = shape == MGPU_SHAPE_U32_INDEX || shape == MGPU_SHAPE_U64_INDEX;
	bool		ascends = std::is_sorted(test.keys.begin(), test.keys.end());
	bool		descends = indexed ? std::is_sorted(test.keys.rbegin(), test.keys.rend(), std::less_equal<Key>()) :
		std::is_sorted(test.keys.rbegin(), test.keys.rend());
	uint64_t	num_items = test.keys.size();
	mgpu_sortedness sortedness = {};
	bool		large;			/* elsewhere there are no quantised tiles */

	REQUIRE_CUDA(mgpu_is_large_device(&large));
	check_near("probe", shape, test, mgpu_merge_sorters[shape].temp_bytes(num_items), [&] (mgpu_sort_request *request)
	{
		cudaError_t code = mgpu_probe_sortedness(shape, request, &sortedness);

		if (code == cudaSuccess && !sortedness.reversed && !sortedness.sorted)
			return mgpu_merge_sorters[shape].sort(request);
		if (code == cudaSuccess && sortedness.sorted && indexed)
			return mgpu_launch_iota(request->indices[request->current], num_items, request->stream);
		request->current ^= sortedness.reversed;
		return code;
	});
	CHECK(sortedness.sorted == ascends && sortedness.reversed == (descends && !ascends), "probe, shape %d, %llu items, pattern %d: "
		  "sorted %d, reversed %d", shape, (unsigned long long) num_items, test.pattern, sortedness.sorted, sortedness.reversed);
	if (test.pattern != NEAR_TWICE && test.pattern != NEAR_FAR_APART && test.pattern != NEAR_ALL_BITS && test.pattern != NEAR_CROWDS)
		return;
	CHECK(sortedness.quantised == (large && test.pattern != NEAR_CROWDS && shape != MGPU_SHAPE_U32 && num_items >= MGPU_QUANTISED_MIN_ITEMS),
		  "probe, shape %d, %llu items, pattern %d: quantised %d", shape, (unsigned long long) num_items, test.pattern,
		  sortedness.quantised);
}

template <typename Key>
static void
check_all_sortedness(uint64_t num_items)
{
	for (int pattern = 0; pattern < NUM_NEAR_PATTERNS; pattern++)
	{
		near_case<Key> test(pattern, num_items, pattern == NEAR_PLACES ? 0 : pattern == NEAR_CROWDS ? 39 : 100);

		/* what needs no sort of its own behind */
		if (tiny && pattern != NEAR_PLACES && pattern != NEAR_REVERSED)
			continue;
		check_sortedness(sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32, test);
		check_sortedness(sizeof(Key) == 8 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX, test);
	}
}

/* --------------------------------------------------------------- as it runs */

template <typename Key>
static void
check_auto(mgpu_sort_shape shape, const near_case<Key> &test)
{
	uint64_t	num_items = test.keys.size();

	for (int turn = 0; turn < 3; turn++)
	{
		/* with all that a sort may want, without regions, and with what a merge sort wants */
		uint64_t	temp_bytes = turn < 2 ? mgpu_auto_temp_bytes(shape, num_items) : mgpu_merge_sorters[shape].temp_bytes(num_items);
		mgpu_algorithm ran = MGPU_ALGORITHM_AUTO;
		bool		strict = test.pattern == NEAR_REVERSED || (test.pattern == NEAR_REVERSED_EQUALS && shape <= MGPU_SHAPE_U64);

		if (quick && turn > 0)
			continue;
		check_near("auto", shape, test, temp_bytes, [&] (mgpu_sort_request *request)
		{
			cudaError_t code;

			request->has_regions = turn == 0 && shape != MGPU_SHAPE_U64_INDEX && num_items % 64 == 0;
			code = mgpu_auto_sort(shape, request, sizeof(Key), &ran);
			if (code == cudaSuccess)
				code = cudaStreamSynchronize(request->stream);
			ran = mgpu_auto_ran(&request->pending, ran);
			return code;
		});
		if (num_items < MGPU_PROBE_MIN_ITEMS)
			continue;
		CHECK(ran == MGPU_ALGORITHM_LOCALITY || (ran != MGPU_ALGORITHM_AUTO && !strict && test.pattern != NEAR_ALL_EQUAL &&
												 test.pattern != NEAR_ENDS && (test.pattern != NEAR_PLACES || test.distance > 0)),
			  "auto, shape %d, %llu items, pattern %d: algorithm %d", shape, (unsigned long long) num_items, test.pattern, ran);
	}
}

template <typename Key>
static void
check_all_auto(uint64_t num_items)
{
	const mgpu_sort_shape alone = sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32;
	const mgpu_sort_shape indexed = sizeof(Key) == 8 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX;

	for (int pattern = 0; pattern < NUM_NEAR_PATTERNS; pattern++)
	{
		for (uint64_t distance : {0, 100, 10000})
		{
			if (distance > 0 && pattern != NEAR_PLACES && pattern != NEAR_ONE_FAR && pattern != NEAR_TWICE &&
				pattern != NEAR_APART && pattern != NEAR_FAR_APART && pattern != NEAR_ALL_BITS && pattern != NEAR_CROWDS)
				continue;

			near_case<Key> test(pattern, num_items, distance);

			check_auto(alone, test);
			check_auto(indexed, test);
		}
	}
}

void
test_near_sorts(void)
{
	const uint64_t most_items = quick ? 300000 : 2200000;
	const uint64_t least_items = MGPU_PROBE_MIN_ITEMS;

	reserve_near(most_items);
	check_window_tuning<mgpu_tuning_u32_large, MGPU_SHAPE_U32, uint32_t>("windows, u32, large");
	check_window_tuning<mgpu_tuning_u32_few, MGPU_SHAPE_U32, uint32_t>("windows, u32, few");
	check_window_tuning<mgpu_tuning_u64_large, MGPU_SHAPE_U64, uint64_t>("windows, u64, large");
	check_window_tuning<mgpu_tuning_u64_some, MGPU_SHAPE_U64, uint64_t>("windows, u64, some");
	check_window_tuning<mgpu_tuning_u64_large, MGPU_SHAPE_U32_INDEX, uint32_t>("windows, u32 + index, large");
	check_window_tuning<mgpu_tuning_u64_few, MGPU_SHAPE_U32_INDEX, uint32_t>("windows, u32 + index, few");
	check_window_tuning<mgpu_tuning_u64_index_large, MGPU_SHAPE_U64_INDEX, uint64_t>("windows, u64 + index, large");
	check_quantised_tuning<mgpu_tuning_u64_large, MGPU_SHAPE_U64, uint64_t>("quantised tiles, u64");
	check_quantised_tuning<mgpu_tuning_u64_large, MGPU_SHAPE_U32_INDEX, uint32_t>("quantised tiles, u32 + index");
	check_quantised_tuning<mgpu_tuning_u64_index_large, MGPU_SHAPE_U64_INDEX, uint64_t>("quantised tiles, u64 + index");
	for (uint64_t num_items : {least_items, least_items + 1, least_items + 2, least_items + 3, UINT64_C(2100001)})
	{
		if (num_items > most_items || (tiny && num_items != least_items + 3))
			continue;
		check_all_sortedness<uint32_t>(num_items);
		check_all_sortedness<uint64_t>(num_items);
	}
	if (!own_only)
	{
		for (uint64_t num_items : {least_items - 1, least_items, least_items + 1, least_items + 2, least_items + 3,
			least_items + 6400, UINT64_C(600003), UINT64_C(1600000), UINT64_C(2100001)})
		{
			if (num_items > most_items || (tiny && num_items != least_items + 3))
				continue;
			check_all_auto<uint32_t>(num_items);
			check_all_auto<uint64_t>(num_items);
		}
	}
	release_near();
	/* some rounds of CTAs, whose windows lag a round, and more than MGPU_FUSED_FEW_ROUNDS */
	if (quick && !tiny)
		check_rounds(6000000, 1);
	else if (!tiny)
	{
		check_rounds(12500003, 5);
		check_rounds(40000001, 1);
	}
	test_hurried_windows();
}
