/*
 * array_gather.h
 *		Fills a result array with the elements of another one, in a given order.
 *
 * The source is loaded and one-dimensional.  The result has as many elements, NULL elements and
 * data bytes as the source.
 */
#ifndef MGPU_ARRAY_ARRAY_GATHER_H
#define MGPU_ARRAY_ARRAY_GATHER_H

#include "core/byte_keys.h"

#include "array/element_type.h"
#include "array/source.h"

/*
 * Element i of the result is the source's element at the 0-based positions[i].  positions is a
 * permutation that counts NULL elements.  Also sets the result's bitmap.
 */
extern void array_gather(ArrayType *result, const array_source *source, const element_type *type,
						 const int32 *positions);

/*
 * Copy only the data.  ranks[i] is the number of an element among the present ones.  spans is
 * NULL, or holds where the value of each present element is, behind its length word.
 */
extern void array_gather_present(ArrayType *result, const array_source *source, const element_type *type,
								 const uint32 *ranks, const mgpu_span *spans);

/* Item i of dest is cell numbers[i], of width bytes.  Threads copy, because each cell is a cache miss. */
extern void gather_cells(char *dest, const char *cells, int width, const uint32 *numbers, int64 num_items);

#endif							/* MGPU_ARRAY_ARRAY_GATHER_H */
