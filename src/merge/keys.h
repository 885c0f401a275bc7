/*
 * keys.h
 *		Merges two sorted arrays by codes that are made of their elements.
 */
#ifndef MGPU_MERGE_KEYS_H
#define MGPU_MERGE_KEYS_H

#include "merge/input.h"

/*
 * Set sides[i] where the i-th present element of the merged order is b's, and clear
 * it where it is a's.  Raises where an input is not sorted.  False, and sides
 * undefined: some element has no code.  May load both arrays.
 */
extern bool merge_by_codes(sorted_input *input, bool *sides);

/* The same from ranks as a merge job gives them; num_a: present elements of a. */
extern void merge_sides_of_ranks(const uint32 *ranks, int64 num_ranks, uint32 num_a, bool *sides);

#endif							/* MGPU_MERGE_KEYS_H */
