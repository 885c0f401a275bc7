/* Sort by windows of 8-byte keys.  See window_sort.cuh. */
#include "sort/window_sort.cuh"

extern "C" cudaError_t
mgpu_window_sort_u64(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return request->num_items <= MGPU_FEW_ITEMS_U64 ?
		mgpu_window_sort_keys<mgpu_tuning_u64_few, uint64_t>(request, sortedness, ended) :
		request->num_items <= MGPU_SOME_ITEMS_U64 && !sortedness->quantised ?
		mgpu_window_sort_keys<mgpu_tuning_u64_some, uint64_t>(request, sortedness, ended) :
		mgpu_window_sort_keys<mgpu_tuning_u64_large, uint64_t>(request, sortedness, ended);
}
