/*
 * guess_math.cuh
 *		Quotients and roots for guesses: a few instructions, right but for the last bits.
 *
 * Searches use them for where to look next, never for what they find, so host and device
 * may differ.  Exact ones were rejected: more instructions between a round's loads and the next's.
 */
#ifndef MGPU_GUESS_MATH_CUH
#define MGPU_GUESS_MATH_CUH

#include <math.h>

#include "item_tile.cuh"

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

#endif							/* MGPU_GUESS_MATH_CUH */
