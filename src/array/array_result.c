/*
 * array_result.c
 *		Builds result arrays in place.
 *
 * Large results are built where they are returned, without a copy.  Fresh memory of 40 MB costs
 * more in page faults than sorting it on a GPU, so large results ask for huge pages.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "array/array_result.h"
#include "large_memory.h"
#include "pgerror.h"
#include "threads.h"

/* Gathers of fewer tasks run without threads. */
#define THREADS_MIN_TASKS 32

void *
array_result_scratch(Size bytes)
{
	return large_alloc(CurrentMemoryContext, bytes);
}

static void
set_bitmap(uint8 *bitmap, int64 num_items, int64 first_present, int64 end_present)
{
	memset(bitmap, 0, (num_items + 7) / 8);
	while (first_present < end_present && first_present % 8 != 0)
	{
		bitmap[first_present / 8] |= 1 << (first_present % 8);
		first_present++;
	}
	if (first_present < end_present)
		memset(bitmap + first_present / 8, 0xFF, (end_present - first_present) / 8);
	for (int64 i = Max(first_present, end_present / 8 * 8); i < end_present; i++)
		bitmap[i / 8] |= 1 << (i % 8);
}

Size
array_shape_bytes(const array_shape *shape)
{
	Size		overhead = shape->num_nulls > 0 ? ARR_OVERHEAD_WITHNULLS(1, shape->num_items) : ARR_OVERHEAD_NONULLS(1);

	if (shape->num_items > (int64) MaxArraySize || overhead + shape->data_bytes > MaxAllocSize)
		mgpu_raise_too_large(shape->num_items);
	return overhead + shape->data_bytes;
}

static ArrayType *
start(void *memory, const array_shape *shape, Size total)
{
	Size		overhead = total - shape->data_bytes;
	ArrayType  *result = memory;

	large_memory_advise(memory, total);
	memset(result, 0, overhead);
	SET_VARSIZE(result, total);
	result->ndim = 1;
	result->dataoffset = shape->num_nulls > 0 ? overhead : 0;
	result->elemtype = shape->element_type;
	ARR_DIMS(result)[0] = shape->num_items;
	ARR_LBOUND(result)[0] = shape->lower_bound;
	if (shape->num_nulls > 0)
		set_bitmap(ARR_NULLBITMAP(result), shape->num_items,
				   shape->nulls_first ? shape->num_nulls : 0,
				   shape->nulls_first ? shape->num_items : shape->num_items - shape->num_nulls);
	return result;
}

ArrayType *
array_result_start(void *memory, const array_shape *shape)
{
	return start(memory, shape, array_shape_bytes(shape));
}

ArrayType *
array_result_create(Oid element_type, int lower_bound, int64 num_items,
					int64 num_nulls, bool nulls_first, Size data_bytes)
{
	array_shape shape = {element_type, lower_bound, num_items, num_nulls, nulls_first, data_bytes};
	Size		total = array_shape_bytes(&shape);

	return start(palloc(total), &shape, total);
}

ArrayType *
array_result_as(ArrayType *result, Oid array_type)
{
	if (array_type != INT2VECTOROID && array_type != OIDVECTOROID)
		return result;
	if (ARR_NDIM(result) == 0)
		return array_result_create(ARR_ELEMTYPE(result), 0, 0, 0, false, 0);
	ARR_LBOUND(result)[0] = 0;
	return result;
}

void
array_result_run_gather(mgpu_gather *gather, Size num_bytes)
{
	gather->task_items = mgpu_gather_task_items(gather->num_items, num_bytes);
	gather->ends = palloc0(mgpu_gather_tasks(gather) * sizeof(*gather->ends));
	thread_work_once(mgpu_gather_task, gather, mgpu_gather_tasks(gather), THREADS_MIN_TASKS);
	pfree((void *) gather->ends);
}
