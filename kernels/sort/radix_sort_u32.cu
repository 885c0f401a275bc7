/* Radix sort of 4-byte keys.  See radix_sort.cuh. */
#include "sort/radix_sort.cuh"

extern "C" cudaError_t
mgpu_radix_sort_u32(mgpu_sort_request *request)
{
	return mgpu_radix_sort<uint32_t, false, mgpu_radix_tuning_u32>(request);
}
