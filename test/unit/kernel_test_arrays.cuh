/*
 * kernel_test_arrays.cuh
 *		Device memory of tests of sorts: poisoned, with canaries behind each array.
 */
#ifndef MGPU_KERNEL_TEST_ARRAYS_CUH
#define MGPU_KERNEL_TEST_ARRAYS_CUH

#include "kernel_test.cuh"

#include <algorithm>

#include "sort/sorter.h"

#define POISON 0xA5
#define CANARY_BYTES 1024

/* One device array of the test, with canaries behind it. */
struct device_array
{
	char	   *memory = nullptr;
	uint64_t	capacity = 0;
	uint64_t	bytes = 0;

	void
	reserve(uint64_t most_bytes)
	{
		capacity = most_bytes + CANARY_BYTES;
		REQUIRE_CUDA(cudaMalloc((void **) &memory, capacity));
	}

	/* Poison all that `new_bytes` and the canaries take. */
	void
	reset(uint64_t new_bytes)
	{
		bytes = new_bytes;
		REQUIRE_CUDA(cudaMemset(memory, POISON, bytes + CANARY_BYTES));
	}

	bool
	intact() const
	{
		std::vector<unsigned char> canary(CANARY_BYTES);

		REQUIRE_CUDA(cudaMemcpy(canary.data(), memory + bytes, CANARY_BYTES, cudaMemcpyDeviceToHost));
		return std::all_of(canary.begin(), canary.end(), [] (unsigned char byte) { return byte == POISON; });
	}
};

struct sort_arrays
{
	device_array keys[2];
	device_array indices[2];
	device_array temp;
};

static sort_arrays arrays;

/* Lay out the arrays of a request; current alternates over the tests. */
static inline mgpu_sort_request
make_request(mgpu_sort_shape shape, uint64_t num_items, uint64_t key_bytes, uint64_t temp_bytes, int key_bits)
{
	static int	current = 0;
	bool		packed = shape == MGPU_SHAPE_U32_INDEX;
	bool		indexed = packed || shape == MGPU_SHAPE_U64_INDEX;
	uint64_t	padded_bytes = mgpu_padded_items(num_items) * sizeof(uint32_t);
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		arrays.keys[side].reset(packed ? 2 * padded_bytes : num_items * key_bytes);
		request.keys[side] = arrays.keys[side].memory;
		if (packed)
			request.indices[side] = (uint32_t *) (arrays.keys[side].memory + padded_bytes);
		else if (indexed)
		{
			arrays.indices[side].reset(num_items * sizeof(uint32_t));
			request.indices[side] = (uint32_t *) arrays.indices[side].memory;
		}
	}
	arrays.temp.reset(temp_bytes);
	request.current = current ^= 1;
	request.key_bits = (uint32_t) key_bits;
	request.num_items = num_items;
	request.temp = arrays.temp.memory;
	request.temp_bytes = temp_bytes;
	return request;
}

static inline bool
arrays_intact(const mgpu_sort_request *request, bool packed)
{
	bool		intact = arrays.temp.intact();

	for (int side = 0; side < 2; side++)
	{
		intact = intact && arrays.keys[side].intact();
		if (request->indices[side] != nullptr && !packed)
			intact = intact && arrays.indices[side].intact();
	}
	return intact;
}

#endif							/* MGPU_KERNEL_TEST_ARRAYS_CUH */
