/*
 * agg_result.c
 *		A group of a sorted batch as an array.
 *
 * The array is allocated at its final size and filled in order, once.  Elements
 * that are not sorted themselves are picked by position, from memory that is in
 * arrival order: they are fetched some elements ahead.  Sorting elements of
 * variable width into a second arena first was rejected, as that is the same
 * picking plus a copy.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_order.h"
#include "array/result.h"

/* Elements moved between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/*
 * A group's elements in order: those in place of rows with a key first, or,
 * with NULLs in front, last.
 */
typedef struct group_slice
{
	const agg_batch *batch;
	const agg_column *column;
	uint64		begin;			/* sorted position of the first row with a key */
	uint64		num_items;
	uint64		first_null;		/* grouped value of the first row without one */
	uint64		num_nulls;
	bool		nulls_first;
} group_slice;

static group_slice
slice_group(const agg_batch *batch, uint32 group, bool nulls_first)
{
	group_slice slice;

	slice.batch = batch;
	slice.column = batch->call->kind == AGG_SORT_BY ? &batch->call->value : &batch->call->key;
	slice.begin = agg_batch_group_start(batch, group);
	slice.num_items = agg_batch_group_items(batch, group);
	slice.num_nulls = agg_batch_group_nulls(batch, group);
	slice.first_null = slice.num_nulls > 0 ? batch->num_items + batch->null_starts[group] : 0;
	slice.nulls_first = nulls_first;
	return slice;
}

static char *
append_element(const agg_column *column, char *dest, const char *element)
{
	Size		bytes = agg_column_bytes(column, element);

	memcpy(dest, element, bytes);
	return dest + bytes;
}

static ArrayType *
create(const group_slice *slice, int64 num_nulls, Size data_bytes)
{
	return array_result_create(slice->column->type.type_id, 1, slice->num_items + slice->num_nulls,
							   num_nulls, slice->nulls_first, data_bytes);
}

/* ---- keys: NULLs are all alike, and stand together */

/*
 * What a variable element's cell points to, and the cell, lie anywhere: fetch
 * them ahead.  gcc takes a function that only prefetches for one without effects
 * and drops its calls, unless it is always inlined.
 */
static pg_attribute_always_inline void
prefetch_element(const group_slice *slice, uint64 i)
{
	const agg_batch *batch = slice->batch;
	uint64		last = slice->begin + slice->num_items - 1;
	uint64		near = Min(slice->begin + i + AGG_PREFETCH_ROWS, last);
	uint64		far = Min(near + AGG_PREFETCH_ROWS, last);

	__builtin_prefetch(&((const char *const *) batch->keys)[batch->positions[far]]);
	__builtin_prefetch(((const char *const *) batch->keys)[batch->positions[near]]);
}

