/*
 * array_gather.c
 *		Fills a result array with the elements of another one, in a given order.
 *
 * Fixed-width elements are found by their number.  Others need a table of offsets, which a walk
 * over the array makes.  String keys already have such a table.  Threads copy the elements,
 * because each one is a cache miss.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "compat.h"
#include "array/array_gather.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "threads.h"

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

#define TASK_ITEMS (32 * 1024)
#define THREADS_MIN_TASKS 8

/* ---- elements of one width */

typedef struct fixed_gather
{
	char	   *dest;
	const char *data;
	int			stride;
	const uint32 *ranks;
	int64		num_items;
} fixed_gather;

/* Inlined with a constant stride, so that a copy is a move or two. */
static pg_attribute_always_inline void
gather_each(char *dest, const char *data, int stride, const uint32 *ranks, int64 num_items)
{
	for (int64 i = 0; i < num_items; i++)
		memcpy(dest + i * stride, data + (Size) ranks[i] * stride, stride);
}

static void
fixed_task(void *context, uint64 task, int worker)
{
	const fixed_gather *gather = context;
	int64		first = task * TASK_ITEMS;
	int64		num_items = Min(TASK_ITEMS, gather->num_items - first);
	char	   *dest = gather->dest + first * gather->stride;
	const uint32 *ranks = gather->ranks + first;

	switch (gather->stride)
	{
		case 1:
			gather_each(dest, gather->data, 1, ranks, num_items);
			break;
		case 2:
			gather_each(dest, gather->data, 2, ranks, num_items);
			break;
		case 4:
			gather_each(dest, gather->data, 4, ranks, num_items);
			break;
		case 8:
			gather_each(dest, gather->data, 8, ranks, num_items);
			break;
		case 16:
			gather_each(dest, gather->data, 16, ranks, num_items);
			break;
		default:
			gather_each(dest, gather->data, gather->stride, ranks, num_items);
	}
}

void
gather_cells(char *dest, const char *cells, int width, const uint32 *numbers, int64 num_items)
{
	fixed_gather gather = {dest, cells, width, numbers, num_items};

	thread_work_once(fixed_task, &gather, (num_items + TASK_ITEMS - 1) / TASK_ITEMS, THREADS_MIN_TASKS);
}

static void
gather_fixed(ArrayType *result, const array_source *source, const element_type *type, const uint32 *ranks)
{
	int64		num_items = source->num_items - source->num_nulls;

	array_source_require(source, num_items * type->stride);
	gather_cells(ARR_DATA_PTR(result), array_source_data(source), type->stride, ranks, num_items);
}

/* ---- elements that vary in width */

static MGPU_NORETURN void
raise_past_end(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("array elements run past the end of the array")));
}

/* Byte offsets of the present elements, and the end of the last one. */
static uint32 *
element_offsets(const array_source *source, const element_type *type, int64 num_items)
{
	uint32	   *offsets = array_result_scratch((num_items + 1) * sizeof(uint32));
	const char *data = array_source_data(source);
	Size		offset = 0;
	Size		bytes = 0;

	for (int64 i = 0; i < num_items; i++)
	{
		offsets[i] = (uint32) offset;
		if (offset < source->data_bytes)
			bytes = att_align_nominal(att_addlength_pointer(0, type->typlen, data + offset), type->typalign);
		if (offset >= source->data_bytes || bytes == 0 || bytes > source->data_bytes - offset)
			raise_past_end();
		offset += bytes;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	offsets[num_items] = (uint32) offset;
	return offsets;
}

static void
gather_by_offsets(ArrayType *result, const array_source *source, const element_type *type,
				  const uint32 *ranks)
{
	int64		num_items = source->num_items - source->num_nulls;
	uint32	   *offsets = element_offsets(source, type, num_items);
	mgpu_gather gather;

	memset(&gather, 0, sizeof(gather));
	gather.data = array_source_data(source);
	gather.offsets = offsets;
	gather.positions = ranks;
	gather.num_items = num_items;
	gather.dest = ARR_DATA_PTR(result);
	array_result_run_gather(&gather, source->data_bytes);
	pfree(offsets);
}

static uint32
element_bytes(const char *element)
{
	return INTALIGN(VARSIZE(element));
}

static void
gather_by_spans(ArrayType *result, const array_source *source, const uint32 *ranks, const mgpu_span *spans)
{
	mgpu_gather gather;

	memset(&gather, 0, sizeof(gather));
	gather.data = array_source_data(source) - VARHDRSZ;
	gather.spans = spans;
	gather.bytes_of = element_bytes;
	gather.positions = ranks;
	gather.num_items = source->num_items - source->num_nulls;
	gather.dest = ARR_DATA_PTR(result);
	array_result_run_gather(&gather, source->data_bytes);
}

void
array_gather_present(ArrayType *result, const array_source *source, const element_type *type,
					 const uint32 *ranks, const mgpu_span *spans)
{
	Assert(source->array != NULL);
	if (type->stride > 0)
		gather_fixed(result, source, type, ranks);
	else if (spans != NULL)
		gather_by_spans(result, source, ranks, spans);
	else
		gather_by_offsets(result, source, type, ranks);
}

/* ---- by positions */

/* Set the result's bitmap.  Returns the ranks of the present elements, in the order of positions. */
static uint32 *
ranks_of_positions(ArrayType *result, const array_source *source, const int32 *positions)
{
	uint32	   *ranks = array_result_scratch((source->num_items - source->num_nulls) * sizeof(uint32));
	uint8	   *bitmap = ARR_NULLBITMAP(result);
	int64		num_ranks = 0;
	null_map	map;

	memset(bitmap, 0, (source->num_items + 7) / 8);
	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < source->num_items; i++)
	{
		if (null_bitmap_present(source->null_bitmap, positions[i]))
		{
			bitmap[i / 8] |= 1 << (i % 8);
			ranks[num_ranks++] = null_map_rank(&map, positions[i]);
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	null_map_free(&map);
	return ranks;
}

void
array_gather(ArrayType *result, const array_source *source, const element_type *type, const int32 *positions)
{
	uint32	   *ranks;

	Assert(source->array != NULL);
	if (source->num_nulls == 0)
	{
		array_gather_present(result, source, type, (const uint32 *) positions, NULL);
		return;
	}
	ranks = ranks_of_positions(result, source, positions);
	array_gather_present(result, source, type, ranks, NULL);
	pfree(ranks);
}
