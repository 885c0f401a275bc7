/*
 * sort_agg_fn.c
 *		mgpu_sort_agg, mgpu_sort_agg_by: sorted arrays as aggregates.
 *
 * A transition finds the batch and writes a row, in a few instructions.  The state that
 * PostgreSQL stores is the number of the group.  A state of its own for each group was
 * rejected: each row would follow a pointer to it.
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "agg/call.h"
#include "array/array_result.h"

PG_FUNCTION_INFO_V1(mgpu_sort_agg_trans);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_by_trans);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_final);

/*
 * mgpu_sort_agg_trans(state internal, val anyelement [, descending bool
 * [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_sort_agg_trans(PG_FUNCTION_ARGS)
{
	uint32		group;
	agg_batch  *batch = agg_group_of_row(fcinfo, AGG_SORT, false, &group);

	if (batch->call->args_vary)
		agg_call_order_args(batch, fcinfo, 2);
	if (batch->call->leader == NULL)
		agg_batch_add_key(batch, group, PG_GETARG_DATUM(1), PG_ARGISNULL(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/*
 * mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible
 * [, descending bool [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_sort_agg_by_trans(PG_FUNCTION_ARGS)
{
	uint32		group;
	agg_batch  *batch = agg_group_of_row(fcinfo, AGG_SORT_BY, false, &group);
	uint64		row;

	if (batch->call->args_vary)
		agg_call_order_args(batch, fcinfo, 3);
	row = agg_batch_add_rows(batch, group, 1);
	chunk_put(batch->rows, batch->key, row, PG_GETARG_DATUM(2), PG_ARGISNULL(2));
	chunk_put(batch->rows, batch->value, row, PG_GETARG_DATUM(1), PG_ARGISNULL(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/*
 * mgpu_sort_agg_final(state internal, arguments as nulls) → anyarray
 * The final function of mgpu_sort_agg, mgpu_sort_agg_by and mgpu_merge_agg.
 */
Datum
mgpu_sort_agg_final(PG_FUNCTION_ARGS)
{
	agg_group	group;
	ArrayType  *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = agg_group_of_final(fcinfo);
	result = agg_batch_array(group.batch, group.number, group.own->order.nulls_first);
	PG_RETURN_ARRAYTYPE_P(array_result_as(result, group.own->call->aggref->aggtype));
}
