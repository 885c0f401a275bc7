/*
 * position_sort.h
 *		Order of many elements, as positions, in the memory of the result.
 */
#ifndef MGPU_POSITION_SORT_H
#define MGPU_POSITION_SORT_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

/*
 * ranks[i] = number of the i-th element in order among the num_items that are
 * there; equal ones keep their order.  False, with ranks undefined: this is not the
 * way, since they are few, or have neither keys that can be made nor byte strings,
 * or a GPU is to sort them.  source may be streamed on entry and may be loaded on
 * return.
 */
extern bool position_sort_ranks(const sort_spec *spec, array_source *source, const element_type *type,
								int64 num_items, uint32 *ranks);

/* The same for elements of which some have no key, though the type has keys that can be made. */
extern bool position_sort_string_ranks(const sort_spec *spec, array_source *source, const element_type *type,
									   int64 num_items, uint32 *ranks);

#endif							/* MGPU_POSITION_SORT_H */
