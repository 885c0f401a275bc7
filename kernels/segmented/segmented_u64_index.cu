/*
 * segmented/segmented_u64_index.cu
 *		Segmented sort of 8-byte keys packed with their index.  See segmented_sort.cuh.
 *
 * Two arrays, 12 bytes an item, were rejected: they need kernels of their own and stable merges
 * with bounds checks, for a quarter fewer bytes in passes that mostly touch few of them.
 */
#include "segmented/segmented_sort.cuh"

extern "C" cudaError_t
mgpu_segmented_sort_u64_index(const mgpu_segmented_request *request)
{
	return mgpu_segmented_sort<mgpu_segmented_u128, mgpu_segmented_u128, uint64_t, unsigned __int128>(request);
}
