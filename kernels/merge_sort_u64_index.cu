/*
 * merge_sort_u64_index.cu
 *		Merge sort of 8-byte keys with their indices.  See merge_sort.cuh.
 */
#include "merge_sort.cuh"

extern "C" cudaError_t
mgpu_merge_sort_u64_index(mgpu_sort_request *request)
{
	return mgpu_merge_sort_indexed<mgpu_tuning_u64_index, uint64_t>(request);
}
