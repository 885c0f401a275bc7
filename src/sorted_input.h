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
 * The merged order of present elements by one key of each, in the order of the
 * arrays: ranks, a's counted from 0 and b's from a's present ones on.  Raises
 * where keys are not sorted.
 */
extern void sorted_input_merge_keys(sorted_input *input, const void *a_keys, const void *b_keys,
									uint32 key_kind, uint32 key_width, uint32 *ranks);

/*
 * The merged order as positions, a's elements counted from 0 and b's from a's
 * length on, NULLs included: both lengths together.  Raises where an input is
 * not sorted.  Loads both arrays.  Palloc'd.
 */
extern uint32 *sorted_input_positions(sorted_input *input);

#endif							/* MGPU_SORTED_INPUT_H */
