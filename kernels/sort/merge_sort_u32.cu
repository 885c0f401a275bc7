/* Merge sort of 4-byte keys.  See merge_sort.cuh. */
#include "sort/merge_sort.cuh"

extern "C" cudaError_t
mgpu_merge_sort_u32(mgpu_sort_request *request)
{
	bool		large;
	cudaError_t status;

	if (request->num_items <= mgpu_tiles_u32::most_items)
		return mgpu_sort_one_tile(mgpu_tiles_u32(), request, [&] (auto tuning)
		{
			return mgpu_sort_tile_of_keys<decltype(tuning), uint32_t>(request);
		});
	status = mgpu_is_large_device(&large);
	if (status != cudaSuccess)
		return status;
	return large && request->num_items > MGPU_FEW_ITEMS_U32 ? mgpu_merge_sort_keys<mgpu_tuning_u32, uint32_t>(request) :
		mgpu_merge_sort_keys<mgpu_tuning_u32_small, uint32_t>(request);
}
