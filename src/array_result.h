/*
 * array_result.h
 *		Builds result arrays in place.
 */
#ifndef MGPU_ARRAY_RESULT_H
#define MGPU_ARRAY_RESULT_H

#include "core/gather.h"

#include "array_source.h"
#include "element_type.h"

/*
 * A one-dimensional array with room for its data, whose num_nulls NULL elements
 * stand first or last.  data_bytes must be what its other elements take; they
 * are left to the caller to fill in.  Palloc'd in the current context.
 */
extern ArrayType *array_result_create(Oid element_type, int lower_bound,
									  int64 num_items, int64 num_nulls, bool nulls_first,
									  Size data_bytes);

/*
 * The elements of source (loaded, one-dimensional) at the given 0-based
 * positions, in that order, as an array with source's lower bound.  positions
 * is a permutation of all of source's positions.
 */
extern ArrayType *array_result_gather(const array_source *source, const element_type *type,
									  const int32 *positions);

/*
 * Run a gather of elements that take num_bytes together, by threads if it is
 * large; task_items and ends are filled in.
 */
extern void array_result_run_gather(mgpu_gather *gather, Size num_bytes);

/* Memory of any size, in huge pages if it is large.  Palloc'd. */
extern void *array_result_scratch(Size bytes);

#endif							/* MGPU_ARRAY_RESULT_H */
