/*
 * chip_sort_u32_index.cu
 *		Sort on the chip of 4-byte keys with their indices.  See chip_sort.cuh.
 */
#include "chip_sort.cuh"

extern "C" cudaError_t
mgpu_chip_sort_u32_index(mgpu_sort_request *request, mgpu_chip_state *state)
{
	return mgpu_chip_sort_by<uint32_t, true, mgpu_chip_tuning>(request, state);
}
