/*
 * compared_sort.h
 *		Order of many elements of a type that is compared, in the memory of the result.
 */
#ifndef MGPU_COMPARED_SORT_H
#define MGPU_COMPARED_SORT_H

#include "array_source.h"
#include "element_type.h"
#include "positions.h"
#include "sort_spec.h"

/*
 * ranks[i] = number of the i-th element in order among the num_items that are
 * there, in each segment if there are segments (NULL: none); equal ones keep their
 * order.  False, with ranks undefined: this is not the way, since they are few, or
 * not of a width or a form that this knows.
 * source may be streamed on entry and may be loaded on return.
 */
extern bool compared_sort_ranks(const sort_spec *spec, const segment_list *segments, array_source *source,
								const element_type *type, int64 num_items, const spare_room *spare,
								uint32 *ranks);

/*
 * ranks[i] = number of the i-th element in the order that Batcher's network leaves
 * them in; equal ones come in any order.  source as above.
 */
extern void compared_network_ranks(const sort_spec *spec, array_source *source, const element_type *type,
								   int64 num_items, uint32 *ranks);

/* The elements that are there, of which there are num_items.  Loads source.  Palloc'd. */
extern Datum *compared_values(array_source *source, const element_type *type, int64 num_items);

#endif							/* MGPU_COMPARED_SORT_H */
