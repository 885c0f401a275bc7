/*
 * input.h
 *		The two sorted key arrays of a merge.
 */
#ifndef MGPU_MERGE_INPUT_H
#define MGPU_MERGE_INPUT_H

#include "array/element_type.h"
#include "array/source.h"
#include "order/sort_spec.h"
#include "run/run.h"

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
 * A merge of the present elements.  Outputs are left to the caller, and keys too
 * unless they are the elements' bytes.
 */
extern void sorted_input_describe(run_request *request, sorted_input *input, mgpu_op op);

/*
 * The merged order, NULL elements included, as merge_gather.h wants it.  Raises
 * where an input is not sorted.  sorted_keys is NULL, or where the present elements
 * go in order if their bytes are their keys.  Palloc'd.
 */
extern bool *sorted_input_sides(sorted_input *input, void *sorted_keys);

#endif							/* MGPU_MERGE_INPUT_H */
