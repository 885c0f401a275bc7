/*
 * string_sort.h
 *		Sorts large arrays of byte strings in the memory of their result.
 */
#ifndef MGPU_STRING_SORT_H
#define MGPU_STRING_SORT_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

/*
 * The array sorted, or NULL where this is not the way: the type is of fixed width
 * or has no byte strings under this collation, the array is small, or there are
 * segments.  source may be streamed on entry and may be loaded on return.
 */
extern ArrayType *string_sorted_array(const sort_spec *spec, array_source *source, const element_type *type);

#endif							/* MGPU_STRING_SORT_H */
