/*
 * agg_combine.c
 *		Partial aggregation, the leader's side: runs of rows join its batches.
 *
 * A run's rows are appended under the leader's own group number, as if they had
 * been scanned here.  Nothing in a run is trusted: lengths are checked against
 * the bytes that came and the columns that they are for, and elements of
 * variable width one by one.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_run.h"

/* Rows received between looks at interrupts. */
#define STEP_ROWS (64 * 1024)

PG_FUNCTION_INFO_V1(mgpu_agg_deserialize);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_by_combine);
PG_FUNCTION_INFO_V1(mgpu_merge_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_combine);

static MGPU_NORETURN void
raise_invalid(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid aggregate state")));
	pg_unreachable();
}

/* mgpu_agg_deserialize(run bytea, internal) → internal: the run, for a combine function to append */
Datum
mgpu_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *run;
	agg_run_header header;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "mgpu_agg_deserialize called outside of an aggregate");
	run = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(run) < sizeof(agg_run_header))
		raise_invalid();
	memcpy(&header, VARDATA_ANY(run), sizeof(header));
	if (VARSIZE_ANY_EXHDR(run) != agg_run_bytes(&header))
		raise_invalid();
	PG_RETURN_POINTER(run);
}

/* Elements of a column as they came, one after another. */
typedef struct incoming_column
{
	const agg_column *column;
	const char *next;
	const char *end;
} incoming_column;

/*
 * Open bytes of a run.  Elements of variable width move to the batch's arena,
 * where rows will point to them.
 */
static incoming_column
open_column(agg_batch *batch, const agg_column *column, const char *data, uint32 bytes, uint64 num_cells)
{
	incoming_column in = {column, data, data + bytes};

	if (!agg_column_is_variable(column))
	{
		if (bytes != num_cells * column->width)
			raise_invalid();
	}
	else if (bytes > 0)
	{
		char	   *copy = agg_arena_take(&batch->arena, bytes, MAXIMUM_ALIGNOF);

		memcpy(copy, data, bytes);
		in.next = copy;
		in.end = copy + bytes;
	}
	return in;
}

/* Bytes of the element that comes next, or an error where it does not end in time. */
static Size
incoming_bytes(const incoming_column *in)
{
	Size		left = in->end - in->next;
	Size		bytes;

	if (in->column->store == AGG_STORE_VARLENA)
	{
		if (left < VARHDRSZ || !VARATT_IS_4B_U(in->next) ||
			VARSIZE(in->next) < VARHDRSZ || VARSIZE(in->next) > left)
			raise_invalid();
	}
	else if (memchr(in->next, '\0', left) == NULL)
		raise_invalid();
	bytes = agg_column_bytes(in->column, in->next);
	if (bytes > left)
		raise_invalid();
	return bytes;
}

static void
receive_cell(incoming_column *in, char *cells, uint32 row)
{
	if (agg_column_is_variable(in->column))
	{
		Size		bytes = incoming_bytes(in);

		((const char **) cells)[row] = in->next;
		in->next += bytes;
	}
	else
	{
		memcpy(cells + (Size) row * in->column->width, in->next, in->column->width);
		in->next += in->column->width;
	}
}

