/*
 * kernel_test_sort.cu
 *		Every device sorter against std::stable_sort.
 *
 * Sizes lie around every tile boundary of both classes of device.  Every tuning of
 * the merge sort is also run by itself, since a device and a size choose one.  All
 * device memory is poisoned before each sort, and what lies behind each array must
 * still hold the poison after it.
 */
#include "kernel_test_arrays.cuh"

#include <cstring>

#include "device/map.h"
#include "sort/merge_sort.cuh"
#include "sort/radix_sort.cuh"

static bool radix_is_own;		/* on this device; else it is CUB's */

/* A case's input and its result, the same for all algorithms. */
template <typename Key>
struct sort_case
{
	int			pattern;
	int			key_bits;
	std::vector<Key> keys;
	std::vector<Key> sorted;
	std::vector<uint32_t> indices;

	sort_case(int pattern, uint64_t num_items, int key_bits)
		: pattern(pattern), key_bits(key_bits), keys(num_items), sorted(num_items), indices(num_items)
	{
		for (uint64_t i = 0; i < num_items; i++)
		{
			keys[i] = (Key) pattern_key(pattern, i, num_items, key_bits);
			indices[i] = (uint32_t) i;
		}
		std::stable_sort(indices.begin(), indices.end(), [&] (uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
		for (uint64_t i = 0; i < num_items; i++)
			sorted[i] = keys[indices[i]];
	}
};

template <typename Key>
static void
check_sort(const char *name, const mgpu_device_sorter *sorter, mgpu_sort_shape shape, const sort_case<Key> &sort)
{
	uint64_t	num_items = sort.keys.size();
	mgpu_sort_request request = make_request(shape, num_items, sizeof(Key), sorter->temp_bytes(num_items),
											 sort.key_bits);
	std::vector<Key> keys(num_items);
	std::vector<uint32_t> indices(num_items);
	bool		indexed = request.indices[0] != nullptr;
	cudaError_t code;

	REQUIRE_CUDA(cudaMemcpy(request.keys[request.current], sort.keys.data(), num_items * sizeof(Key),
							cudaMemcpyHostToDevice));
	code = sorter->sort(&request);
	REQUIRE_CUDA(cudaDeviceSynchronize());
	CHECK(code == cudaSuccess, "%s, shape %d, %llu items: %s", name, shape, (unsigned long long) num_items,
		  cudaGetErrorString(code));
	REQUIRE_CUDA(cudaMemcpy(keys.data(), request.keys[request.current], num_items * sizeof(Key),
							cudaMemcpyDeviceToHost));
	CHECK(keys == sort.sorted, "keys, %s, shape %d, %llu items, %s", name, shape, (unsigned long long) num_items,
		  pattern_names[sort.pattern]);
	if (indexed)
	{
		REQUIRE_CUDA(cudaMemcpy(indices.data(), request.indices[request.current], num_items * sizeof(uint32_t),
								cudaMemcpyDeviceToHost));
		CHECK(indices == sort.indices, "indices, %s, shape %d, %llu items, %s", name, shape,
			  (unsigned long long) num_items, pattern_names[sort.pattern]);
	}
	CHECK(arrays_intact(&request, shape == MGPU_SHAPE_U32_INDEX), "memory behind an array was written: %s, shape %d, "
		  "%llu items", name, shape, (unsigned long long) num_items);
}

template <typename Key>
static void
check_sorts(int pattern, uint64_t num_items, int key_bits)
{
	static int turn = 0;		/* racecheck follows every access of every pass: under --tiny one sort in three, of either shape */
	bool		is_64 = sizeof(Key) == 8;
	sort_case<Key> sort(pattern, num_items, key_bits);

	for (mgpu_sort_shape shape : {is_64 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32,
		is_64 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX})
	{
		check_sort("merge", mgpu_find_sorter(MGPU_ALGORITHM_MERGE, shape), shape, sort);
		if ((own_only && !radix_is_own) || (tiny && turn++ % 3 != 0))
			continue;
		check_sort("radix", mgpu_find_sorter(MGPU_ALGORITHM_RADIX, shape), shape, sort);
	}
}

/* ------------------------------------------------------------- one tuning */

template <class Tuning, mgpu_sort_shape shape>
static cudaError_t
sort_by_tuning(mgpu_sort_request *request)
{
	if constexpr (shape == MGPU_SHAPE_U32)
		return mgpu_merge_sort_keys<Tuning, uint32_t>(request);
	else if constexpr (shape == MGPU_SHAPE_U64)
		return mgpu_merge_sort_keys<Tuning, uint64_t>(request);
	else if constexpr (shape == MGPU_SHAPE_U32_INDEX)
		return mgpu_merge_sort_packed<Tuning>(request);
	else
		return mgpu_merge_sort_indexed<Tuning>(request);
}

/* From one tile to a pass of two runs, of many, and two passes. */
template <class Tuning, mgpu_sort_shape shape, typename Key>
static void
check_tuning(const char *name)
{
	const mgpu_device_sorter sorter = {mgpu_merge_sorters[shape].temp_bytes, sort_by_tuning<Tuning, shape>};
	const uint64_t tile = Tuning::tile_items;
	std::vector<uint64_t> sizes = {tile + 1, 3 * tile + tile / 2};

	if (!tiny)
		sizes.insert(sizes.end(), {tile - 1, 2 * tile, 4 * tile - 1, 5 * tile, 8 * tile + 1});
	if (!quick)
		sizes.insert(sizes.end(), {16 * tile, 16 * tile + 5, 32 * tile, 32 * tile + 1, 33 * tile - 3, 65 * tile + 7});
	for (uint64_t size : sizes)
	{
		std::vector<int> patterns = {PATTERN_RANDOM, PATTERN_FEW, PATTERN_MANY_LARGEST};

		if (!tiny)
			patterns.insert(patterns.end(), {PATTERN_SORTED, PATTERN_REVERSED, PATTERN_ALL_EQUAL, PATTERN_ALL_LARGEST,
				PATTERN_BIT_REVERSED, PATTERN_ONE_BANK});
		for (int pattern : patterns)
		{
			if (!tiny || pattern == PATTERN_MANY_LARGEST)
				check_sort(name, &sorter, shape, sort_case<Key>(pattern, size, sizeof(Key) * 8));
		}
	}
}

static void
check_tunings(void)
{
	check_tuning<mgpu_tuning_u32, MGPU_SHAPE_U32, uint32_t>("u32");
	check_tuning<mgpu_tuning_u32_small, MGPU_SHAPE_U32, uint32_t>("u32, small");
	check_tuning<mgpu_tuning_u64, MGPU_SHAPE_U64, uint64_t>("u64");
	check_tuning<mgpu_tuning_u64_small, MGPU_SHAPE_U64, uint64_t>("u64, small");
	check_tuning<mgpu_tuning_u64, MGPU_SHAPE_U32_INDEX, uint32_t>("u32 + index");
	check_tuning<mgpu_tuning_u64_small, MGPU_SHAPE_U32_INDEX, uint32_t>("u32 + index, small");
	check_tuning<mgpu_tuning_u64_index, MGPU_SHAPE_U64_INDEX, uint64_t>("u64 + index");
	check_tuning<mgpu_tuning_u64_index_small, MGPU_SHAPE_U64_INDEX, uint64_t>("u64 + index, small");
}

/* ------------------------------------------------------------------- sizes */

/* Sizes around the tiles of one tuning and small multiples of them. */
template <class Tuning>
static void
add_sizes(std::vector<uint64_t> &sizes)
{
	for (uint64_t tiles : {1, 2, 4, 8})
	{
		if (quick && tiles > 2)
			continue;
		for (int delta = -1; delta <= 1; delta++)
			sizes.push_back((uint64_t) Tuning::tile_items * tiles + delta);
	}
	if (!quick)
		sizes.push_back(3 * Tuning::tile_items + 7);
}

template <class... Tunings>
static void
add_tile_sizes(mgpu_tile_tunings<Tunings...>, std::vector<uint64_t> &sizes)
{
	(add_sizes<Tunings>(sizes), ...);
}

/* … and around tiles of the radix sort: the last one short by up to a warp, or with an item alone. */
template <class Tuning>
static void
add_radix_sizes(std::vector<uint64_t> &sizes)
{
	for (uint64_t tiles : {1, 3})
		for (int delta : {-33, -1, 0, 1})
			sizes.push_back(tiles * Tuning::tile_items + delta);
	if (!quick)
		sizes.push_back(40 * Tuning::tile_items + Tuning::tile_items / 2);
}

template <typename Key>
static void
check_sizes(std::vector<uint64_t> sizes)
{
	for (uint64_t size : {1, 2, 3, 31, 32, 33, 100, 1000})
		sizes.push_back(size);
	for (int i = 0; i < (quick ? 2 : 12); i++)
		sizes.push_back(1 + random_bits() % (quick ? 40000 : 400000));
	std::sort(sizes.begin(), sizes.end());
	sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
	for (size_t i = 0; tiny && i < sizes.size(); i++)
		sizes.erase(sizes.begin() + i, sizes.begin() + std::min(i + 4, sizes.size() - 1));
	for (uint64_t size : sizes)
	{
		for (int pattern = 0; pattern < (tiny ? 1 : quick ? 3 : (int) NUM_PATTERNS); pattern++)
			check_sorts<Key>(pattern, size, sizeof(Key) * 8);
	}
	if (quick)
		return;
	check_sorts<Key>(PATTERN_RANDOM, 5000000 + random_bits() % 1000, sizeof(Key) * 8);
	check_sorts<Key>(PATTERN_FEW, 3000000 + random_bits() % 1000, sizeof(Key) * 8);
	check_sorts<Key>(PATTERN_MANY_LARGEST, 2000000 + random_bits() % 1000, sizeof(Key) * 8);
	check_sorts<Key>(PATTERN_RANDOM, 1200000 + random_bits() % 1000, sizeof(Key) * 8);
	check_sorts<Key>(PATTERN_BIT_REVERSED, 4194304, sizeof(Key) * 8);
	check_sorts<Key>(PATTERN_ONE_BANK, 1048576, sizeof(Key) * 8);
}

void
test_device_sorts(void)
{
	const uint64_t most_items = quick ? 200000 : 5100000;
	std::vector<uint64_t> sizes_32;
	std::vector<uint64_t> sizes_64;

	for (int side = 0; side < 2; side++)
	{
		arrays.keys[side].reserve(most_items * 8 + 1024);
		arrays.indices[side].reserve(most_items * 4);
	}
	arrays.temp.reserve(mgpu_radix_sorters[0].temp_bytes(most_items));
	add_sizes<mgpu_tuning_u32>(sizes_32);
	add_sizes<mgpu_tuning_u32_small>(sizes_32);
	add_sizes<mgpu_tuning_u64>(sizes_32);	/* packed pairs */
	add_sizes<mgpu_tuning_u64_small>(sizes_32);
	add_sizes<mgpu_tuning_u64>(sizes_64);
	add_sizes<mgpu_tuning_u64_small>(sizes_64);
	add_sizes<mgpu_tuning_u64_index>(sizes_64);
	add_sizes<mgpu_tuning_u64_index_small>(sizes_64);
	add_tile_sizes(mgpu_tiles_u32(), sizes_32);
	add_tile_sizes(mgpu_tiles_u64(), sizes_32);	/* packed pairs */
	add_tile_sizes(mgpu_tiles_u64(), sizes_64);
	add_tile_sizes(mgpu_tiles_u64_index(), sizes_64);
	add_radix_sizes<mgpu_radix_tuning_u32>(sizes_32);
	add_radix_sizes<mgpu_radix_tuning_u32_index>(sizes_32);
	add_radix_sizes<mgpu_radix_tuning_u64>(sizes_64);
	add_radix_sizes<mgpu_radix_tuning_u64_index>(sizes_64);
	REQUIRE_CUDA(mgpu_is_large_device(&radix_is_own));
	check_tunings();
	check_sizes<uint32_t>(sizes_32);
	check_sizes<uint64_t>(sizes_64);
	/* codes of 1- and 2-byte keys: radix sort looks at their bits alone */
	check_sorts<uint32_t>(PATTERN_RANDOM, 70001, 8);
	check_sorts<uint32_t>(PATTERN_RANDOM, 70001, 16);
	check_sorts<uint32_t>(PATTERN_ALL_LARGEST, 70001, 8);
	/* … and at those of a narrow range: an odd and an even number of passes, the last with fewer bits */
	for (int key_bits : {1, 9, 17, 24, 31})
		check_sorts<uint32_t>(PATTERN_RANDOM, 50021, key_bits);
	for (int key_bits : {5, 33, 40, 63})
		check_sorts<uint64_t>(PATTERN_RANDOM, 50021, key_bits);
	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaFree(arrays.keys[side].memory));
		REQUIRE_CUDA(cudaFree(arrays.indices[side].memory));
	}
	REQUIRE_CUDA(cudaFree(arrays.temp.memory));
}
