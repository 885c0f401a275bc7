/* Segmented sort of 8-byte keys.  See segmented_sort.cuh. */
#include "segmented/segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u64(const mgpu_segmented_request *request)
{
	return mgpu_segmented_sort<mgpu_segmented_u64, mgpu_segmented_u64, uint64_t, uint64_t>(request);
}
