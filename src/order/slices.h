/*
 * slices.h
 *		Sorts the slices of a multi-dimensional array, which are compared as arrays.
 */
#ifndef MGPU_ORDER_SLICES_H
#define MGPU_ORDER_SLICES_H

#include "array/source.h"
#include "order/sort_spec.h"

/*
 * source with the slices of its first dimension in order.  source has several dimensions and at
 * least two slices.  Equal slices keep their order.  The result is palloc'd.  source may be
 * streamed on entry and is loaded on return.
 */
extern ArrayType *slices_sorted(const sort_spec *spec, array_source *source);

#endif							/* MGPU_ORDER_SLICES_H */
