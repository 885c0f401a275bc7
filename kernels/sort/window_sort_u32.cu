/* Sort by windows of 4-byte keys.  See window_sort.cuh. */
#include "sort/window_sort.cuh"

extern "C" cudaError_t
mgpu_window_sort_u32(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return request->num_items <= MGPU_FEW_ITEMS_U32 ?
		mgpu_window_sort_keys<mgpu_tuning_u32_few, uint32_t>(request, sortedness, ended) :
		mgpu_window_sort_keys<mgpu_tuning_u32_large, uint32_t>(request, sortedness, ended);
}
