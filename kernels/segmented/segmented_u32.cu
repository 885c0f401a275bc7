/* Segmented sort of 4-byte keys.  See segmented_sort.cuh. */
#include "segmented/segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u32(const mgpu_segmented_request *request)
{
	return mgpu_segmented_sort<mgpu_segmented_u32, mgpu_locality_u32, uint32_t, uint32_t>(request);
}
