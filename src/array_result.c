/*
 * array_result.c
 *		Builds result arrays in place.
 *
 * Large results are built where they will be returned, with no copy in between.
 * A fresh 40 MB allocation costs more in page faults than sorting it does on a
 * GPU, so large ones ask for huge pages.
 *
 * Element sizes in an array include their padding and do not depend on where
 * the element stands, so a permuted array has exactly its source's data size.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "array_result.h"
#include "null_map.h"
#include "pgerror.h"
#include "thread_work.h"

/* From this size on huge pages save more than the advice costs. */
#define HUGE_PAGE_MIN_BYTES (4 * 1024 * 1024)

/* Tasks of a gather from which on threads take part. */
#define THREADS_MIN_TASKS 32

/* How many elements to move between looks at interrupts. */
#define GATHER_STEP_ITEMS (256 * 1024)

/* Advice alone: where it is refused the memory works as before. */
static void
advise_huge_pages(char *start, Size bytes)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = TYPEALIGN(4096, (uintptr_t) start);
	uintptr_t	last = TYPEALIGN_DOWN(4096, (uintptr_t) start + bytes);

	if (last > first)
		(void) madvise((void *) first, last - first, MADV_HUGEPAGE);
#endif
}

void *
array_result_scratch(Size bytes)
{
	char	   *memory = palloc_extended(Max(bytes, 1), MCXT_ALLOC_HUGE);

	if (bytes >= HUGE_PAGE_MIN_BYTES)
		advise_huge_pages(memory, bytes);
	return memory;
}

static void
set_bitmap(bits8 *bitmap, int64 num_items, int64 first_present, int64 end_present)
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

ArrayType *
array_result_create(Oid element_type, int lower_bound, int64 num_items,
					int64 num_nulls, bool nulls_first, Size data_bytes)
{
	Size		overhead = num_nulls > 0 ? ARR_OVERHEAD_WITHNULLS(1, num_items) : ARR_OVERHEAD_NONULLS(1);
	Size		total = overhead + data_bytes;
	ArrayType  *result;

	if (num_items > (int64) MaxArraySize || total > MaxAllocSize)
		mgpu_raise_too_large(num_items);
	result = palloc(total);
	if (total >= HUGE_PAGE_MIN_BYTES)
		advise_huge_pages((char *) result, total);
	memset(result, 0, overhead);
	SET_VARSIZE(result, total);
	result->ndim = 1;
	result->dataoffset = num_nulls > 0 ? overhead : 0;
	result->elemtype = element_type;
	ARR_DIMS(result)[0] = num_items;
	ARR_LBOUND(result)[0] = lower_bound;
	if (num_nulls > 0)
		set_bitmap(ARR_NULLBITMAP(result), num_items,
				   nulls_first ? num_nulls : 0,
				   nulls_first ? num_items : num_items - num_nulls);
	return result;
}

/* Fixed stride, every element present. */
static void
gather_fixed(char *dest, const char *data, int stride, const int32 *positions, int64 num_items)
{
	switch (stride)
	{
		case 1:
			for (int64 i = 0; i < num_items; i++)
				dest[i] = data[positions[i]];
			break;
		case 2:
			for (int64 i = 0; i < num_items; i++)
				memcpy(dest + i * 2, data + (Size) positions[i] * 2, 2);
			break;
		case 4:
			for (int64 i = 0; i < num_items; i++)
				memcpy(dest + i * 4, data + (Size) positions[i] * 4, 4);
			break;
		case 8:
			for (int64 i = 0; i < num_items; i++)
				memcpy(dest + i * 8, data + (Size) positions[i] * 8, 8);
			break;
		case 16:
			for (int64 i = 0; i < num_items; i++)
				memcpy(dest + i * 16, data + (Size) positions[i] * 16, 16);
			break;
		default:
			for (int64 i = 0; i < num_items; i++)
				memcpy(dest + i * stride, data + (Size) positions[i] * stride, stride);
	}
}

