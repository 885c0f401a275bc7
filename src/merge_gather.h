/*
 * merge_gather.h
 *		Two arrays' elements side by side, each array's in its own order.
 */
#ifndef MGPU_MERGE_GATHER_H
#define MGPU_MERGE_GATHER_H

#include "array_result.h"

/*
 * Which array each element of a merge comes from: bit i of sides is set for b.
 * As many bits as both arrays have elements, NULL ones included.
 */
static inline bool
merge_side(const uint8 *sides, int64 i)
{
	return (sides[i / 8] >> (i % 8)) & 1;
}

/* The shape of an array of all elements of a and b, from subscript 1 on. */
extern void merge_shape(array_shape *shape, const array_source *a, const array_source *b,
						const element_type *type, bool nulls_first);

/*
 * Fill result, which has that shape, with the elements of a and b (loaded) as
 * sides says.  Makes its bitmap.  The array may end up shorter.
 */
extern void merge_gather(ArrayType *result, const array_source *a, const array_source *b,
						 const element_type *type, const uint8 *sides);

#endif							/* MGPU_MERGE_GATHER_H */
