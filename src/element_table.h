/*
 * element_table.h
 *		Random access to the elements of two arrays laid end to end.
 */
#ifndef MGPU_ELEMENT_TABLE_H
#define MGPU_ELEMENT_TABLE_H

#include "array_result.h"

/*
 * The elements of a and b (loaded, one-dimensional, of one element type) in the
 * order of positions: position p is a's element p, or b's element p minus a's
 * length.  num_items positions; each element at most once.  The result starts at
 * subscript 1.
 */
extern ArrayType *element_table_gather(const array_source *a, const array_source *b,
									   const element_type *type,
									   const uint32 *positions, int64 num_items);

#endif							/* MGPU_ELEMENT_TABLE_H */
