/*
 * agg_fn.c
 *		mgpu_sort_agg, mgpu_sort_agg_by, mgpu_percentile_cont, mgpu_percentile_disc.
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
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_trans);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_trans);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_final);
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_final);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_final);

/* Add a value to its group. */
static inline Datum
add_value(FunctionCallInfo fcinfo, agg_kind kind)
{
	uint32		group;
	agg_slot   *slot = agg_slot_of_row(fcinfo, kind, false, &group);
	agg_batch  *batch = slot->batch;

	/* percentiles store NULLs, too: a follower may be mgpu_sort_agg, which keeps them */
	if (slot->call->leader == NULL)
		chunk_put(batch->rows, batch->key, agg_batch_add_rows(batch, group, 1), PG_GETARG_DATUM(1), PG_ARGISNULL(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/*
 * mgpu_sort_agg_trans(state internal, val anyelement [, descending bool
 * [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_sort_agg_trans(PG_FUNCTION_ARGS)
{
	return add_value(fcinfo, AGG_SORT);
}

/* mgpu_percentile_cont_trans(state internal, val anyelement, fraction float8 or float8[]) → internal */
Datum
mgpu_percentile_cont_trans(PG_FUNCTION_ARGS)
{
	return add_value(fcinfo, AGG_PERCENTILE_CONT);
}

/* mgpu_percentile_disc_trans(state internal, val anyelement, fraction float8 or float8[]) → internal */
Datum
mgpu_percentile_disc_trans(PG_FUNCTION_ARGS)
{
	return add_value(fcinfo, AGG_PERCENTILE_DISC);
}

/*
 * mgpu_sort_agg_by_trans(state internal, val anyelement, key anycompatible
 * [, descending bool [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_sort_agg_by_trans(PG_FUNCTION_ARGS)
{
	uint32		group;
	agg_batch  *batch = agg_slot_of_row(fcinfo, AGG_SORT_BY, false, &group)->batch;
	uint64		row = agg_batch_add_rows(batch, group, 1);

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
	result = agg_batch_array(group.batch, group.number, group.slot->batch->sort.order.nulls_first);
	PG_RETURN_ARRAYTYPE_P(array_result_as(result, group.slot->call->aggref->aggtype));
}

static Datum
finish_percentile(FunctionCallInfo fcinfo, bool continuous)
{
	agg_group	group;
	agg_percentile percentile = {.continuous = continuous};
	chunk_slice fraction;
	const column *col;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = agg_group_of_final(fcinfo);
	fraction = agg_slot_fraction(group.slot, group.number);
	col = &fraction.rows->columns[0];
	percentile.is_array = !col->type->element.typbyval;
	percentile.fraction.isnull = column_is_null(col, fraction.first);
	percentile.fraction.value = cell_datum(col->type, col->cells, fraction.first);
	PG_RETURN_DATUM(agg_batch_percentile(group.batch, group.number, &percentile, &fcinfo->isnull));
}

/* mgpu_percentile_cont_final(state internal, arguments as nulls) → float8, interval, or an array of them */
Datum
mgpu_percentile_cont_final(PG_FUNCTION_ARGS)
{
	return finish_percentile(fcinfo, true);
}

/* mgpu_percentile_disc_final(state internal, arguments as nulls) → anyelement, or an array of them */
Datum
mgpu_percentile_disc_final(PG_FUNCTION_ARGS)
{
	return finish_percentile(fcinfo, false);
}
