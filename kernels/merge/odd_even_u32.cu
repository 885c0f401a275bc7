/* Odd-even mergesort of 4-byte codes.  See odd_even.cuh. */
#include "merge/odd_even.cuh"

extern "C" cudaError_t
mgpu_odd_even_sort_u32(mgpu_odd_even_request *request)
{
	return mgpu_odd_even_sort<uint32_t>(request);
}
