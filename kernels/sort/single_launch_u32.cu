/* Single-launch sort of 4-byte keys.  See single_launch_sort.cuh. */
#include "sort/single_launch_sort.cuh"

extern "C" cudaError_t
mgpu_single_launch_sort_u32(mgpu_sort_request *request, mgpu_single_launch_state *state)
{
	cudaError_t status = mgpu_single_launch_sort_by<uint32_t, false, mgpu_single_launch_tuning>(request, state);

	if (status == cudaErrorCooperativeLaunchTooLarge)
		status = mgpu_single_launch_sort_by<uint32_t, false, mgpu_single_launch_tuning_u32_large>(request, state);
	return status;
}
