/*
 * enum_order.h
 *		The order of an enum's labels by counting them.
 */
#ifndef MGPU_ENUM_ORDER_H
#define MGPU_ENUM_ORDER_H

#include "enum_keys.h"
#include "sort_spec.h"

/*
 * ranks[i] = which of values is the i-th in order, in each segment if segments is
 * not NULL; equal ones keep theirs.  sorted is NULL, or gets the values in order.
 * labels are those of all values.
 */
extern void enum_order_ranks(const sort_spec *spec, const segment_list *segments, const Oid *values,
							 int64 num_items, const enum_labels *labels, uint32 *ranks, Oid *sorted);

#endif							/* MGPU_ENUM_ORDER_H */
