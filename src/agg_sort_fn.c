/*
 * agg_sort_fn.c
 *		mgpu_sort_agg, mgpu_sort_agg_by: sorted arrays as aggregates.
 *
 * A transition is a few instructions: find the batch, write a row.  The state
 * that PostgreSQL keeps for a group is its number, so that no pointer has to be
 * followed to a state of the group's own.
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "agg_call.h"

PG_FUNCTION_INFO_V1(mgpu_sort_agg_trans);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_by_trans);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_final);

/*
 * mgpu_sort_agg_trans(state internal, val anyelement [, descending bool
 * [, nulls_first bool]]) → internal: the number of the row's group
 */
Datum
mgpu_sort_agg_trans(PG_FUNCTION_ARGS)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	agg_batch  *batch;
	uint32		group;

	if (unlikely(call == NULL))
		call = agg_call_start(fcinfo, AGG_SORT);
	batch = agg_call_batch(call);
	group = PG_ARGISNULL(0) ? agg_batch_new_group(batch) : DatumGetUInt32(PG_GETARG_DATUM(0));
	if (call->args_vary)
		agg_call_order_args(batch, fcinfo, 2);
	if (call->leader)
		PG_RETURN_DATUM(UInt32GetDatum(group));
	if (PG_ARGISNULL(1))
		agg_batch_add_nulls(batch, group, 1);
	else
		agg_batch_add_key(batch, group, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

static void
add_value(agg_batch *batch, agg_rows *rows, uint32 row, Datum value, bool is_null)
{
	const agg_column *column = rows->value_column;
	char	   *cells = rows->last->values;

	if (!is_null)
	{
		agg_column_put(column, &batch->arena, cells, row, value);
		return;
	}
	memset(cells + (Size) row * column->width, 0, column->width);
	agg_rows_value_is_null(rows, row);
}

/*
 * mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible
 * [, descending bool [, nulls_first bool]]) → internal
 */
Datum
mgpu_sort_agg_by_trans(PG_FUNCTION_ARGS)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	agg_batch  *batch;
	agg_rows   *rows;
	uint32		group;
	uint32		row;

	if (unlikely(call == NULL))
		call = agg_call_start(fcinfo, AGG_SORT_BY);
	batch = agg_call_batch(call);
	group = PG_ARGISNULL(0) ? agg_batch_new_group(batch) : DatumGetUInt32(PG_GETARG_DATUM(0));
	if (call->args_vary)
		agg_call_order_args(batch, fcinfo, 3);
	rows = PG_ARGISNULL(2) ? &batch->null_rows : &batch->rows;
	row = agg_rows_add(rows, group);
	if (!PG_ARGISNULL(2))
		agg_column_put(rows->key_column, &batch->arena, rows->last->keys, row, PG_GETARG_DATUM(2));
	add_value(batch, rows, row, PG_GETARG_DATUM(1), PG_ARGISNULL(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/*
 * mgpu_sort_agg_final(state internal, arguments as nulls) → anyarray: for
 * mgpu_sort_agg, mgpu_sort_agg_by and mgpu_merge_agg
 */
Datum
mgpu_sort_agg_final(PG_FUNCTION_ARGS)
{
	agg_call   *call;
	agg_batch  *own;
	agg_batch  *batch;
	uint32		group;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = DatumGetUInt32(PG_GETARG_DATUM(0));
	call = agg_call_of_final(fcinfo);
	own = agg_call_existing_batch(call, group);
	batch = call->leader ? agg_call_existing_batch(call->leader, group) : own;
	PG_RETURN_ARRAYTYPE_P(agg_batch_array(batch, group, own->order.nulls_first));
}
