/*
 * agg_array.c
 *		array_agg without an order, or in an order by other columns than its own.
 *
 * The array is allocated at its final size and filled once.
 */
#include "postgres.h"

#include "utils/array.h"

#include "compat.h"
#include "array/array_result.h"
#include "exec/aggregate.h"

static Datum
result(group_aggregate *aggregate, uint32 group, bool *is_null)
{
	row_list	list = row_list_of(&aggregate->input->rows->columns[aggregate->columns[0]], aggregate->rows, group);
	uint64		num_items = row_list_size(&list);
	int64		num_nulls = 0;
	ArrayType  *array;
	element_writer to;
	Size		bytes;

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	bytes = row_list_bytes(&list, &num_nulls);
	array = array_result_create(list.col->type->element.type_id, 1, num_items, num_nulls, false, bytes);
	to = (element_writer) {ARR_DATA_PTR(array), ARR_NULLBITMAP(array), 0};
	if (to.bitmap)
		memset(to.bitmap, 0, (num_items + 7) / 8);
	row_list_write(&list, &to);
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
