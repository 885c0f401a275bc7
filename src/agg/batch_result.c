/*
 * batch_result.c
 *		A group of a sorted batch as an array.
 *
 * The array is allocated at its final size and filled once, in order.  Elements that
 * were not moved by the sort are copied by position, from memory in arrival order.
 * Sorting elements of variable width into a second arena first was rejected: it copies
 * each of them once more.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "compat.h"
#include "agg/call.h"
#include "array/array_result.h"

/* Elements moved between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

/* Elements are scattered in memory; prefetch this many ahead. */
#define PREFETCH_ITEMS 32

/* The elements of a group's array: its items, and before or after them the rows without a key. */
typedef struct group_slice
{
	const agg_batch *batch;
	const column_type *type;	/* type of the array's elements */
	uint32		group;
	uint64		begin;			/* sorted position of the first item */
	uint64		num_items;
	uint64		num_nulls;		/* rows without a key */
	bool		nulls_first;
} group_slice;

static ArrayType *
create(const group_slice *slice, int64 num_nulls, Size data_bytes)
{
	return array_result_create(slice->type->element.type_id, 1, slice->num_items + slice->num_nulls,
							   num_nulls, slice->nulls_first, data_bytes);
}

/* Whether element i of the array belongs to a row with a key; *item is its number in the group. */
static inline bool
is_item(const group_slice *slice, uint64 i, uint64 *item)
{
	*item = i - (slice->nulls_first ? slice->num_nulls : 0);
	return *item < slice->num_items;
}

/* Element i of the array; NULL pointer for a NULL. */
static inline const char *
element_at(const group_slice *slice, uint64 i)
{
	const agg_batch *batch = slice->batch;
	const column *values = batch->value;
	uint64		item;
	uint64		row;

	if (is_item(slice, i, &item))
	{
		uint32		position = batch->positions[slice->begin + item];

		if (values == NULL)
			return cell_element(slice->type, batch->keys, position);
		row = row_groups_row(&batch->items, position);
	}
	else if (values == NULL)
		return NULL;
	else
		row = batch->nulls.numbers[batch->nulls.starts[slice->group] + (slice->nulls_first ? i : i - slice->num_items)];
	return column_is_null(values, row) ? NULL : cell_element(slice->type, values->cells, row);
}

/*
 * Prefetch the cell of a variable key, and the element that a nearer cell points to:
 * both are scattered in memory.  Always inlined, because gcc considers a function that
 * only prefetches free of effects and drops its calls.
 */
static pg_attribute_always_inline void
prefetch_key(const group_slice *slice, uint64 item)
{
	const uint32 *positions = slice->batch->positions + slice->begin;
	const char *const *keys = (const char *const *) slice->batch->keys;
	uint64		near = Min(item + PREFETCH_ITEMS, slice->num_items - 1);
	uint64		far = Min(near + PREFETCH_ITEMS, slice->num_items - 1);

	__builtin_prefetch(&keys[positions[far]]);
	__builtin_prefetch(keys[positions[near]]);
}

static Size
measure(const group_slice *slice, int64 *num_nulls)
{
	bool		prefetches = slice->batch->value == NULL && column_is_variable(slice->type);
	Size		bytes = 0;

	*num_nulls = slice->num_nulls;
	if (prefetches && slice->batch->num_groups == 1 && !slice->batch->borrowed)
		return slice->batch->rows->arena.taken_bytes;
	*num_nulls = 0;
	for (uint64 i = 0; i < slice->num_items + slice->num_nulls; i++)
	{
		const char *element;
		uint64		item;

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (prefetches && is_item(slice, i, &item))
			prefetch_key(slice, item);
		element = element_at(slice, i);
		if (element)
			bytes += element_bytes(slice->type, element);
		else
			(*num_nulls)++;
	}
	return bytes;
}

static uint32
varlena_bytes(const char *element)
{
	return INTALIGN(VARSIZE(element));
}

/* Copy varlena keys of int alignment, using threads. */
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

/* The array of elements that are copied by position. */
static ArrayType *
pick_array(const group_slice *slice)
{
	uint64		num_elements = slice->num_items + slice->num_nulls;
	int64		num_nulls;
	Size		bytes = measure(slice, &num_nulls);
	ArrayType  *result = create(slice, num_nulls, bytes);
	bits8	   *bitmap = ARR_NULLBITMAP(result);
	char	   *dest = ARR_DATA_PTR(result);

	if (slice->batch->value == NULL && slice->type->store == COLUMN_VARLENA && slice->type->align == ALIGNOF_INT)
	{
		if (slice->num_items > 0)
			gather_keys(slice, dest, bytes);
		return result;
	}
	if (bitmap)
		memset(bitmap, 0, (num_elements + 7) / 8);
	for (uint64 i = 0; i < num_elements; i++)
	{
		const char *element = element_at(slice, i);

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (element == NULL)
			continue;
		if (bitmap)
			bitmap[i / 8] |= 1 << (i % 8);
		bytes = element_bytes(slice->type, element);
		memcpy(dest, element, bytes);
		dest += bytes;
	}
	return result;
}

ArrayType *
agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first)
{
	group_slice slice = {.batch = batch,.group = group,.nulls_first = nulls_first};
	const char *sorted;
	Size		bytes;
	ArrayType  *result;

	agg_batch_group(batch);
	slice.type = batch->value ? &batch->call->value : &batch->call->key;
	slice.begin = batch->items.starts[group];
	slice.num_items = row_groups_size(&batch->items, group);
	slice.num_nulls = row_groups_size(&batch->nulls, group);
	bytes = slice.num_items * slice.type->width;
	agg_batch_sort(batch);
	if (slice.num_items + slice.num_nulls == 0)
		return construct_empty_array(slice.type->element.type_id);
	sorted = batch->value ? batch->sorted_values : batch->sorted_keys;
	if (sorted == NULL)
		return pick_array(&slice);
	result = create(&slice, slice.num_nulls, bytes);
	memcpy(ARR_DATA_PTR(result), sorted + slice.begin * slice.type->width, bytes);
	return result;
}
