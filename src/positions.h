/*
 * positions.h
 *		The sorted order of an array's elements, as positions.
 */
#ifndef MGPU_POSITIONS_H
#define MGPU_POSITIONS_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

/* Memory of the result that nothing is in yet. */
typedef struct spare_room
{
	char	   *start;
	Size		bytes;
} spare_room;

/*
 * positions[i] = base + 0-based position of the i-th element in order, NULL
 * elements placed by the order, in each segment if there are segments.  keys is
 * one-dimensional and sortable; it may be streamed on entry and may be loaded on
 * return.  positions has room for all of its items.  sorted_keys is NULL, or has
 * room for the data of the elements that are there: true if these have been put
 * there in order, as can be where an element's bytes are its key; else it may have
 * been written to, as may spare (NULL: none), and holds nothing of use.
 */
extern bool sorted_positions(const sort_spec *spec, array_source *keys,
							 const element_type *type, int32 base, int32 *positions,
							 void *sorted_keys, const spare_room *spare);

#endif							/* MGPU_POSITIONS_H */
