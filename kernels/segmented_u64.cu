/*
 * segmented_u64.cu
 *		Segmented sorts in 8 bytes: keys of 8 bytes, and keys of 4 packed with their
 *		index.  See segmented_sort.cuh.
 */
#include "segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u64(const mgpu_segmented_request *request)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	if (status != cudaSuccess)
		return status;
	return large ? mgpu_segmented_sort<mgpu_segmented_u64_large, uint64_t, uint64_t>(request) :
		mgpu_segmented_sort<mgpu_segmented_u64_small, uint64_t, uint64_t>(request);
}

extern "C" cudaError_t
mgpu_segmented_sort_u32_index(const mgpu_segmented_request *request)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	if (status != cudaSuccess)
		return status;
	return large ? mgpu_segmented_sort<mgpu_segmented_u64_large, uint32_t, uint64_t>(request) :
		mgpu_segmented_sort<mgpu_segmented_u64_small, uint32_t, uint64_t>(request);
}
