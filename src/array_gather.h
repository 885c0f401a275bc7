/*
 * array_gather.h
 *		Fills a result array with another one's elements, by their positions.
 */
#ifndef MGPU_ARRAY_GATHER_H
#define MGPU_ARRAY_GATHER_H

#include "array_source.h"
#include "element_type.h"

/*
 * How much memory, from the beginning of a result's data on, array_gather needs if
 * positions of all elements wait at the end of it: data_bytes, or some more where
 * elements are smaller than a position or NULL.
 */
extern Size array_gather_bytes(const element_type *type, int64 num_items, int64 num_nulls, Size data_bytes);

/* Where positions wait in so much memory. */
extern int32 *array_gather_room(ArrayType *result, int64 num_items, Size gather_bytes);

/*
 * result = the elements of source (loaded, one-dimensional) at the given 0-based
 * positions, in that order.  positions is a permutation of all of source's
 * positions, in memory of its own or where array_gather_room says; it is used as
 * scratch and holds nothing of use when this returns.  result was created with as
 * many elements, NULL elements and bytes as source has; its bitmap is made here.
 */
extern void array_gather(ArrayType *result, const array_source *source, const element_type *type,
						 int32 *positions);

#endif							/* MGPU_ARRAY_GATHER_H */