/*
 * Byte offset of each element of variable width; NULL elements get that of the
 * next one, which makes offsets[i + 1] - offsets[i] the size of each.
 */
static uint32 *
element_offsets(const array_source *source, const element_type *type)
{
	const char *data = array_source_data(source);
	uint32	   *offsets = array_result_scratch((source->num_items + 1) * sizeof(uint32));
	Size		offset = 0;

	for (int64 i = 0; i < source->num_items; i++)
	{
		offsets[i] = offset;
		if (null_bitmap_present(source->null_bitmap, i))
		{
			offset = att_addlength_pointer(offset, type->typlen, data + offset);
			offset = att_align_nominal(offset, type->typalign);
		}
		if (i % GATHER_STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	offsets[source->num_items] = offset;
	if (offset > source->data_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("array elements run past the end of the array")));
	return offsets;
}

static void
gather_variable(char *dest, const array_source *source, const element_type *type,
				const int32 *positions)
{
	uint32	   *offsets = element_offsets(source, type);
	mgpu_gather gather;

	memset(&gather, 0, sizeof(gather));
	gather.data = array_source_data(source);
	gather.offsets = offsets;
	gather.positions = (const uint32 *) positions;
	gather.num_items = source->num_items;
	gather.dest = dest;
	array_result_run_gather(&gather, source->data_bytes);
	pfree(offsets);
}

void
array_result_run_gather(mgpu_gather *gather, Size num_bytes)
{
	gather->task_items = mgpu_gather_task_items(gather->num_items, num_bytes);
	gather->ends = palloc0(mgpu_gather_tasks(gather) * sizeof(*gather->ends));
	thread_work_once(mgpu_gather_task, gather, mgpu_gather_tasks(gather), THREADS_MIN_TASKS);
	pfree((void *) gather->ends);
}

/* Fixed stride with NULL elements, which take no room. */
static void
gather_fixed_nulls(char *dest, const array_source *source, int stride, const int32 *positions)
{
	const char *data = array_source_data(source);
	null_map	map;

	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < source->num_items; i++)
	{
		if (null_bitmap_present(source->null_bitmap, positions[i]))
		{
			memcpy(dest, data + (Size) null_map_rank(&map, positions[i]) * stride, stride);
			dest += stride;
		}
		if (i % GATHER_STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	null_map_free(&map);
}

static void
gather_bitmap(bits8 *bitmap, const array_source *source, const int32 *positions)
{
	memset(bitmap, 0, (source->num_items + 7) / 8);
	for (int64 i = 0; i < source->num_items; i++)
		if (null_bitmap_present(source->null_bitmap, positions[i]))
			bitmap[i / 8] |= 1 << (i % 8);
}

ArrayType *
array_result_gather(const array_source *source, const element_type *type, const int32 *positions)
{
	int64		num_items = source->num_items;
	Size		data_bytes = type->stride > 0
		? (Size) (num_items - source->num_nulls) * type->stride
		: source->data_bytes;
	ArrayType  *result;
	char	   *dest;

	Assert(source->array != NULL);
	array_source_require(source, data_bytes);
	result = array_result_create(source->element_type, source->lower_bounds[0],
								 num_items, source->num_nulls, false, data_bytes);
	dest = ARR_DATA_PTR(result);
	if (source->num_nulls > 0)
		gather_bitmap(ARR_NULLBITMAP(result), source, positions);
	if (type->stride == 0)
		gather_variable(dest, source, type, positions);
	else if (source->num_nulls > 0)
		gather_fixed_nulls(dest, source, type->stride, positions);
	else
		for (int64 i = 0; i < num_items; i += GATHER_STEP_ITEMS)
		{
			gather_fixed(dest + i * type->stride, array_source_data(source), type->stride,
						 positions + i, Min(GATHER_STEP_ITEMS, num_items - i));
			CHECK_FOR_INTERRUPTS();
		}
	return result;
}
