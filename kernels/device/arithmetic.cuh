/*
 * device/arithmetic.cuh
 *		Quotients rounded up, bits of a word, and approximate quotients and square roots.
 */
#ifndef MGPU_DEVICE_ARITHMETIC_CUH
#define MGPU_DEVICE_ARITHMETIC_CUH

#include <math.h>

#include "device/tile.cuh"

/* On the host alone.  The result fits 32 bits. */
static inline uint32_t
mgpu_divide_up(uint64_t dividend, uint64_t divisor)
{
	return (uint32_t) ((dividend + divisor - 1) / divisor);
}

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

/*
 * A quotient and a root in a few instructions.  Searches use them to choose where to probe next,
 * never for what they find, so host and device may differ.  Exact ones were rejected: they add
 * instructions between one round's loads and the next.
 */
MGPU_HOST_DEVICE float
mgpu_guess_quotient(float dividend, float divisor)
{
#ifdef __CUDA_ARCH__
	return __fdividef(dividend, divisor);
#else
	return dividend / divisor;
#endif
}

MGPU_HOST_DEVICE float
mgpu_guess_root(float square)
{
#ifdef __CUDA_ARCH__
	float		root;

	asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(square));
	return root;
#else
	return sqrtf(square);
#endif
}

#endif							/* MGPU_DEVICE_ARITHMETIC_CUH */
