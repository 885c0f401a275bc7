/* Sort by windows of 8-byte keys with their indices.  See window_sort.cuh. */
#include "sort/window_sort.cuh"

extern "C" cudaError_t
mgpu_window_sort_u64_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return request->num_items <= MGPU_FEW_ITEMS_U64_INDEX && !sortedness->quantised ?
		mgpu_window_sort_indexed<mgpu_tuning_u64_index_few>(request, sortedness, ended) :
		mgpu_window_sort_indexed<mgpu_tuning_u64_index_large>(request, sortedness, ended);
}
