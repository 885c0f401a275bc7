/*
 * merge_agg_fn.c
 *		mgpu_merge_agg: merges any number of sorted arrays into one.
 *
 * The elements of each array join the batch as rows, and are checked for order.  One
 * segmented sort then merges all groups.  The sort is stable, so elements of earlier
 * arrays come first among equals.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "core/cpu_merge_path.h"

#include "compat.h"
#include "agg/call.h"
#include "array/element_cursor.h"
#include "array/null_map.h"
#include "array/source.h"
#include "merge/merge_input.h"
#include "pgerror.h"

PG_FUNCTION_INFO_V1(mgpu_merge_agg_trans);

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

/* Number of the values from a row on, which have no NULL among them, that are in order. */
static int64
count_ordered(agg_batch *batch, uint64 first, int64 num_values)
{
	const element_type *type = &batch->key_type->element;
	bool		descending = batch->sort.order.descending;
	const char *cells = batch->key->cells;
	value_order *comparison;
	mgpu_codec	codec;

	if (type->key_kind != 0)
	{
		mgpu_codec_init(&codec, type->key_kind, type->key_width, descending);
		return mgpu_first_unsorted(&codec, false, cells + first * type->key_width, 0, num_values);
	}
	comparison = agg_batch_comparison(batch);
	for (int64 i = 1; i < num_values; i++)
	{
		int			order = value_order_compare(comparison, cell_datum(batch->key_type, cells, first + i - 1),
												cell_datum(batch->key_type, cells, first + i));

		if (descending ? order < 0 : order > 0)
			return i;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return num_values;
}

/* row is that of the array's first value. */
static void
check_sorted(agg_batch *batch, uint64 row, const array_source *source)
{
	const sort_order *order = &batch->sort.order;
	int64		misplaced = misplaced_null(source, order);
	int64		checked = misplaced < 0 ? source->num_items : misplaced;
	int64		num_values = null_bitmap_count(source->null_bitmap, 0, checked);
	int64		ordered = count_ordered(batch, row, num_values);

	if (ordered < num_values)
		mgpu_raise_not_sorted(2, source->lower_bounds[0] + (order->nulls_first ? checked - num_values : 0) + ordered);
	if (misplaced >= 0)
		mgpu_raise_not_sorted(2, source->lower_bounds[0] + misplaced);
}

/* Add an array's values, then its NULLs.  Returns the row of the first. */
static uint64
join(agg_batch *batch, uint32 group, const array_source *source)
{
	const column_type *type = batch->key_type;
	int64		num_values = source->num_items - source->num_nulls;
	uint64		first = agg_batch_add_rows(batch, group, source->num_items);
	uint64		row = first;
	element_cursor cursor;

	if (!column_is_variable(type))
	{
		memcpy(batch->key->cells + first * type->width, array_source_data(source), num_values * type->width);
		row += num_values;
	}
	element_cursor_start(&cursor, source, &type->element);
	for (int64 i = 0; row < first + num_values; i++)
	{
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (!null_bitmap_present(source->null_bitmap, i))
			continue;
		element_cursor_seek(&cursor, i);
		chunk_put(batch->rows, batch->key, row++, element_cursor_datum(&cursor), false);
	}
	while (row < first + source->num_items)
		chunk_put_null(batch->rows, batch->key, row++);
	return first;
}

static void
open_source(array_source *source, Datum array, const column_type *type)
{
	array_source_open_vector(source, array);
	array_source_load(source);
	if (source->element_type != type->element.type_id)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("array has elements of type %u, not %u", source->element_type, type->element.type_id)));
	if (!column_is_variable(type))
		array_source_require(source, (Size) (source->num_items - source->num_nulls) * type->width);
}

/*
 * mgpu_merge_agg_trans(state internal, sorted anyarray [, descending bool
 * [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_merge_agg_trans(PG_FUNCTION_ARGS)
{
	array_source source;
	agg_batch  *batch;
	uint32		group;

	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	batch = agg_slot_of_row(fcinfo, AGG_MERGE, false, &group)->batch;
	open_source(&source, PG_GETARG_DATUM(1), batch->key_type);
	if (source.num_items > 0)
		check_sorted(batch, join(batch, group, &source), &source);
	PG_RETURN_DATUM(UInt32GetDatum(group));
}
