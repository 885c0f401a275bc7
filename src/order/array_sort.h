/*
 * array_sort.h
 *		Sorts arrays as a spec says: one alone, or one carrying another along.
 *
 * All arrays are one-dimensional and have two elements at least; sources may be
 * streamed on entry and may be loaded on return.  Results are palloc'd and keep
 * their source's lower bound.
 */
#ifndef MGPU_ORDER_ARRAY_SORT_H
#define MGPU_ORDER_ARRAY_SORT_H

#include "array/element_type.h"
#include "array/pair_result.h"
#include "array/source.h"
#include "order/sort_spec.h"

/* source sorted. */
extern ArrayType *sorted_array(const sort_spec *spec, array_source *source, const element_type *type);

/* Keys, and as many values that go with them. */
typedef struct array_pair
{
	array_source keys;
	array_source vals;
	const element_type *key_type;
	const element_type *val_type;
} array_pair;

/* Keys sorted, if they are wanted, and values with them, in *result. */
extern void sorted_arrays(const sort_spec *spec, array_pair *pair, bool want_keys, pair_result *result);

#endif							/* MGPU_ORDER_ARRAY_SORT_H */
