/* Segmented sort of 4-byte keys packed with their index.  See segmented_sort.cuh. */
#include "segmented/segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u32_index(const mgpu_segmented_request *request)
{
	return mgpu_segmented_sort<mgpu_segmented_u64, mgpu_segmented_u64, uint32_t, uint64_t>(request);
}
