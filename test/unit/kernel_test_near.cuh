/*
 * kernel_test_near.cuh
 *		Keys that are in order but for what each case says, and what a sort must make
 *		of them.
 */
#ifndef MGPU_KERNEL_TEST_NEAR_CUH
#define MGPU_KERNEL_TEST_NEAR_CUH

#include "kernel_test_arrays.cuh"

typedef enum near_pattern
{
	NEAR_PLACES = 0,			/* each key within `distance` of its place */
	NEAR_TWICE,					/* the same, and each key there some times */
	NEAR_ONE_FAR,				/* the same, but for one key that is anywhere */
	NEAR_LAST_FAR,				/* the same, but for the last key, which is the least */
	NEAR_REVERSED,
	NEAR_REVERSED_EQUALS,		/* in runs of equal keys */
	NEAR_ALL_EQUAL,
	NEAR_ENDS,					/* the least key, some times, then the largest */
	NEAR_REVERSED_ENDS,
	NEAR_SORTED_BUT_PAIR,		/* two neighbours that are not, anywhere */
	NEAR_REVERSED_BUT_PAIR,
	NEAR_APPENDED,				/* a batch in no order behind */
	NEAR_NARROW,				/* in no order, of few bits */
	NEAR_BLOCKS,				/* of distance + 1 keys that are alike, by fours in block_order */
	NEAR_APART,					/* within `distance`, and a thousand from the next key */
	NEAR_FAR_APART,				/* the same, over all that a key can hold */
	NEAR_ALL_BITS,				/* the same, and all bits count */
	NEAR_CROWDS,				/* in order over all that a key can hold, half of them in crowds of distance + 1 of four values */
	NUM_NEAR_PATTERNS
} near_pattern;

/* Each is before the next but one, or like it, and yet the last belongs to the second's places. */
static const int block_order[4] = {3, 1, 3, 2};

template <typename Key>
struct near_case
{
	int			pattern;
	uint64_t	distance;
	std::vector<Key> keys;
	std::vector<Key> sorted;
	std::vector<uint32_t> indices;

	near_case(int pattern, uint64_t num_items, uint64_t distance)
		: pattern(pattern), distance(distance), keys(num_items), sorted(num_items), indices(num_items)
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
			case NEAR_TWICE:
				return (Key) ((i + random_bits() % (distance + 1)) / 8);
			case NEAR_REVERSED:
			case NEAR_REVERSED_BUT_PAIR:
				return (Key) (num_items - i) * 3;
			case NEAR_REVERSED_EQUALS:
				return (Key) ((num_items - i) / 5);
			case NEAR_ALL_EQUAL:
				return (Key) 42;
			case NEAR_ENDS:
				return i < num_items / 3 ? 0 : (Key) ~(Key) 0;
			case NEAR_REVERSED_ENDS:
				return i < num_items / 3 ? (Key) ~(Key) 0 : 0;
			case NEAR_SORTED_BUT_PAIR:
				return (Key) i * 3;
			case NEAR_APPENDED:
				return (Key) (i < num_items - num_items / 30 ? i : random_bits() % num_items);
			case NEAR_NARROW:
				return (Key) (random_bits() % 1000);
			case NEAR_APART:
				return (Key) ((i + random_bits() % (distance + 1)) * 1000 + random_bits() % 1000);
			case NEAR_FAR_APART:
				return (Key) ((i + random_bits() % (distance + 1)) * ((Key) ~(Key) 0 / (num_items + distance)));
			case NEAR_ALL_BITS:
			{
				Key			step = (Key) ~(Key) 0 / (Key) (num_items + distance + 1);

				return (Key) (i + random_bits() % (distance + 1)) * step + (Key) random_bits() % step;
			}
			case NEAR_CROWDS:
			{
				uint64_t	stretch = i / (distance + 1);
				Key			step = (Key) ~(Key) 0 / (Key) num_items;

				return stretch % 2 == 0 ? (Key) i * step : (Key) (stretch * (distance + 1)) * step + (Key) (random_bits() % 4);
			}
			case NEAR_BLOCKS:
				return (Key) (i / (distance + 1) / 4 * 4 + block_order[i / (distance + 1) % 4]);
			default:
				return (Key) (i + random_bits() % (distance + 1));
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
	}
};

/* Compare with what the sort left, after `sort` of a request. */
template <typename Key, typename Sort>
static void
check_near(const char *name, mgpu_sort_shape shape, const near_case<Key> &test, uint64_t temp_bytes, Sort sort)
{
	uint64_t	num_items = test.keys.size();
	mgpu_sort_request request = make_request(shape, num_items, sizeof(Key), temp_bytes, sizeof(Key) * 8);
	std::vector<Key> keys(num_items);
	std::vector<uint32_t> indices(num_items);
	cudaError_t code;

	REQUIRE_CUDA(cudaMemcpy(request.keys[request.current], test.keys.data(), num_items * sizeof(Key),
							cudaMemcpyHostToDevice));
	code = sort(&request);
	REQUIRE_CUDA(cudaDeviceSynchronize());
	CHECK(code == cudaSuccess, "%s, shape %d, %llu items: %s", name, shape, (unsigned long long) num_items,
		  cudaGetErrorString(code));
	REQUIRE_CUDA(cudaMemcpy(keys.data(), request.keys[request.current], num_items * sizeof(Key), cudaMemcpyDeviceToHost));
	CHECK(keys == test.sorted, "keys, %s, shape %d, %llu items, pattern %d within %llu", name, shape,
		  (unsigned long long) num_items, test.pattern, (unsigned long long) test.distance);
	CHECK(arrays_intact(&request, shape == MGPU_SHAPE_U32_INDEX), "memory behind an array was written: %s, shape %d, "
		  "%llu items, pattern %d", name, shape, (unsigned long long) num_items, test.pattern);
	if (request.indices[0] == nullptr)
		return;
	REQUIRE_CUDA(cudaMemcpy(indices.data(), request.indices[request.current], num_items * sizeof(uint32_t),
							cudaMemcpyDeviceToHost));
	CHECK(indices == test.indices, "indices, %s, shape %d, %llu items, pattern %d within %llu", name, shape,
		  (unsigned long long) num_items, test.pattern, (unsigned long long) test.distance);
}

/* Device memory for so many items of any shape; given back by release_near. */
static void
reserve_near(uint64_t most_items)
{
	for (int side = 0; side < 2; side++)
	{
		arrays.keys[side].reserve(most_items * 8 + 1024);
		arrays.indices[side].reserve(most_items * 4);
	}
	arrays.temp.reserve(most_items * 2 + (1 << 20));
}

static void
release_near(void)
{
	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaFree(arrays.keys[side].memory));
		REQUIRE_CUDA(cudaFree(arrays.indices[side].memory));
	}
	REQUIRE_CUDA(cudaFree(arrays.temp.memory));
}

#endif							/* MGPU_KERNEL_TEST_NEAR_CUH */
