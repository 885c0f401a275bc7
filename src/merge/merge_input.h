/*
 * merge_input.h
 *		The two sorted key arrays of a merge, and their merged order.
 */
#ifndef MGPU_MERGE_MERGE_INPUT_H
#define MGPU_MERGE_MERGE_INPUT_H

#include "array/element_type.h"
#include "array/source.h"
#include "order/sort_spec.h"
#include "run/run_job.h"

typedef struct sorted_input
{
	const char *function;
	array_source a;
	array_source b;
	const element_type *type;
	sort_order	order;
	Oid			collation;
	run_record	record;			/* out: what merged them */
} sorted_input;

/* Number of present (not NULL) elements. */
static inline int64
sorted_input_present(const array_source *source)
{
	return source->num_items - source->num_nulls;
}

/* Position of the first element on the wrong side of a NULL, or -1. */
extern int64 misplaced_null(const array_source *source, const sort_order *order);

/* Raise an error unless all NULL elements of each array stand where order puts them. */
extern void sorted_input_check_nulls(sorted_input *input);

/*
 * Fill a request to merge the present elements.  The caller sets the outputs, and also the keys
 * if they are not the elements' own bytes.
 */
extern void sorted_input_describe(run_request *request, sorted_input *input, mgpu_op op);

/*
 * The merged order, NULL elements included, in the form that merge/merge_gather.h takes.  Raises an
 * error if an input is not sorted.  sorted_keys is NULL, or gets the present elements in order if
 * their bytes are their keys.  The result is palloc'd.
 */
extern bool *sorted_input_sides(sorted_input *input, void *sorted_keys);

#endif							/* MGPU_MERGE_MERGE_INPUT_H */
