/*
 * batch_array.c
 *		A group of a sorted batch as an array.
 *
 * The array is allocated at its final size and filled once, in order.  Elements that
 * were not moved by the sort are copied by position, from memory in arrival order.
 * Sorting elements of variable width into a second arena first was rejected: it copies
 * each of them once more.
 */
#include "postgres.h"

#include "compat.h"
#include "agg/batch.h"
#include "array/array_result.h"

static uint32
varlena_bytes(const char *element)
{
	return INTALIGN(VARSIZE(element));
}

/* Copy varlena keys of int alignment, using threads. */
static void
gather_keys(const row_list *items, char *dest, Size bytes)
{
	mgpu_gather gather;

	memset(&gather, 0, sizeof(gather));
	gather.cells = (const char *const *) items->col->cells;
	gather.bytes_of = varlena_bytes;
	gather.positions = items->rows->numbers + items->begin;
	gather.num_items = items->end - items->begin;
	gather.dest = dest;
	if (gather.num_items > 0)
		array_result_run_gather(&gather, bytes);
}

/* The array of elements that are copied by position: keys, or the values of rows with a key and of rows without. */
static ArrayType *
pick_array(const agg_batch *batch, uint32 group, bool nulls_first)
{
	column		keys = {batch->key_type, batch->keys, NULL};
	const column *col = batch->value ? batch->value : &keys;
	row_groups	sorted = {batch->num_groups, batch->positions, batch->items.starts};
	row_list	items = row_list_of(col, &sorted, group);
	row_list	nulls = row_list_of(col, &batch->nulls, group);
	uint64		num_elements = row_list_size(&items) + row_list_size(&nulls);
	int64		num_nulls = 0;
	ArrayType  *result;
	element_writer to;
	Size		bytes;

	if (batch->value)
		bytes = row_list_bytes(&items, &num_nulls) + row_list_bytes(&nulls, &num_nulls);
	else
	{
		num_nulls = row_list_size(&nulls);
		bytes = batch->num_groups == 1 && !batch->borrowed && column_is_variable(col->type)
			? batch->rows->arena.taken_bytes : row_list_bytes(&items, &num_nulls);
		nulls.end = nulls.begin;
	}
	result = array_result_create(col->type->element.type_id, 1, num_elements, num_nulls, nulls_first, bytes);
	if (batch->value == NULL && col->type->store == COLUMN_VARLENA && col->type->align == ALIGNOF_INT)
	{
		gather_keys(&items, ARR_DATA_PTR(result), bytes);
		return result;
	}
	/* the bitmap of keys is right already */
	to = (element_writer) {ARR_DATA_PTR(result), batch->value ? ARR_NULLBITMAP(result) : NULL, 0};
	if (to.bitmap)
		memset(to.bitmap, 0, (num_elements + 7) / 8);
	row_list_write(nulls_first ? &nulls : &items, &to);
	row_list_write(nulls_first ? &items : &nulls, &to);
	return result;
}

ArrayType *
agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first)
{
	const column_type *type = batch->value ? batch->value->type : batch->key_type;
	const char *sorted;
	uint64		num_items;
	uint64		num_nulls;
	ArrayType  *result;

	agg_batch_sort(batch);
	num_items = row_groups_size(&batch->items, group);
	num_nulls = row_groups_size(&batch->nulls, group);
	sorted = batch->value ? batch->sorted_values : batch->sorted_keys;
	if (num_items + num_nulls == 0)
		return construct_empty_array(type->element.type_id);
	if (sorted == NULL)
		return pick_array(batch, group, nulls_first);
	result = array_result_create(type->element.type_id, 1, num_items + num_nulls, num_nulls, nulls_first,
								 num_items * type->width);
	memcpy(ARR_DATA_PTR(result), sorted + batch->items.starts[group] * type->width, num_items * type->width);
	return result;
}
