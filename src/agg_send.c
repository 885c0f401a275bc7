/*
 * agg_send.c
 *		Partial aggregation, a worker's side: a group's rows as bytes.
 *
 * A worker sends the rows of each of its groups unsorted; the leader sorts
 * everything once.  Sending sorted runs to be merged was rejected: workers would
 * sort what the leader then still has to merge, and one vectorized sort of the
 * whole costs little more than that merge.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/executor.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_run.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(mgpu_agg_serialize);

/* Consecutive rows of a column. */
typedef struct column_slice
{
	const agg_column *column;
	const char *cells;			/* of all rows */
	const bool *nulls;			/* of all rows; NULL: none is */
	uint64		begin;
	uint64		num_rows;
} column_slice;

static Size
slice_bytes(const column_slice *slice)
{
	Size		bytes = 0;

	if (!agg_column_is_variable(slice->column))
		return slice->num_rows * slice->column->width;
	for (uint64 i = slice->begin; i < slice->begin + slice->num_rows; i++)
		if (slice->nulls == NULL || !slice->nulls[i])
			bytes += agg_column_bytes(slice->column, agg_column_element(slice->column, slice->cells, i));
	return bytes;
}

static char *
send_slice(const column_slice *slice, char *dest)
{
	const agg_column *column = slice->column;
	Size		bytes = slice->num_rows * column->width;

	if (!agg_column_is_variable(column))
	{
		if (bytes > 0)
			memcpy(dest, slice->cells + slice->begin * column->width, bytes);
		return dest + bytes;
	}
	for (uint64 i = slice->begin; i < slice->begin + slice->num_rows; i++)
	{
		const char *element = agg_column_element(column, slice->cells, i);

		if (slice->nulls && slice->nulls[i])
			continue;
		bytes = agg_column_bytes(column, element);
		memcpy(dest, element, bytes);
		dest += bytes;
	}
	return dest;
}

static char *
send_value_nulls(const column_slice *slice, char *dest)
{
	memcpy(dest, slice->nulls + slice->begin, slice->num_rows);
	return dest + slice->num_rows;
}

/* A group of a batch, on its way out. */
typedef struct outgoing
{
	agg_run_header header;
	column_slice keys;
	column_slice values;		/* of rows with a key */
	column_slice null_values;	/* of rows without */
	const agg_fraction *fraction;
} outgoing;

static void
add_rows(outgoing *out, agg_batch *batch, uint32 group)
{
	const agg_call *call = batch->call;
	Size		key_bytes;
	Size		value_bytes = 0;

	agg_batch_group(batch);
	agg_batch_need_keys(batch);
	out->header.num_items = agg_batch_group_items(batch, group);
	out->header.num_nulls = agg_batch_group_nulls(batch, group);
	out->keys = (column_slice) {&call->key, batch->keys, NULL,
	agg_batch_group_start(batch, group), out->header.num_items};
	key_bytes = slice_bytes(&out->keys);
	if (call->kind == AGG_SORT_BY)
	{
		uint64		first_null = 0;

		if (out->header.num_nulls > 0)
			first_null = batch->num_items + batch->null_starts[group];
		agg_batch_need_values(batch);
		out->values = (column_slice) {&call->value, batch->values, batch->value_nulls,
		agg_batch_group_start(batch, group), out->header.num_items};
		out->null_values = (column_slice) {&call->value, batch->values, batch->value_nulls,
		first_null, out->header.num_nulls};
		value_bytes = slice_bytes(&out->values) + slice_bytes(&out->null_values);
		if (batch->value_nulls)
			out->header.flags |= AGG_RUN_VALUE_NULLS;
	}
	if (key_bytes > MaxAllocSize || value_bytes > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group has too many values for a parallel plan"),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
	out->header.key_bytes = key_bytes;
	out->header.value_bytes = value_bytes;
}

static void
add_fraction(outgoing *out, const agg_batch *batch, uint32 group)
{
	out->fraction = batch->call->fraction ? batch->call->fraction : batch->fractions.by_group[group];
	out->header.flags |= out->fraction->is_null ? AGG_RUN_FRACTION | AGG_RUN_FRACTION_NULL : AGG_RUN_FRACTION;
	out->header.fraction_bytes = out->fraction->bytes;
}

/* What is damaged differs from process to process. */
void
agg_run_damage(bytea *run, Size header_bytes)
{
	static uint32 num_runs = 0;
	uint32		random = murmurhash32((uint32) MyProcPid * 65537 + num_runs++);
	uint32		place = murmurhash32(random);
	uint32		value = murmurhash32(place);
	Size		bytes = VARSIZE(run) - VARHDRSZ;
	uint32		extremes[] = {0, 1, PG_INT32_MAX, PG_UINT32_MAX, (uint32) bytes, value};

	switch (random % 64)
	{
		case 0:
			VARDATA(run)[place % bytes] ^= 1 << value % 8;
			break;
		case 1:
			VARDATA(run)[place % header_bytes] ^= 1 << value % 8;
			break;
		case 2:
			memcpy(VARDATA(run) + place % (bytes / sizeof(uint32)) * sizeof(uint32),
				   &extremes[value % lengthof(extremes)], sizeof(uint32));
			break;
		case 3:
			SET_VARSIZE(run, VARHDRSZ + place % bytes);
			break;
		default:
			break;
	}
}

static bytea *
send_run(const outgoing *out)
{
	Size		bytes = VARHDRSZ + agg_run_bytes(&out->header);
	bytea	   *result;
	char	   *dest;

	if (bytes > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group has too many values for a parallel plan"),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
	result = palloc(bytes);
	SET_VARSIZE(result, bytes);
	dest = VARDATA(result);
	memcpy(dest, &out->header, sizeof(agg_run_header));
	dest += sizeof(agg_run_header);
	if (out->keys.column)
		dest = send_slice(&out->keys, dest);
	if (out->values.column)
	{
		dest = send_slice(&out->values, dest);
		dest = send_slice(&out->null_values, dest);
		if (out->values.nulls)
		{
			dest = send_value_nulls(&out->values, dest);
			dest = send_value_nulls(&out->null_values, dest);
		}
	}
	if (out->fraction)
		memcpy(dest, out->fraction->data, out->fraction->bytes);
	if (unlikely(mgpu_setting_inject_fault == MGPU_FAULT_AGG_RUN))
		agg_run_damage(result, sizeof(agg_run_header));
	return result;
}

/* mgpu_agg_serialize(state internal) → bytea: the group's run */
Datum
mgpu_agg_serialize(PG_FUNCTION_ARGS)
{
	agg_call   *call = agg_call_of_serialize(fcinfo);
	uint32		group = DatumGetUInt32(PG_GETARG_DATUM(0));
	agg_batch  *batch = agg_call_existing_batch(call, group);
	outgoing	out;

	memset(&out, 0, sizeof(out));
	out.header.leader = call->leader ? call->leader->trans_number : -1;
	if (batch->order.descending)
		out.header.flags |= AGG_RUN_DESCENDING;
	if (batch->order.nulls_first)
		out.header.flags |= AGG_RUN_NULLS_FIRST;
	if (call->leader == NULL)
		add_rows(&out, batch, group);
	if (OidIsValid(call->fraction_type))
		add_fraction(&out, batch, group);
	PG_RETURN_BYTEA_P(send_run(&out));
}
