/*
 * sorted_strings.h
 *		Merges two sorted arrays of byte strings by 64-bit codes.
 */
#ifndef MGPU_SORTED_STRINGS_H
#define MGPU_SORTED_STRINGS_H

#include "sorted_input.h"

/*
 * ranks: the merged order of present elements, a's counted from 0 and b's from
 * a's present ones on.  False: elements are no byte strings.  Raises where an
 * input is not sorted.  Loads both arrays.
 */
extern bool sorted_strings_merge(sorted_input *input, uint32 *ranks);

#endif							/* MGPU_SORTED_STRINGS_H */
