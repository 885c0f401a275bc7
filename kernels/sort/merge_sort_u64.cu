/* Merge sort of 8-byte keys.  See merge_sort.cuh. */
#include "sort/merge_sort.cuh"

extern "C" cudaError_t
mgpu_merge_sort_u64(mgpu_sort_request *request)
{
	bool		large;
	cudaError_t status;

	if (request->num_items <= mgpu_tiles_u64::most_items)
		return mgpu_sort_one_tile(mgpu_tiles_u64(), request, [&] (auto tuning)
		{
			return mgpu_sort_tile_of_keys<decltype(tuning), uint64_t>(request);
		});
	status = mgpu_is_large_device(&large);
	if (status != cudaSuccess)
		return status;
	return large && request->num_items > MGPU_FEW_ITEMS_U64 ? mgpu_merge_sort_keys<mgpu_tuning_u64, uint64_t>(request) :
		mgpu_merge_sort_keys<mgpu_tuning_u64_small, uint64_t>(request);
}
