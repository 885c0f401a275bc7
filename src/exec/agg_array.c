/*
 * agg_array.c
 *		array_agg without an order, or in an order by other columns than its own.
 *
 * The array is allocated at its final size and filled once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"

#include "compat.h"
#include "array/array_result.h"
#include "exec/aggregate.h"

/* Elements moved between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

/* The rows of one group. */
typedef struct row_list
{
	const column *col;
	const row_groups *rows;
	uint64		begin;
	uint64		end;
} row_list;

static inline uint64
row_at(const row_list *list, uint64 i)
{
	return row_groups_row(list->rows, i);
}

/* Size of the elements; *num_nulls of the rows have none. */
static Size
measure(const row_list *list, int64 *num_nulls)
{
	const column_type *type = list->col->type;
	Size		bytes = 0;

	*num_nulls = 0;
	if (!column_is_variable(type) && list->col->nulls == NULL)
		return (list->end - list->begin) * type->width;
	for (uint64 i = list->begin; i < list->end; i++)
	{
		uint64		row = row_at(list, i);

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		row_groups_fetch_ahead(list->rows, list->col, i, row_groups_count(list->rows));
		if (column_is_null(list->col, row))
			(*num_nulls)++;
		else
			bytes += element_bytes(type, cell_element(type, list->col->cells, row));
	}
	return bytes;
}

static void
fill(const row_list *list, char *dest, bits8 *bitmap)
{
	const column_type *type = list->col->type;

	for (uint64 i = list->begin; i < list->end; i++)
	{
		uint64		row = row_at(list, i);
		const char *element;
		Size		bytes;

		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		row_groups_fetch_ahead(list->rows, list->col, i, row_groups_count(list->rows));
		if (column_is_null(list->col, row))
			continue;
		if (bitmap)
			bitmap[(i - list->begin) / 8] |= 1 << (i - list->begin) % 8;
		element = cell_element(type, list->col->cells, row);
		bytes = element_bytes(type, element);
		memcpy(dest, element, bytes);
		dest += bytes;
	}
}

static Datum
result(group_aggregate *aggregate, uint32 group, bool *is_null)
{
	row_list	list = {&aggregate->input->rows->columns[aggregate->columns[0]], aggregate->rows,
	aggregate->rows->starts[group], aggregate->rows->starts[group + 1]};
	uint64		num_items = list.end - list.begin;
	ArrayType  *array;
	bits8	   *bitmap;
	int64		num_nulls;
	Size		bytes;

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	bytes = measure(&list, &num_nulls);
	array = array_result_create(list.col->type->element.type_id, 1, num_items, num_nulls, false, bytes);
	bitmap = ARR_NULLBITMAP(array);
	if (bitmap)
		memset(bitmap, 0, (num_items + 7) / 8);
	fill(&list, ARR_DATA_PTR(array), bitmap);
	return PointerGetDatum(array);
}

group_aggregate *
group_array_create(const group_aggregate_source *source)
{
	group_aggregate *aggregate = group_aggregate_create(source, sizeof(group_aggregate));

	aggregate->order = group_order_of(source->aggref, aggregate->columns);
	aggregate->result = result;
	return aggregate;
}
