/*
 * result.h
 *		Builds result arrays in place.
 */
#ifndef MGPU_ARRAY_RESULT_H
#define MGPU_ARRAY_RESULT_H

#include "core/gather.h"

#include "array/element_type.h"
#include "array/source.h"

/*
 * A one-dimensional array whose num_nulls NULL elements stand first or last, and
 * whose other elements take data_bytes.
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

/* What such an array takes; ereport(ERROR) if that is more than an array may. */
extern Size array_shape_bytes(const array_shape *shape);

/* An array of that shape in memory of array_shape_bytes, its data left to the caller to fill in. */
extern ArrayType *array_result_start(void *memory, const array_shape *shape);

/* The same in memory of its own, palloc'd in the current context. */
extern ArrayType *array_result_create(Oid element_type, int lower_bound,
									  int64 num_items, int64 num_nulls, bool nulls_first,
									  Size data_bytes);

/*
 * Run a gather of elements that take num_bytes together, by threads if it is
 * large; task_items and ends are filled in.
 */
extern void array_result_run_gather(mgpu_gather *gather, Size num_bytes);

/* Memory of any size, in huge pages if it is large.  Palloc'd. */
extern void *array_result_scratch(Size bytes);

#endif							/* MGPU_ARRAY_RESULT_H */
