/*
 * array_sort.h
 *		Sorts one array, or one array and a second one along with it, or finds the order alone.
 *
 * All arrays are one-dimensional and have at least two elements.  Sources may be streamed on
 * entry and loaded on return.  Results are palloc'd and keep the lower bound of their source.
 */
#ifndef MGPU_ORDER_ARRAY_SORT_H
#define MGPU_ORDER_ARRAY_SORT_H

#include "array/element_type.h"
#include "array/pair_result.h"
#include "array/source.h"
#include "order/sort_spec.h"

/* A sorted copy of source.  What ran is reported, and the spec needs no record. */
extern ArrayType *sorted_array(const sort_spec *spec, array_source *source, const element_type *type);

/* Keys, and one value for each key. */
typedef struct array_pair
{
	array_source keys;
	array_source vals;
	const element_type *key_type;
	const element_type *val_type;
} array_pair;

/* Sort keys and reorder values with them.  *result gets the values, and the keys if want_keys.  Reports as sorted_array does. */
extern void sorted_arrays(const sort_spec *spec, array_pair *pair, bool want_keys, pair_result *result);

/* positions[i] = base + 0-based position of the i-th element in order.  spec->record is for the caller to report. */
extern void sorted_positions(const sort_spec *spec, array_source *source, const element_type *type,
							 int32 base, int32 *positions);

#endif							/* MGPU_ORDER_ARRAY_SORT_H */
