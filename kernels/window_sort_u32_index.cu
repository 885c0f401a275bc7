/*
 * window_sort_u32_index.cu
 *		Sort by windows of 4-byte keys with their indices, packed into 64 bits.  See
 *		window_sort.cuh.
 */
#include "window_sort.cuh"

extern "C" cudaError_t
mgpu_window_sort_u32_index(mgpu_sort_request *request, const mgpu_glance *glance, bool *ended)
{
	return request->num_items <= MGPU_FEW_ITEMS_U64 ?
		mgpu_window_sort_packed<mgpu_tuning_u64_few>(request, glance, ended) :
		request->num_items <= MGPU_SOME_ITEMS_U64 && !glance->compact ?
		mgpu_window_sort_packed<mgpu_tuning_u64_some>(request, glance, ended) :
		mgpu_window_sort_packed<mgpu_tuning_u64_large>(request, glance, ended);
}
