/*
 * chip_sort_u64_index.cu
 *		Sort on the chip of 8-byte keys with their indices.  See chip_sort.cuh.
 */
#include "chip_sort.cuh"

extern "C" cudaError_t
mgpu_chip_sort_u64_index(mgpu_sort_request *request, mgpu_chip_state *state)
{
	return mgpu_chip_sort_by<uint64_t, true, mgpu_chip_tuning>(request, state);
}
