/* Radix sort of 8-byte keys with their indices.  See radix_sort.cuh. */
#include "sort/radix_sort.cuh"

extern "C" cudaError_t
mgpu_radix_sort_u64_index(mgpu_sort_request *request)
{
	return mgpu_radix_sort<uint64_t, true, mgpu_radix_tuning_u64_index>(request);
}
