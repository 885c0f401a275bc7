/*
 * kernel_test_auto.cu
 *		The sort of `auto`, and its sortedness probe, on keys that are in order but for
 *		what each case says.
 *
 * Every answer of the probe comes up, and behind "no order" the merge sort and the
 * radix sort.  Results are those of std::stable_sort.
 */
#include "kernel_test_arrays.cuh"

#include <functional>

#include "sort/probe.h"
#include "sort/tuning.cuh"

typedef enum near_pattern
{
	NEAR_SORTED = 0,
	NEAR_SORTED_EQUALS,			/* in runs of equal keys */
	NEAR_PLACES,				/* each key within NEAR_DISTANCE of its place */
	NEAR_TWICE,					/* the same, and each key there some times */
	NEAR_ONE_FAR,				/* in order, but for one key that is anywhere */
	NEAR_LAST_FAR,				/* in order, but for the last key, which is the least */
	NEAR_REVERSED,
	NEAR_REVERSED_EQUALS,
	NEAR_ALL_EQUAL,
	NEAR_ENDS,					/* the least key, some times, then the largest */
	NEAR_REVERSED_ENDS,
	NEAR_SORTED_BUT_PAIR,		/* two neighbours that are not, anywhere */
	NEAR_REVERSED_BUT_PAIR,
	NEAR_REVERSED_BUT_EQUALS,	/* two neighbours are equal */
	NEAR_TWO_LISTS,				/* one behind the other, each in order */
	NEAR_APPENDED,				/* a batch in no order behind */
	NUM_NEAR_PATTERNS
} near_pattern;

#define NEAR_DISTANCE 100

template <typename Key>
struct near_case
{
	int			pattern;
	std::vector<Key> keys;
	std::vector<Key> sorted;
	std::vector<uint32_t> indices;