static Size
key_bytes(const group_slice *slice)
{
	const agg_column *column = slice->column;
	Size		bytes = 0;

	if (!agg_column_is_variable(column))
		return slice->num_items * column->width;
	if (slice->batch->num_groups == 1)
		return slice->batch->arena.taken_bytes;
	for (uint64 i = 0; i < slice->num_items; i++)
	{
		prefetch_element(slice, i);
		bytes += agg_column_bytes(column, agg_batch_sorted_key(slice->batch, slice->begin + i));
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return bytes;
}

static uint32
varlena_bytes(const char *element)
{
	return INTALIGN(VARSIZE(element));
}

/* Elements with a length, padded as text is: threads can do it. */
static bool
can_gather(const group_slice *slice)
{
	return slice->batch->positions != NULL && slice->column->store == AGG_STORE_VARLENA &&
		slice->column->align == ALIGNOF_INT;
}

static void
gather_keys(const group_slice *slice, char *dest, Size bytes)
{
	mgpu_gather gather;

	memset(&gather, 0, sizeof(gather));
	gather.cells = (const char *const *) slice->batch->keys;
	gather.bytes_of = varlena_bytes;
	gather.positions = slice->batch->positions + slice->begin;
	gather.num_items = slice->num_items;
	gather.dest = dest;
	array_result_run_gather(&gather, bytes);
}

static ArrayType *
array_of_keys(const group_slice *slice)
{
	Size		bytes = key_bytes(slice);
	ArrayType  *result = create(slice, slice->num_nulls, bytes);
	char	   *dest = ARR_DATA_PTR(result);

	if (slice->batch->sorted_keys && !agg_column_is_variable(slice->column))
	{
		memcpy(dest, agg_batch_sorted_key(slice->batch, slice->begin),
			   slice->num_items * slice->column->width);
		return result;
	}
	if (can_gather(slice))
	{
		gather_keys(slice, dest, bytes);
		return result;
	}
	for (uint64 i = 0; i < slice->num_items; i++)
	{
		if (agg_column_is_variable(slice->column))
			prefetch_element(slice, i);
		dest = append_element(slice->column, dest, agg_batch_sorted_key(slice->batch, slice->begin + i));
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return result;
}

/* ---- values: any of them may be NULL, in any place */

/* The grouped row whose value stands at place i of the result. */
static inline uint64
value_row(const group_slice *slice, uint64 i)
{
	uint64		items_from = slice->nulls_first ? slice->num_nulls : 0;

	if (i >= items_from && i < items_from + slice->num_items)
		return slice->batch->positions[slice->begin + i - items_from];
	return slice->first_null + (slice->nulls_first ? i : i - slice->num_items);
}

static inline bool
value_is_null(const group_slice *slice, uint64 row)
{
	return slice->batch->value_nulls && slice->batch->value_nulls[row];
}

static Size
measure_values(const group_slice *slice, int64 *num_null_values)
{
	Size		bytes = 0;

	*num_null_values = 0;
	for (uint64 i = 0; i < slice->num_items + slice->num_nulls; i++)
	{
		uint64		row = value_row(slice, i);

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (value_is_null(slice, row))
			(*num_null_values)++;
		else
			bytes += agg_column_bytes(slice->column,
									  agg_column_element(slice->column, slice->batch->values, row));
	}
	return bytes;
}

static ArrayType *
array_of_rows(const group_slice *slice)
{
	uint64		num_values = slice->num_items + slice->num_nulls;
	int64		num_null_values;
	Size		bytes = measure_values(slice, &num_null_values);
	ArrayType  *result = create(slice, num_null_values, bytes);
	bits8	   *bitmap = ARR_NULLBITMAP(result);
	char	   *dest = ARR_DATA_PTR(result);

	if (bitmap)
		memset(bitmap, 0, (num_values + 7) / 8);
	for (uint64 i = 0; i < num_values; i++)
	{
		uint64		row = value_row(slice, i);

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (value_is_null(slice, row))
			continue;
		if (bitmap)
			bitmap[i / 8] |= 1 << (i % 8);
		dest = append_element(slice->column, dest,
							  agg_column_element(slice->column, slice->batch->values, row));
	}
	return result;
}

static ArrayType *
array_of_values(const group_slice *slice)
{
	const agg_batch *batch = slice->batch;
	Size		bytes = slice->num_items * slice->column->width;
	ArrayType  *result;

	if (batch->sorted_values == NULL)
		return array_of_rows(slice);
	result = create(slice, 0, bytes);
	memcpy(ARR_DATA_PTR(result), batch->sorted_values + slice->begin * slice->column->width, bytes);
	return result;
}

ArrayType *
agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first)
{
	group_slice slice;
	ArrayType  *result;

	agg_batch_group(batch);
	if (agg_batch_sorts_into_result(batch))
	{
		slice = slice_group(batch, group, nulls_first);
		result = create(&slice, slice.num_nulls, slice.num_items * slice.column->width);
		agg_batch_sort_into(batch, ARR_DATA_PTR(result));
		return result;
	}
	slice = slice_group(batch, group, nulls_first);
	agg_batch_sort(batch);
	if (slice.num_items + slice.num_nulls == 0)
		return construct_empty_array(slice.column->type.type_id);
	return batch->call->kind == AGG_SORT_BY ? array_of_values(&slice) : array_of_keys(&slice);
}
