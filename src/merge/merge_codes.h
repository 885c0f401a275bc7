/*
 * merge_codes.h
 *		Merges byte strings by 64-bit codes, and ties by the bytes that follow.
 */
#ifndef MGPU_MERGE_MERGE_CODES_H
#define MGPU_MERGE_MERGE_CODES_H

#include "keys/sort_keys.h"

typedef struct merge_codes
{
	const sort_keys *keys;		/* strings of a and of b */
	bool		descending;
	uint64	   *codes[2];
	uint32		shared;			/* length of the prefix that all strings share */
	uint32		coded;			/* length of the prefix that strings of one code share */
} merge_codes;

/*
 * Make the codes of both arrays' strings.  first_subscripts are those of the first strings, for
 * errors.  Raises an error if an array is not sorted.
 */
extern void merge_codes_make(merge_codes *codes, const sort_keys keys[2], bool descending,
							 const int64 first_subscripts[2]);

/* On entry, sides is the merged order of the codes.  Puts strings with equal codes in order. */
extern void merge_codes_ties(const merge_codes *codes, bool *sides);

extern void merge_codes_free(merge_codes *codes);

#endif							/* MGPU_MERGE_MERGE_CODES_H */
