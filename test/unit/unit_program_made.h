/*
 * unit_program_made.h
 *		Texts that operations have made, for comparisons: they lie elsewhere in each form of a run.
 *
 * Header-only, C11 and CUDA C++.
 */
#ifndef MGPU_UNIT_PROGRAM_MADE_H
#define MGPU_UNIT_PROGRAM_MADE_H

#include "core/program_row.h"

/* Room for what is made of one row, and of each of many: more than any case needs. */
#define ROW_MADE_BYTES 4096
#define MANY_MADE_BYTES 100000

/* A result as it is, or with a hash of the text that was made in place of where it is. */
MGPU_CODEC mgpu_row_register
settled_result(uint32_t code, mgpu_row_register result)
{
	uint64_t	hash = UINT64_C(0xCBF29CE484222325);

	if (!MGPU_MAKES_TEXTS(code))
		return result;
	/* one row has no room for it */
	if (result.states[0] == MGPU_IS_VALUE && result.lengths[0] > ROW_MADE_BYTES)
		result.states[0] = MGPU_IS_FAULT;
	if (result.states[0] != MGPU_IS_VALUE)
		result.lengths[0] = 0;
	for (uint32_t i = 0; i < result.lengths[0]; i++)
		hash = (hash ^ (uint8_t) result.bytes[0][i]) * UINT64_C(0x100000001B3);
	result.integers[0] = (int64_t) hash;
	return result;
}

#endif							/* MGPU_UNIT_PROGRAM_MADE_H */
