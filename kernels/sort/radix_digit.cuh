/*
 * sort/radix_digit.cuh
 *		Radix sort: what its kernels share on the device.
 *
 * A digit has 8 bits: 7 would take a fifth pass for 4-byte keys, and with 11 a tile would write
 * pieces of 3 keys.  Digits are counted from the lowest.
 */
#ifndef MGPU_SORT_RADIX_DIGIT_CUH
#define MGPU_SORT_RADIX_DIGIT_CUH

#include "device/tile.cuh"
#include "sort/radix_tuning.cuh"

#define MGPU_RADIX_DIGIT_WARPS (MGPU_RADIX_DIGITS / 32)

/* Shared by all launches of a sort.  Zero before the first. */
template <typename Key>
struct mgpu_radix_state
{
	uint32_t	begins[sizeof(Key)][MGPU_RADIX_DIGITS]; /* counts; then where each digit begins */
	uint32_t	num_tiles[sizeof(Key)]; /* tiles taken, for each pass */
	uint32_t	num_counted;	/* CTAs that have counted */
};

/*
 * Exclusive sum of one value a thread over the first 256 threads.  All threads call it. sums: 8
 * words of shared memory that are not used elsewhere between the barriers before and behind.
 */
static __device__ __forceinline__ uint32_t
mgpu_radix_exclusive_sum(uint32_t value, uint32_t *sums)
{
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	warp = threadIdx.x / 32;
	uint32_t	sum = value;

#pragma unroll
	for (uint32_t distance = 1; distance < 32; distance *= 2)
	{
		uint32_t	other = __shfl_up_sync(MGPU_WHOLE_WARP, sum, distance);

		if (lane >= distance)
			sum += other;
	}
	if (lane == 31 && warp < MGPU_RADIX_DIGIT_WARPS)
		sums[warp] = sum;
	__syncthreads();
#pragma unroll
	for (uint32_t other = 0; other < MGPU_RADIX_DIGIT_WARPS - 1; other++)
		if (other < warp)
			sum += sums[other];
	return sum - value;
}

#endif							/* MGPU_SORT_RADIX_DIGIT_CUH */
