/*
 * sorted_strings.h
 *		Merges two sorted arrays of byte strings by 64-bit codes.
 */
#ifndef MGPU_SORTED_STRINGS_H
#define MGPU_SORTED_STRINGS_H

#include "run_series.h"
#include "sorted_input.h"

/* As merge_blocks_run says; false also where elements are no byte strings.  Loads both arrays. */
extern bool sorted_strings_merge(sorted_input *input, uint8 *sides, int64 place, run_series *series);

#endif							/* MGPU_SORTED_STRINGS_H */
