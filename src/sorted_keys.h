/*
 * sorted_keys.h
 *		Merges two sorted arrays by 64-bit keys that are made of their elements.
 */
#ifndef MGPU_SORTED_KEYS_H
#define MGPU_SORTED_KEYS_H

#include "run_series.h"
#include "sorted_input.h"

/* As merge_blocks_run says; false also where elements have no such keys.  Loads both arrays. */
extern bool sorted_keys_merge(sorted_input *input, uint8 *sides, int64 place, run_series *series);

#endif							/* MGPU_SORTED_KEYS_H */
