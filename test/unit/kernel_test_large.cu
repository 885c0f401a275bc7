/*
 * kernel_test_large.cu
 *		Sorts of more than 2^31 items: 64-bit arithmetic where it matters; and of
 *		10^8, which take as many k-way passes as any.
 *
 * Keys are a hash of their position, so that the device itself can make and
 * check them: results ascend, ties ascend by index, the key of an index is its
 * hash, and the sum of all keys (or of all indices) is that of the input.
 */
#include "kernel_test.cuh"

#include "sort/sorter.h"

#define CHECK_THREADS 256

struct large_totals
{
	unsigned long long misplaced;
	unsigned long long wrong_keys;
	unsigned long long sum;
};

static __device__ __forceinline__ uint32_t
hashed_key(uint64_t item)
{
	item = (item ^ item >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	item = (item ^ item >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
	return (uint32_t) (item >> 32);
}

static __global__ void
make_keys(uint32_t *keys, uint64_t num_items, unsigned long long *sum)
{
	uint64_t	stride = (uint64_t) gridDim.x * CHECK_THREADS;
	unsigned long long own_sum = 0;

	for (uint64_t item = (uint64_t) blockIdx.x * CHECK_THREADS + threadIdx.x; item < num_items; item += stride)
	{
		keys[item] = hashed_key(item);
		own_sum += keys[item];
	}
	atomicAdd(sum, own_sum);
}

/* indices may be NULL; the sum is of keys, or of indices where there are any */
static __global__ void
check_keys(const uint32_t *keys, const uint32_t *indices, uint64_t num_items, large_totals *totals)
{
	uint64_t	stride = (uint64_t) gridDim.x * CHECK_THREADS;
	large_totals own = {};

	for (uint64_t item = (uint64_t) blockIdx.x * CHECK_THREADS + threadIdx.x; item < num_items; item += stride)
	{
		own.sum += indices != nullptr ? indices[item] : keys[item];
		own.wrong_keys += indices != nullptr && keys[item] != hashed_key(indices[item]);
		own.misplaced += item > 0 && (keys[item] < keys[item - 1] ||
									  (indices != nullptr && keys[item] == keys[item - 1] &&
									   indices[item] <= indices[item - 1]));
	}
	atomicAdd(&totals->misplaced, own.misplaced);
	atomicAdd(&totals->wrong_keys, own.wrong_keys);
	atomicAdd(&totals->sum, own.sum);
}

static void
check_large(mgpu_algorithm algorithm, mgpu_sort_shape shape, uint64_t num_items)
{
	const mgpu_device_sorter *sorter = mgpu_find_sorter(algorithm, shape);
	bool		indexed = shape == MGPU_SHAPE_U32_INDEX;
	uint64_t	array_bytes = mgpu_padded_items(num_items) * sizeof(uint32_t);
	mgpu_sort_request request = {};
	large_totals *totals;
	large_totals host_totals;
	unsigned long long expected_sum;
	cudaError_t code;

	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaMalloc(&request.keys[side], indexed ? 2 * array_bytes : array_bytes));
		if (indexed)
			request.indices[side] = (uint32_t *) ((char *) request.keys[side] + array_bytes);
	}
	request.temp_bytes = sorter->temp_bytes(num_items);
	REQUIRE_CUDA(cudaMalloc(&request.temp, request.temp_bytes));
	REQUIRE_CUDA(cudaMalloc((void **) &totals, sizeof(*totals)));
	REQUIRE_CUDA(cudaMemset(totals, 0, sizeof(*totals)));
	request.key_bits = 32;
	request.num_items = num_items;
	make_keys<<<4096, CHECK_THREADS>>>((uint32_t *) request.keys[0], num_items, &totals->sum);
	REQUIRE_CUDA(cudaMemcpy(&host_totals, totals, sizeof(*totals), cudaMemcpyDeviceToHost));
	expected_sum = indexed ? (unsigned long long) num_items * (num_items - 1) / 2 : host_totals.sum;
	REQUIRE_CUDA(cudaMemset(totals, 0, sizeof(*totals)));
	code = sorter->sort(&request);
	if (code == cudaSuccess)
		check_keys<<<4096, CHECK_THREADS>>>((const uint32_t *) request.keys[request.current],
											indexed ? request.indices[request.current] : nullptr, num_items, totals);
	REQUIRE_CUDA(cudaMemcpy(&host_totals, totals, sizeof(*totals), cudaMemcpyDeviceToHost));
	CHECK(code == cudaSuccess && host_totals.misplaced == 0 && host_totals.wrong_keys == 0 &&
		  host_totals.sum == expected_sum, "algorithm %d, shape %d, %llu items: %s, %llu misplaced, %llu wrong keys, "
		  "sum %llu instead of %llu", algorithm, shape, (unsigned long long) num_items, cudaGetErrorString(code),
		  host_totals.misplaced, host_totals.wrong_keys, host_totals.sum, expected_sum);
	for (int side = 0; side < 2; side++)
		REQUIRE_CUDA(cudaFree(request.keys[side]));
	REQUIRE_CUDA(cudaFree(request.temp));
	REQUIRE_CUDA(cudaFree(totals));
}

void
test_k_way_sorts(void)
{
	check_large(MGPU_ALGORITHM_MERGE, MGPU_SHAPE_U32, 100000007);
	check_large(MGPU_ALGORITHM_MERGE, MGPU_SHAPE_U32_INDEX, 100000007);
}

void
test_large_sorts(void)
{
	const uint64_t num_items = (UINT64_C(1) << 31) + 12345678;

	check_large(MGPU_ALGORITHM_MERGE, MGPU_SHAPE_U32, num_items);
	check_large(MGPU_ALGORITHM_RADIX, MGPU_SHAPE_U32, num_items);
	check_large(MGPU_ALGORITHM_MERGE, MGPU_SHAPE_U32_INDEX, num_items);
	check_large(MGPU_ALGORITHM_RADIX, MGPU_SHAPE_U32_INDEX, num_items);
	printf("sorts of %llu items done\n", (unsigned long long) num_items);
}
