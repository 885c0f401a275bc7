/* Single-launch sort of 4-byte keys with their indices.  See single_launch_sort.cuh. */
#include "sort/single_launch_sort.cuh"

extern "C" cudaError_t
mgpu_single_launch_sort_u32_index(mgpu_sort_request *request, mgpu_single_launch_state *state)
{
	return mgpu_single_launch_sort_by<uint32_t, true, mgpu_single_launch_tuning>(request, state);
}
