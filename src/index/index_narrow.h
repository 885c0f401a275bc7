/*
 * index_narrow.h
 *		Items of 12 bytes: of numbers that 8 bytes do not hold, and 16 hold with room to spare.
 */
#ifndef MGPU_INDEX_NARROW_H
#define MGPU_INDEX_NARROW_H

#include "core/cpu_codec.h"

typedef struct index_narrow
{
	uint32		words[3];		/* the lowest first */
} index_narrow;

static inline mgpu_u128
index_narrow_value(index_narrow item)
{
	return (mgpu_u128) item.words[2] << 64 | (uint64) item.words[1] << 32 | item.words[0];
}

static inline index_narrow
index_narrow_of(mgpu_u128 value)
{
	return (index_narrow) {{(uint32) value, (uint32) (value >> 32), (uint32) (value >> 64)}};
}

#endif							/* MGPU_INDEX_NARROW_H */
