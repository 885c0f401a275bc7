/* Segmented sort of 4-byte keys.  See segmented_sort.cuh. */
#include "segmented/segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u32(const mgpu_segmented_request *request)
{
	if (request->num_segments > 1)
		return mgpu_segmented_sort_sized<mgpu_segmented_u32_large, mgpu_segmented_u32_small, true, uint32_t, uint32_t>(request);
	return mgpu_segmented_sort_sized<mgpu_locality_u32_large, mgpu_locality_u32_small, false, uint32_t, uint32_t>(request);
}