	near_case(int pattern, uint64_t num_items)
		: pattern(pattern), keys(num_items), sorted(num_items), indices(num_items)
	{
		for (uint64_t i = 0; i < num_items; i++)
		{
			keys[i] = key(i, num_items);
			indices[i] = (uint32_t) i;
		}
		spoil(num_items);
		std::stable_sort(indices.begin(), indices.end(), [&] (uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
		for (uint64_t i = 0; i < num_items; i++)
			sorted[i] = keys[indices[i]];
	}

	Key
	key(uint64_t i, uint64_t num_items) const
	{
		switch (pattern)
		{
			case NEAR_SORTED_EQUALS:
				return (Key) (i / 5);
			case NEAR_PLACES:
				return (Key) (i + random_bits() % (NEAR_DISTANCE + 1));
			case NEAR_TWICE:
				return (Key) ((i + random_bits() % (NEAR_DISTANCE + 1)) / 8);
			case NEAR_REVERSED:
			case NEAR_REVERSED_BUT_PAIR:
			case NEAR_REVERSED_BUT_EQUALS:
				return (Key) (num_items - i) * 3;
			case NEAR_REVERSED_EQUALS:
				return (Key) ((num_items - i) / 5);
			case NEAR_ALL_EQUAL:
				return (Key) 42;
			case NEAR_ENDS:
				return i < num_items / 3 ? 0 : (Key) ~(Key) 0;
			case NEAR_REVERSED_ENDS:
				return i < num_items / 3 ? (Key) ~(Key) 0 : 0;
			case NEAR_TWO_LISTS:
				return (Key) (i < num_items / 2 ? i : i - num_items / 2) * 3;
			case NEAR_APPENDED:
				return (Key) (i < num_items - num_items / 30 ? i : random_bits() % num_items);
			default:
				return (Key) i * 3;
		}
	}

	void
	spoil(uint64_t num_items)
	{
		uint64_t	item = random_bits() % (num_items - 1);

		if (pattern == NEAR_LAST_FAR)
			keys[num_items - 1] = 0;
		if (pattern == NEAR_ONE_FAR)
			keys[item] = (Key) (random_bits() % num_items);
		if (pattern == NEAR_SORTED_BUT_PAIR || pattern == NEAR_REVERSED_BUT_PAIR)
			std::swap(keys[item], keys[item + 1]);
		if (pattern == NEAR_REVERSED_BUT_EQUALS)
			keys[item] = keys[item + 1];
	}

	/* What the probe should say. indexed: equal keys must not change places. */
	mgpu_sortedness
	sortedness(bool indexed) const
	{
		bool		descends = indexed ? std::is_sorted(keys.rbegin(), keys.rend(), std::less_equal<Key>()) :
			std::is_sorted(keys.rbegin(), keys.rend());

		if (std::is_sorted(keys.begin(), keys.end()))
			return MGPU_KEYS_SORTED;
		return descends ? MGPU_KEYS_REVERSED : MGPU_KEYS_UNSORTED;
	}
};

/* algorithm: for keys in no order. */
template <typename Key>
static void
check_auto(mgpu_sort_shape shape, mgpu_algorithm algorithm, const near_case<Key> &test)
{
	uint64_t	num_items = test.keys.size();
	uint64_t	temp_bytes = mgpu_find_sorter(algorithm, shape)->temp_bytes(num_items);
	mgpu_sort_request request = make_request(shape, num_items, sizeof(Key), temp_bytes, sizeof(Key) * 8);
	bool		indexed = request.indices[0] != nullptr;
	bool		in_order = num_items >= MGPU_PROBE_MIN_ITEMS && test.sortedness(indexed) != MGPU_KEYS_UNSORTED;
	mgpu_algorithm ran = algorithm;
	std::vector<Key> keys(num_items);
	std::vector<uint32_t> indices(num_items);
	cudaError_t code;

	REQUIRE_CUDA(cudaMemcpy(request.keys[request.current], test.keys.data(), num_items * sizeof(Key),
							cudaMemcpyHostToDevice));
	code = mgpu_auto_sort(shape, &request, &ran);
	REQUIRE_CUDA(cudaDeviceSynchronize());
	CHECK(code == cudaSuccess && ran == (in_order ? MGPU_ALGORITHM_LOCALITY : algorithm),
		  "shape %d, %llu items, pattern %d: %s, algorithm %d for %d", shape, (unsigned long long) num_items, test.pattern,
		  cudaGetErrorString(code), ran, algorithm);
	REQUIRE_CUDA(cudaMemcpy(keys.data(), request.keys[request.current], num_items * sizeof(Key), cudaMemcpyDeviceToHost));
	CHECK(keys == test.sorted, "keys, shape %d, %llu items, pattern %d, algorithm %d", shape,
		  (unsigned long long) num_items, test.pattern, ran);
	CHECK(arrays_intact(&request, shape == MGPU_SHAPE_U32_INDEX), "memory behind an array was written: shape %d, %llu items, "
		  "pattern %d, algorithm %d", shape, (unsigned long long) num_items, test.pattern, ran);
	if (!indexed)
		return;
	REQUIRE_CUDA(cudaMemcpy(indices.data(), request.indices[request.current], num_items * sizeof(uint32_t),
							cudaMemcpyDeviceToHost));
	CHECK(indices == test.indices, "indices, shape %d, %llu items, pattern %d, algorithm %d", shape,
		  (unsigned long long) num_items, test.pattern, ran);
}

/* The probe by itself, which leaves the keys alone. */
template <typename Key>
static void
check_probe(mgpu_sort_shape shape, const near_case<Key> &test)
{
	uint64_t	num_items = test.keys.size();
	mgpu_sort_request request = make_request(shape, num_items, sizeof(Key), 0, sizeof(Key) * 8);
	mgpu_sortedness sortedness = MGPU_KEYS_UNSORTED;
	std::vector<Key> keys(num_items);

	REQUIRE_CUDA(cudaMemcpy(request.keys[request.current], test.keys.data(), num_items * sizeof(Key),
							cudaMemcpyHostToDevice));
	REQUIRE_CUDA(mgpu_probe_sortedness(shape, &request, &sortedness));
	REQUIRE_CUDA(cudaDeviceSynchronize());
	CHECK(sortedness == test.sortedness(request.indices[0] != nullptr), "probe, shape %d, %llu items, pattern %d: %d", shape,
		  (unsigned long long) num_items, test.pattern, sortedness);
	REQUIRE_CUDA(cudaMemcpy(keys.data(), request.keys[request.current], num_items * sizeof(Key), cudaMemcpyDeviceToHost));
	CHECK(keys == test.keys, "probe, shape %d, %llu items, pattern %d: it changed keys", shape,
		  (unsigned long long) num_items, test.pattern);
}

template <typename Key>
static void
check_patterns(uint64_t num_items)
{
	for (int pattern = 0; pattern < NUM_NEAR_PATTERNS; pattern++)
	{
		/* racecheck: each answer once */
		if (tiny && pattern != NEAR_SORTED && pattern != NEAR_REVERSED && pattern != NEAR_TWICE)
			continue;

		near_case<Key> test(pattern, num_items);

		for (mgpu_sort_shape shape : {sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32,
			sizeof(Key) == 8 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX})
		{
			if (num_items >= MGPU_PROBE_MIN_ITEMS)
				check_probe(shape, test);
			for (mgpu_algorithm algorithm : {MGPU_ALGORITHM_MERGE, MGPU_ALGORITHM_RADIX})
			{
				if (!own_only || algorithm == MGPU_ALGORITHM_MERGE)
					check_auto(shape, algorithm, test);
			}
		}
	}
}

void
test_auto_sorts(void)
{
	const uint64_t most_items = quick ? 300000 : 2200000;
	const uint64_t least_items = MGPU_PROBE_MIN_ITEMS;

	for (int side = 0; side < 2; side++)
	{
		arrays.keys[side].reserve(most_items * 8 + 1024);
		arrays.indices[side].reserve(most_items * 4);
	}
	arrays.temp.reserve(mgpu_radix_sorters[0].temp_bytes(most_items));
	for (uint64_t num_items : {least_items - 1, least_items, least_items + 1, least_items + 2, least_items + 3,
		least_items + 6400, UINT64_C(600003), UINT64_C(1600000), UINT64_C(2100001)})
	{
		if (num_items > most_items || (tiny && num_items != least_items + 3))
			continue;
		check_patterns<uint32_t>(num_items);
		check_patterns<uint64_t>(num_items);
	}
	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaFree(arrays.keys[side].memory));
		REQUIRE_CUDA(cudaFree(arrays.indices[side].memory));
	}
	REQUIRE_CUDA(cudaFree(arrays.temp.memory));
}
