/*
 * sorted_enums.h
 *		Merges two sorted arrays of an enum by runs of labels.
 */
#ifndef MGPU_SORTED_ENUMS_H
#define MGPU_SORTED_ENUMS_H

#include "sorted_input.h"

/*
 * Set the bits of sides from bit at on, one for each present element of both
 * arrays in their merged order, where it is b's; they are 0 before.  Raises where
 * an input is not sorted.  Loads both arrays.
 */
extern void sorted_enums_merge(sorted_input *input, uint8 *sides, int64 at);

#endif							/* MGPU_SORTED_ENUMS_H */
