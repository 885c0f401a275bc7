/*
 * device/approx_math.cuh
 *		Approximate quotients and square roots in a few instructions.
 *
 * Searches use them to choose where to probe next, never for what they find, so host and device
 * may differ.  Exact ones were rejected: they add instructions between one round's loads and the
 * next.
 */
#ifndef MGPU_DEVICE_APPROX_MATH_CUH
#define MGPU_DEVICE_APPROX_MATH_CUH

#include <math.h>

#include "device/tile.cuh"

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

#endif							/* MGPU_DEVICE_APPROX_MATH_CUH */
