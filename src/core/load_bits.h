/*
 * load_bits.h
 *		Bits that are stored at any address, for CPUs and GPUs, little-endian.
 *
 * A GPU may not read a word at an odd address: there, words that are aligned are read as such, and others by byte.
 */
#ifndef MGPU_LOAD_BITS_H
#define MGPU_LOAD_BITS_H

#include <stdint.h>
#include <string.h>

#include "key_codec.h"

/* Stored bits, zero-extended: width is up to 8 bytes. */
MGPU_CODEC uint64_t
mgpu_load_bits(const char *from, uint32_t width)
{
	uint64_t	bits = 0;

#ifdef __CUDA_ARCH__
	if (width == 8 && ((uintptr_t) from & 7) == 0)
		return *(const uint64_t *) from;
	if (width == 4 && ((uintptr_t) from & 3) == 0)
		return *(const uint32_t *) from;
	if (width == 2 && ((uintptr_t) from & 1) == 0)
		return *(const uint16_t *) from;
#else
	if (width == 8)
	{
		memcpy(&bits, from, 8);
		return bits;
	}
	if (width == 4)
	{
		memcpy(&bits, from, 4);
		return bits;
	}
#endif
	for (uint32_t i = 0; i < width; i++)
		bits |= (uint64_t) (uint8_t) from[i] << (8 * i);
	return bits;
}

#endif							/* MGPU_LOAD_BITS_H */
