/*
 * kernel_bench_device.cuh
 *		What all benches of kernels share: failures of CUDA, device memory, mixed bits.
 */
#ifndef MGPU_KERNEL_BENCH_DEVICE_CUH
#define MGPU_KERNEL_BENCH_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define REQUIRE_CUDA(call) \
	do { \
		cudaError_t require_code = (call); \
		if (require_code != cudaSuccess) \
		{ \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(require_code)); \
			exit(1); \
		} \
	} while (0)

/* Of a CTA that fills or compares arrays. */
#define THREADS 256

static inline unsigned
ctas(uint64_t num_items)
{
	return (unsigned) ((num_items + THREADS - 1) / THREADS);
}

/* Device memory that frees itself. */
template <typename Item>
struct device_items
{
	Item	   *data = nullptr;
	uint64_t	num_items;

	explicit device_items(uint64_t num_items_) : num_items(num_items_)
	{
		REQUIRE_CUDA(cudaMalloc(&data, num_items * sizeof(Item) + 256));
	}

	device_items(const device_items &) = delete;

	~device_items()
	{
		cudaFree(data);
	}
};

static __device__ inline uint64_t
mix(uint64_t number)
{
	number = (number ^ number >> 31) * UINT64_C(0x7FB5D329728EA185);
	number = (number ^ number >> 27) * UINT64_C(0x81DADEF4BC2DD44D);
	return number ^ number >> 33;
}

#endif							/* MGPU_KERNEL_BENCH_DEVICE_CUH */
