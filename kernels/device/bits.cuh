/*
 * device/bits.cuh
 *		Bits of a word, on the host and on the device.
 */
#ifndef MGPU_DEVICE_BITS_CUH
#define MGPU_DEVICE_BITS_CUH

#include "device/tile.cuh"

/* Number of the lowest and of the highest bit set, of which there is one at least. */
MGPU_HOST_DEVICE uint32_t
mgpu_lowest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
	return (uint32_t) __ffs((int) bits) - 1;
#else
	return (uint32_t) __builtin_ctz(bits);
#endif
}

MGPU_HOST_DEVICE uint32_t
mgpu_highest_bit(uint32_t bits)
{
#ifdef __CUDA_ARCH__
	return 31 - (uint32_t) __clz((int) bits);
#else
	return 31 - (uint32_t) __builtin_clz(bits);
#endif
}

#endif							/* MGPU_DEVICE_BITS_CUH */
