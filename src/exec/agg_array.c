/*
 * agg_array.c
 *		array_agg without an order, or in an order by other columns than its own.
 *
 * The array is allocated at its final size and filled once.  Where the first element alone is wanted, the array has no others, and a job may
 * have found it.
 */
#include "postgres.h"

#include "utils/array.h"

#include "compat.h"
#include "array/array_result.h"
#include "exec/aggregate.h"

typedef struct array_aggregate
{
	group_aggregate base;
	bool		is_first;		/* of the array, the first element alone is wanted */
	const device_query *answer; /* of a job, or NULL */
	const table_output *output;
} array_aggregate;

/* ---- what a job has found */

static void
take_device(group_aggregate *base, const device_query *query, int number)
{
	array_aggregate *aggregate = (array_aggregate *) base;

	aggregate->answer = query;
	aggregate->output = &query->job.outputs[number];
}

/* The array of the value behind the least or greatest cells of the order. */
static Datum
first_of(const array_aggregate *aggregate, uint32 group, bool *is_null)
{
	const device_query *query = aggregate->answer;
	const table_output *output = aggregate->output;
	const uint64 *words = device_query_record(query, group) + query->request.record.reductions[output->column];
	const uint64 *cells = words + 1 + (output->is_greatest ? query->request.spec.columns[output->column].num_cells : 0) + output->behind;
	const element_type *type = &aggregate->base.input->rows->columns[aggregate->base.columns[0]].type->element;
	bool		is_null_value = cells[0] != 0;
	int			size = 1;
	Datum		value = (Datum) 0;

	*is_null = words[0] == 0;
	if (*is_null)
		return (Datum) 0;
	if (!is_null_value)
		value = device_query_datum(query, &output->cells, output->column + output->behind + 1, cells + 1);
	return PointerGetDatum(construct_md_array(&value, &is_null_value, 1, &size, &size, type->type_id, type->typlen, type->typbyval, type->typalign));
}

/* ---- what rows have */

static void
prepare(group_aggregate *base)
{
	((array_aggregate *) base)->answer = NULL;
	group_prepare_rows(base);
}

static Datum
array_of(const array_aggregate *of, uint32 group, bool *is_null)
{
	const group_aggregate *aggregate = &of->base;
	row_list	list = row_list_of(&aggregate->input->rows->columns[aggregate->columns[0]], aggregate->rows, group);
	uint64		num_items = of->is_first ? Min(row_list_size(&list), 1) : row_list_size(&list);
	int64		num_nulls = 0;
	ArrayType  *array;
	element_writer to;
	Size		bytes;

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	list.end = list.begin + num_items;
	bytes = row_list_bytes(&list, &num_nulls);
	array = array_result_create(list.col->type->element.type_id, 1, num_items, num_nulls, false, bytes);
	to = (element_writer) {ARR_DATA_PTR(array), ARR_NULLBITMAP(array), 0};
	if (to.bitmap)
		memset(to.bitmap, 0, (num_items + 7) / 8);
	row_list_write(&list, &to);
	return PointerGetDatum(array);
}

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	const array_aggregate *aggregate = (const array_aggregate *) base;

	return aggregate->answer ? first_of(aggregate, group, is_null) : array_of(aggregate, group, is_null);
}

group_aggregate *
group_array_create(const group_aggregate_source *source)
{
	array_aggregate *aggregate = (array_aggregate *) group_aggregate_create(source, sizeof(array_aggregate));

	aggregate->is_first = source->wants_first;
	aggregate->base.order = group_order_of(source->aggref, aggregate->base.columns);
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	aggregate->base.take_device = source->wants_first ? take_device : NULL;
	return &aggregate->base;
}
