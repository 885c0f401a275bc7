/*
 * segment_order.h
 *		Order of many elements in their segments, as positions, by keys or strings
 *		that are made for some segments at a time.
 */
#ifndef MGPU_SEGMENT_ORDER_H
#define MGPU_SEGMENT_ORDER_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

/*
 * ranks[i] = number of the i-th element in order, each in its segment, among those
 * that are there; equal ones keep their order.  segments are of these elements, none
 * of them empty.  False, with ranks undefined: this is not the way, since elements
 * are few, or have neither keys that can be made nor byte strings.  source may be
 * streamed on entry and may be loaded on return.
 */
extern bool segment_order_ranks(const sort_spec *spec, const segment_list *segments, array_source *source,
								const element_type *type, uint32 *ranks);

#endif							/* MGPU_SEGMENT_ORDER_H */
