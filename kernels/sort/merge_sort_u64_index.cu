/* Merge sort of 8-byte keys with their indices.  See merge_sort.cuh. */
#include "sort/merge_sort.cuh"

extern "C" cudaError_t
mgpu_merge_sort_u64_index(mgpu_sort_request *request)
{
	bool		large;
	cudaError_t status;

	if (request->num_items <= mgpu_tiles_u64_index::most_items)
		return mgpu_sort_one_tile(mgpu_tiles_u64_index(), request, [&] (auto tuning)
		{
			return mgpu_sort_tile_of_indexed<decltype(tuning)>(request);
		});
	status = mgpu_is_large_device(&large);
	if (status != cudaSuccess)
		return status;
	return large && request->num_items > MGPU_FEW_ITEMS_U64_INDEX ? mgpu_merge_sort_indexed<mgpu_tuning_u64_index>(request) :
		mgpu_merge_sort_indexed<mgpu_tuning_u64_index_small>(request);
}
