/*
 * array_result.h
 *		Builds result arrays in place.
 */
#ifndef MGPU_ARRAY_ARRAY_RESULT_H
#define MGPU_ARRAY_ARRAY_RESULT_H

#include "core/gather.h"

#include "array/element_type.h"
#include "array/source.h"

/*
 * A one-dimensional array.  Its NULL elements are all first or all last, and its present elements
 * take data_bytes.
 */
typedef struct array_shape
{
	Oid			element_type;
	int			lower_bound;
	int64		num_items;		/* NULL elements included */
	int64		num_nulls;
	bool		nulls_first;
	Size		data_bytes;
} array_shape;

/* Size of such an array in bytes.  ereport(ERROR) if it exceeds the maximum size of an array. */
extern Size array_shape_bytes(const array_shape *shape);

/* Make an array of that shape in memory of array_shape_bytes.  The caller fills in the data. */
extern ArrayType *array_result_start(void *memory, const array_shape *shape);

/* As array_result_start, in new memory, palloc'd in the current context. */
extern ArrayType *array_result_create(Oid element_type, int lower_bound,
									  int64 num_items, int64 num_nulls, bool nulls_first,
									  Size data_bytes);

/*
 * The result as an array of that type.  int2vector and oidvector start at subscript 0, and have
 * one dimension even if they are empty.  Arrays of other types stay as they are.
 */
extern ArrayType *array_result_as(ArrayType *result, Oid array_type);

/*
 * Run a gather of elements that take num_bytes in total, by threads if it is large.  Sets
 * task_items and ends.
 */
extern void array_result_run_gather(mgpu_gather *gather, Size num_bytes);

/* palloc'd memory of any size, in huge pages if it is large. */
extern void *array_result_scratch(Size bytes);

#endif							/* MGPU_ARRAY_ARRAY_RESULT_H */
