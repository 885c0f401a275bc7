/*
 * sorted_input.h
 *		The two sorted key arrays of a merge.
 */
#ifndef MGPU_SORTED_INPUT_H
#define MGPU_SORTED_INPUT_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

typedef struct sorted_input
{
	const char *function;
	array_source a;
	array_source b;
	const element_type *type;
	sort_order	order;
	Oid			collation;
} sorted_input;

/* Present (not NULL) elements of either. */
static inline int64
sorted_input_present(const array_source *source)
{
	return source->num_items - source->num_nulls;
}

/* Raise unless each array's NULL elements all stand where order puts them. */
extern void sorted_input_check_nulls(sorted_input *input);

/* Subscript of the first present element, once NULLs are known to be in place. */
extern int64 sorted_input_first_subscript(const array_source *source, const sort_order *order);

/*
 * The merged order as merge_gather.h wants it, NULL elements included: a bit for
 * each element of both arrays.  Raises where an input is not sorted.  Loads both
 * arrays.  sorted_keys is NULL, or has room for the data of the elements that are
 * there: *has_keys tells whether these have been put there in order, as can be
 * where an element's bytes are its key.  Palloc'd.
 */
extern uint8 *sorted_input_sides(sorted_input *input, void *sorted_keys, bool *has_keys);

/* Of such bits, from at on: set where a rank, in merged order, is not one of a's num_a. */
extern void sorted_input_set_sides(uint8 *sides, int64 at, const uint32 *ranks, int64 num_ranks, uint32 num_a);

#endif							/* MGPU_SORTED_INPUT_H */
