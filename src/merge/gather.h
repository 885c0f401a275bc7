/*
 * gather.h
 *		Two arrays' elements side by side, each array's in its own order.
 */
#ifndef MGPU_MERGE_GATHER_H
#define MGPU_MERGE_GATHER_H

#include "array/result.h"

/* The shape of an array of all elements of a and b, from subscript 1 on. */
extern void merge_shape(array_shape *shape, const array_source *a, const array_source *b,
						const element_type *type, bool nulls_first);

/*
 * Fill result, which has that shape, with the elements of a and b, which get loaded:
 * the i-th is b's next one where sides[i] is set, else a's, NULL elements included.
 * Makes the bitmap.  The array may end up shorter.
 */
extern void merge_gather(ArrayType *result, array_source *a, array_source *b,
						 const element_type *type, const bool *sides);

#endif							/* MGPU_MERGE_GATHER_H */
