/*
 * merge_gather.h
 *		Combines the elements of two arrays, keeping each array's own order.
 */
#ifndef MGPU_MERGE_MERGE_GATHER_H
#define MGPU_MERGE_MERGE_GATHER_H

#include "array/array_result.h"

/* The shape of an array with all elements of a and b.  Its lower bound is 1. */
extern void merge_shape(array_shape *shape, const array_source *a, const array_source *b,
						const element_type *type, bool nulls_first);

/*
 * Fill result, which has that shape.  Element i is the next one of b if sides[i], else the next
 * one of a, NULL elements included.  Sets the bitmap.  a and b get loaded.  The result may end up
 * with fewer bytes.
 */
extern void merge_gather(ArrayType *result, array_source *a, array_source *b,
						 const element_type *type, const bool *sides);

#endif							/* MGPU_MERGE_MERGE_GATHER_H */
