/* Sort by windows of 4-byte keys with their indices, packed into 64 bits.  See window_sort.cuh. */
#include "sort/window_sort.cuh"

extern "C" cudaError_t
mgpu_window_sort_u32_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return request->num_items <= MGPU_FEW_ITEMS_U64 ?
		mgpu_window_sort_packed<mgpu_tuning_u64_few>(request, sortedness, ended) :
		request->num_items <= MGPU_SOME_ITEMS_U64 && !sortedness->quantised ?
		mgpu_window_sort_packed<mgpu_tuning_u64_some>(request, sortedness, ended) :
		mgpu_window_sort_packed<mgpu_tuning_u64_large>(request, sortedness, ended);
}
