/*
 * key_codec.h
 *		Order-preserving maps from stored elements to unsigned codes, and back.
 *
 * encode(a) < encode(b) if and only if a sorts before b; the codes are equal if and
 * only if a and b tie.  Descending order complements the code, which keeps ties
 * stable.
 *
 *	 unsigned	code = value
 *	 signed		code = value with the sign bit flipped
 *	 float		code = bits with the sign bit flipped when positive, all bits
 *				flipped when negative; -0 takes the code of +0 and every NaN
 *				one code above +infinity
 *	 bytes		two 8-byte words, each big-endian value of the stored bytes
 *
 * Floats lose the sign of zero and the payload of NaN, which float_ties.h restores.
 * Rejected: comparing floats themselves, as NaN breaks a comparison network.
 * Header-only, C11 and CUDA C++: both executors compile the same map.
 */
#ifndef MGPU_KEY_CODEC_H
#define MGPU_KEY_CODEC_H

#include <stdint.h>

#include "job.h"

#ifdef __CUDACC__
#define MGPU_CODEC static __host__ __device__ __forceinline__
#define MGPU_CODEC_ONCE static inline __host__ __device__ __noinline__	/* too long to be in a kernel several times */
#else
#define MGPU_CODEC static inline
#define MGPU_CODEC_ONCE static inline
#endif

/* PostgreSQL's own NaN bits (get_float4_nan, get_float8_nan on x86 and ARM). */
#define MGPU_F32_NAN UINT32_C(0x7FC00000)
#define MGPU_F64_NAN UINT64_C(0x7FF8000000000000)
#define MGPU_F32_INF UINT32_C(0x7F800000)
#define MGPU_F64_INF UINT64_C(0x7FF0000000000000)
#define MGPU_F32_SIGN UINT32_C(0x80000000)
#define MGPU_F64_SIGN UINT64_C(0x8000000000000000)

MGPU_CODEC uint32_t
mgpu_encode_f32(uint32_t bits)
{
	uint32_t	magnitude = bits & ~MGPU_F32_SIGN;

	if (magnitude > MGPU_F32_INF)
		bits = MGPU_F32_NAN;
	else if (magnitude == 0)
		bits = 0;
	return bits ^ ((0 - (bits >> 31)) | MGPU_F32_SIGN);
}

MGPU_CODEC uint32_t
mgpu_decode_f32(uint32_t code)
{
	return code ^ (((code >> 31) - 1) | MGPU_F32_SIGN);
}

MGPU_CODEC uint64_t
mgpu_encode_f64(uint64_t bits)
{
	uint64_t	magnitude = bits & ~MGPU_F64_SIGN;

	if (magnitude > MGPU_F64_INF)
		bits = MGPU_F64_NAN;
	else if (magnitude == 0)
		bits = 0;
	return bits ^ ((0 - (bits >> 63)) | MGPU_F64_SIGN);
}

MGPU_CODEC uint64_t
mgpu_decode_f64(uint64_t code)
{
	return code ^ (((code >> 63) - 1) | MGPU_F64_SIGN);
}

/* The ascending code of a stored element of 1, 2 or 4 bytes, zero-extended. */
MGPU_CODEC uint32_t
mgpu_encode_32(uint32_t bits, uint32_t kind, uint32_t width)
{
	if (kind == MGPU_KEY_FLOAT)
		return mgpu_encode_f32(bits);
	if (kind == MGPU_KEY_SIGNED)
		return bits ^ (UINT32_C(1) << (width * 8 - 1));
	return bits;
}

MGPU_CODEC uint32_t
mgpu_decode_32(uint32_t code, uint32_t kind, uint32_t width)
{
	if (kind == MGPU_KEY_FLOAT)
		return mgpu_decode_f32(code);
	if (kind == MGPU_KEY_SIGNED)
		return code ^ (UINT32_C(1) << (width * 8 - 1));
	return code;
}

/* The same for 8 bytes. */
MGPU_CODEC uint64_t
mgpu_encode_64(uint64_t bits, uint32_t kind)
{
	if (kind == MGPU_KEY_FLOAT)
		return mgpu_encode_f64(bits);
	if (kind == MGPU_KEY_SIGNED)
		return bits ^ MGPU_F64_SIGN;
	return bits;
}

MGPU_CODEC uint64_t
mgpu_decode_64(uint64_t code, uint32_t kind)
{
	if (kind == MGPU_KEY_FLOAT)
		return mgpu_decode_f64(code);
	if (kind == MGPU_KEY_SIGNED)
		return code ^ MGPU_F64_SIGN;
	return code;
}

/* Reverse the bytes of one little-endian word of a MGPU_KEY_BYTES key. */
MGPU_CODEC uint64_t
mgpu_swap_64(uint64_t word)
{
	word = ((word & UINT64_C(0x00FF00FF00FF00FF)) << 8) | ((word >> 8) & UINT64_C(0x00FF00FF00FF00FF));
	word = ((word & UINT64_C(0x0000FFFF0000FFFF)) << 16) | ((word >> 16) & UINT64_C(0x0000FFFF0000FFFF));
	return (word << 32) | (word >> 32);
}

#endif							/* MGPU_KEY_CODEC_H */
