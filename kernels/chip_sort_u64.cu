/*
 * chip_sort_u64.cu
 *		Sort on the chip of 8-byte keys.  See chip_sort.cuh.
 */
#include "chip_sort.cuh"

extern "C" cudaError_t
mgpu_chip_sort_u64(mgpu_sort_request *request, mgpu_chip_state *state)
{
	return mgpu_chip_sort_by<uint64_t, false, mgpu_chip_tuning>(request, state);
}
