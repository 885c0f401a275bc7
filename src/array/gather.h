/*
 * gather.h
 *		Fills a result array with another one's elements in a given order.
 *
 * The source is loaded and one-dimensional.  The result was created with as many
 * elements, NULL elements and bytes as the source has.
 */
#ifndef MGPU_ARRAY_GATHER_H
#define MGPU_ARRAY_GATHER_H

#include "core/byte_keys.h"

#include "array/element_type.h"
#include "array/source.h"

/*
 * result = the elements at these 0-based positions, NULL elements counted: a
 * permutation of all.  The result's bitmap is made here.
 */
extern void array_gather(ArrayType *result, const array_source *source, const element_type *type,
						 const int32 *positions);

/*
 * The data alone: present elements by their ranks among themselves.  spans: NULL, or
 * where each one's value is, behind its length word.
 */
extern void array_gather_present(ArrayType *result, const array_source *source, const element_type *type,
								 const uint32 *ranks, const mgpu_span *spans);

#endif							/* MGPU_ARRAY_GATHER_H */
