/*
 * chip_sort_u32.cu
 *		Sort on the chip of 4-byte keys.  See chip_sort.cuh.
 */
#include "chip_sort.cuh"

extern "C" cudaError_t
mgpu_chip_sort_u32(mgpu_sort_request *request, mgpu_chip_state *state)
{
	cudaError_t status = mgpu_chip_sort_by<uint32_t, false, mgpu_chip_tuning>(request, state);

	if (status == cudaErrorCooperativeLaunchTooLarge)
		status = mgpu_chip_sort_by<uint32_t, false, mgpu_chip_tuning_u32_large>(request, state);
	return status;
}
