/* Entry point of the odd-even network. */
#include "merge/ops.h"

extern "C" cudaError_t
mgpu_launch_odd_even_sort(mgpu_odd_even_request *request)
{
	if (request->num_items < 2)
		return cudaSuccess;
	return request->key_width == 4 ? mgpu_odd_even_sort_u32(request) : mgpu_odd_even_sort_u64(request);
}
