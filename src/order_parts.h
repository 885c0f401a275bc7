/*
 * order_parts.h
 *		Sorts pairs by strings, or by keys that are compared, a part of the order at a time.
 */
#ifndef MGPU_ORDER_PARTS_H
#define MGPU_ORDER_PARTS_H

#include "pair_fill.h"
#include "sort_spec.h"

/* Whether it can be: references say where keys are, and there are no segments; by_strings: keys are or make strings. */
extern bool order_parts_apply(const sort_spec *spec, const element_type *key_type, bool by_strings);

/*
 * Adds all pairs whose keys are not NULL.  False, with some of them added: keys are not
 * as arrays have them, or make no strings.
 */
extern bool order_parts_sort(const sort_spec *spec, const array_source *keys, const element_type *key_type,
							 bool by_strings, pair_filler *filler);

#endif							/* MGPU_ORDER_PARTS_H */