/* values: NULL where the aggregate has none; value_nulls: NULL where no value is. */
static void
receive_rows(agg_rows *rows, uint32 group, uint64 num_rows, incoming_column *keys,
			 incoming_column *values, const uint8 *value_nulls)
{
	for (uint64 i = 0; i < num_rows; i++)
	{
		uint32		row = agg_rows_add(rows, group);

		if (i % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (keys)
			receive_cell(keys, rows->last->keys, row);
		if (values == NULL)
			continue;
		if (value_nulls && value_nulls[i])
		{
			char	   *cell = rows->last->values + (Size) row * values->column->width;

			memset(cell, 0, values->column->width);
			agg_rows_value_is_null(rows, row);
			if (!agg_column_is_variable(values->column))
				values->next += values->column->width;
		}
		else
			receive_cell(values, rows->last->values, row);
	}
}

static void
check_used_up(const incoming_column *in)
{
	if (in->next != in->end)
		raise_invalid();
}

static void
receive_by(agg_batch *batch, uint32 group, const agg_run_header *header, const char *data)
{
	const agg_call *call = batch->call;
	uint64		num_rows = (uint64) header->num_items + header->num_nulls;
	incoming_column keys = open_column(batch, &call->key, data, header->key_bytes, header->num_items);
	incoming_column values = open_column(batch, &call->value, data + header->key_bytes,
										 header->value_bytes, num_rows);
	const uint8 *value_nulls = NULL;

	if (header->flags & AGG_RUN_VALUE_NULLS)
		value_nulls = (const uint8 *) data + header->key_bytes + header->value_bytes;
	receive_rows(&batch->rows, group, header->num_items, &keys, &values, value_nulls);
	receive_rows(&batch->null_rows, group, header->num_nulls, NULL, &values,
				 value_nulls ? value_nulls + header->num_items : NULL);
	check_used_up(&keys);
	check_used_up(&values);
}

static void
receive_keys(agg_batch *batch, uint32 group, const agg_run_header *header, const char *data)
{
	const agg_column *column = &batch->call->key;
	incoming_column keys = open_column(batch, column, data, header->key_bytes, header->num_items);

	if (header->value_bytes != 0 || (header->flags & AGG_RUN_VALUE_NULLS) != 0)
		raise_invalid();
	if (agg_column_is_variable(column))
	{
		receive_rows(&batch->rows, group, header->num_items, &keys, NULL, NULL);
		check_used_up(&keys);
	}
	else
		agg_rows_add_keys(&batch->rows, group, data, header->num_items);
	if (header->num_nulls > 0)
		agg_batch_add_nulls(batch, group, header->num_nulls);
}

static void
receive_fraction(agg_batch *batch, uint32 group, bool is_new, const agg_run_header *header, const char *data)
{
	const agg_call *call = batch->call;
	agg_fraction *fraction;

	if ((header->flags & AGG_RUN_FRACTION) == 0)
		raise_invalid();
	fraction = agg_fraction_receive(is_new ? batch->fractions.context : CurrentMemoryContext, call->fraction_type,
									(header->flags & AGG_RUN_FRACTION_NULL) != 0, data, header->fraction_bytes);
	if (is_new)
		agg_fractions_set(&batch->fractions, group, fraction);
	else
		agg_fractions_check(&batch->fractions, group, fraction);
}

/* The rows are with another aggregate: make sure that it is there. */
static void
receive_leader(agg_call *call, int leader)
{
	agg_call   *found = leader < call->trans_number ? agg_call_by_number(call->aggstate, leader) : NULL;

	if (found == NULL || found->leader || found->key.type.type_id != call->key.type.type_id ||
		!agg_kind_shares(found->kind) || !agg_kind_shares(call->kind))
		raise_invalid();
	if (call->leader == found)
		return;
	if (call->leader || agg_batch_has_rows(agg_call_batch(call)))
		raise_invalid();
	agg_call_follow(call, found);
}

/* A run, already checked as a whole, joins a group. */
static void
receive_run(agg_batch *batch, uint32 group, bool is_new, const bytea *run)
{
	agg_call   *call = batch->call;
	const char *data = VARDATA_ANY(run) + sizeof(agg_run_header);
	agg_run_header header;
	sort_order	order;

	memcpy(&header, VARDATA_ANY(run), sizeof(header));
	order.descending = (header.flags & AGG_RUN_DESCENDING) != 0;
	order.nulls_first = (header.flags & AGG_RUN_NULLS_FIRST) != 0;
	agg_batch_set_order(batch, order);
	if (header.leader >= 0)
		receive_leader(call, header.leader);
	else if (call->leader)
		raise_invalid();
	else if (call->kind == AGG_SORT_BY)
		receive_by(batch, group, &header, data);
	else
		receive_keys(batch, group, &header, data);
	if (OidIsValid(call->fraction_type))
		receive_fraction(batch, group, is_new, &header,
						 data + header.key_bytes + header.value_bytes + agg_run_flag_bytes(&header));
}

static Datum
combine(FunctionCallInfo fcinfo, agg_kind kind)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	agg_batch  *batch;
	uint32		group;

	if (unlikely(call == NULL))
		call = agg_call_start_combine(fcinfo, kind);
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	batch = agg_call_batch(call);
	group = PG_ARGISNULL(0) ? agg_batch_new_group(batch) : DatumGetUInt32(PG_GETARG_DATUM(0));
	receive_run(batch, group, PG_ARGISNULL(0), (const bytea *) PG_GETARG_POINTER(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/* Each: (state internal, run internal) → internal: a group's rows with the run's appended */
Datum
mgpu_sort_agg_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, AGG_SORT);
}

Datum
mgpu_sort_agg_by_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, AGG_SORT_BY);
}

Datum
mgpu_merge_agg_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, AGG_MERGE);
}

Datum
mgpu_percentile_cont_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, AGG_PERCENTILE_CONT);
}

Datum
mgpu_percentile_disc_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, AGG_PERCENTILE_DISC);
}
