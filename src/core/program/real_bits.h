/*
 * program/real_bits.h
 *		Floats and their bits, of NaN too: a GPU's conversions and functions give one NaN, a CPU's keep its sign and payload.
 */
#ifndef MGPU_REAL_BITS_H
#define MGPU_REAL_BITS_H

#include <math.h>
#include <string.h>

#include "core/key_codec.h"

/* Set in each NaN that an operation gives. */
#define MGPU_F64_QUIET UINT64_C(0x0008000000000000)

/* Of a double's fraction, the bits that a float has not. */
#define MGPU_F64_BELOW_F32 UINT64_C(0x000000001FFFFFFF)

MGPU_CODEC uint64_t
mgpu_bits_of_real(double real)
{
	uint64_t	bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

MGPU_CODEC double
mgpu_real_of_bits(uint64_t bits)
{
	double		real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

/* What a function of x gives, of which each NaN becomes itself. */
MGPU_CODEC double
mgpu_keep_nan(double x, double result)
{
#ifdef __CUDA_ARCH__
	if (isnan(x))
		return mgpu_real_of_bits(mgpu_bits_of_real(x) | MGPU_F64_QUIET);
#endif
	(void) x;
	return result;
}

MGPU_CODEC double
mgpu_round_to_float(double x)
{
#ifdef __CUDA_ARCH__
	if (isnan(x))
		return mgpu_real_of_bits((mgpu_bits_of_real(x) | MGPU_F64_QUIET) & ~MGPU_F64_BELOW_F32);
#endif
	return (double) (float) x;
}

MGPU_CODEC double
mgpu_real_of_float_bits(uint32_t bits)
{
	float		real;

#ifdef __CUDA_ARCH__
	if ((bits & ~MGPU_F32_SIGN) > MGPU_F32_INF)
		return mgpu_real_of_bits((uint64_t) (bits & MGPU_F32_SIGN) << 32 | MGPU_F64_NAN |
								 (uint64_t) (bits & ~(MGPU_F32_SIGN | MGPU_F32_INF)) << 29);
#endif
	memcpy(&real, &bits, sizeof(real));
	return (double) real;
}

/* The bits of a double as those of the float that it is. */
MGPU_CODEC uint32_t
mgpu_float_bits_of_real(uint64_t bits)
{
	float		real;
	uint32_t	narrow;

	if ((bits & ~MGPU_F64_SIGN) > MGPU_F64_INF)
		return (uint32_t) (bits >> 32 & MGPU_F32_SIGN) | MGPU_F32_INF | (uint32_t) (bits >> 29 & ~(MGPU_F32_SIGN | MGPU_F32_INF));
	real = (float) mgpu_real_of_bits(bits);
	memcpy(&narrow, &real, sizeof(narrow));
	return narrow;
}

#endif							/* MGPU_REAL_BITS_H */
