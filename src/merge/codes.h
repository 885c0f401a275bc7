/*
 * codes.h
 *		Merges byte strings by 64-bit codes, and what these leave equal by the rest.
 */
#ifndef MGPU_MERGE_CODES_H
#define MGPU_MERGE_CODES_H

#include "keys/sort_keys.h"

typedef struct merge_codes
{
	const sort_keys *keys;		/* strings of a and of b */
	bool		descending;
	uint64	   *codes[2];
	uint32		shared;			/* bytes that all strings begin with */
	uint32		coded;			/* bytes that strings of one code begin with alike */
} merge_codes;

/*
 * Codes of both arrays' strings, whose first ones have these subscripts.  Raises where
 * an array is not sorted.
 */
extern void merge_codes_make(merge_codes *codes, const sort_keys keys[2], bool descending,
							 const int64 first_subscripts[2]);

/* sides is the merged order of the codes; put those that are equal in order. */
extern void merge_codes_ties(const merge_codes *codes, bool *sides);

extern void merge_codes_free(merge_codes *codes);

#endif							/* MGPU_MERGE_CODES_H */
