/*
 * agg_parallel.c
 *		Partial aggregation: a group's rows as bytes, and back.
 *
 * A worker sends the rows of each of its groups, unsorted; the leader appends
 * them under its own group numbers and sorts everything once.  Sending sorted
 * runs to be merged was rejected: workers would sort many times what the leader
 * then still has to merge, and a vectorized sort of the whole costs little more
 * than that merge.
 *
 * A run is columns one after another, as they lie in the batch:
 *
 *	 header | keys | values | which values are NULL, a byte each | fraction
 *
 * Cells of fixed width are sent as such, elements of variable width as they lie
 * in an array.  Nothing in a run is trusted when it comes back.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_call.h"

PG_FUNCTION_INFO_V1(mgpu_agg_serialize);
PG_FUNCTION_INFO_V1(mgpu_agg_deserialize);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_by_combine);
PG_FUNCTION_INFO_V1(mgpu_merge_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_combine);

#define RUN_DESCENDING 0x1
#define RUN_NULLS_FIRST 0x2
#define RUN_VALUE_NULLS 0x4
#define RUN_FRACTION 0x8
#define RUN_FRACTION_NULL 0x10

typedef struct run_header
{
	int16		leader;			/* number of the aggregate that sends the rows, or -1: here */
	uint16		flags;
	uint32		num_items;		/* rows with a key */
	uint32		num_nulls;		/* rows without */
	uint32		key_bytes;
	uint32		value_bytes;	/* of rows with and without a key, those that are not NULL */
	uint32		fraction_bytes;
} run_header;

/* ---- sending */

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
	run_header	header;
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
	out->keys = (column_slice) {&call->key, batch->keys, NULL, agg_batch_group_start(batch, group), out->header.num_items};
	key_bytes = slice_bytes(&out->keys);
	if (call->kind == AGG_SORT_BY)
	{
		uint64		first_null = out->header.num_nulls > 0 ? batch->num_items + batch->null_starts[group] : 0;

		agg_batch_need_values(batch);
		out->values = (column_slice) {&call->value, batch->values, batch->value_nulls,
		agg_batch_group_start(batch, group), out->header.num_items};
		out->null_values = (column_slice) {&call->value, batch->values, batch->value_nulls,
		first_null, out->header.num_nulls};
		value_bytes = slice_bytes(&out->values) + slice_bytes(&out->null_values);
		if (batch->value_nulls)
			out->header.flags |= RUN_VALUE_NULLS;
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
	out->header.flags |= out->fraction->is_null ? RUN_FRACTION | RUN_FRACTION_NULL : RUN_FRACTION;
	out->header.fraction_bytes = out->fraction->bytes;
}

static Size
flag_bytes(const run_header *header)
{
	return header->flags & RUN_VALUE_NULLS ? (Size) header->num_items + header->num_nulls : 0;
}

static Size
run_bytes(const run_header *header)
{
	return sizeof(run_header) + header->key_bytes + (Size) header->value_bytes + flag_bytes(header) +
		header->fraction_bytes;
}

static bytea *
send_run(const outgoing *out)
{
	Size		bytes = VARHDRSZ + run_bytes(&out->header);
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
	memcpy(dest, &out->header, sizeof(run_header));
	dest += sizeof(run_header);
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
	return result;
}

/* mgpu_agg_serialize(state internal) → bytea: the group's run */
Datum
mgpu_agg_serialize(PG_FUNCTION_ARGS)
{
	agg_call   *call = agg_call_of_serialize(fcinfo);
	agg_batch  *batch = agg_call_existing_batch(call);
	uint32		group = DatumGetUInt32(PG_GETARG_DATUM(0));
	outgoing	out;

	memset(&out, 0, sizeof(out));
	out.header.leader = call->leader ? call->leader->trans_number : -1;
	if (batch->order.descending)
		out.header.flags |= RUN_DESCENDING;
	if (batch->order.nulls_first)
		out.header.flags |= RUN_NULLS_FIRST;
	if (call->leader == NULL)
		add_rows(&out, batch, group);
	if (OidIsValid(call->fraction_type))
		add_fraction(&out, batch, group);
	PG_RETURN_BYTEA_P(send_run(&out));
}

/* ---- receiving */

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
	run_header	header;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "mgpu_agg_deserialize called outside of an aggregate");
	run = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(run) < sizeof(run_header))
		raise_invalid();
	memcpy(&header, VARDATA_ANY(run), sizeof(header));
	if (VARSIZE_ANY_EXHDR(run) != run_bytes(&header))
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
		if (left < VARHDRSZ || !VARATT_IS_4B_U(in->next) || VARSIZE(in->next) < VARHDRSZ || VARSIZE(in->next) > left)
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
receive_by(agg_batch *batch, uint32 group, const run_header *header, const char *data)
{
	const agg_call *call = batch->call;
	uint64		num_rows = (uint64) header->num_items + header->num_nulls;
	incoming_column keys = open_column(batch, &call->key, data, header->key_bytes, header->num_items);
	incoming_column values = open_column(batch, &call->value, data + header->key_bytes, header->value_bytes, num_rows);
	const uint8 *value_nulls = NULL;

	if (header->flags & RUN_VALUE_NULLS)
		value_nulls = (const uint8 *) data + header->key_bytes + header->value_bytes;
	receive_rows(&batch->rows, group, header->num_items, &keys, &values, value_nulls);
	receive_rows(&batch->null_rows, group, header->num_nulls, NULL, &values,
				 value_nulls ? value_nulls + header->num_items : NULL);
	check_used_up(&keys);
	check_used_up(&values);
}

static void
receive_keys(agg_batch *batch, uint32 group, const run_header *header, const char *data)
{
	const agg_column *column = &batch->call->key;
	incoming_column keys = open_column(batch, column, data, header->key_bytes, header->num_items);

	if (header->value_bytes != 0 || (header->flags & RUN_VALUE_NULLS) != 0)
		raise_invalid();
	if (agg_column_is_variable(column))
	{
		receive_rows(&batch->rows, group, header->num_items, &keys, NULL, NULL);
		check_used_up(&keys);
	}
	else
		agg_rows_add_keys(&batch->rows, group, data, header->num_items);
	for (uint32 i = 0; i < header->num_nulls; i++)
		(void) agg_rows_add(&batch->null_rows, group);
}

static void
receive_fraction(agg_batch *batch, uint32 group, bool is_new, const run_header *header, const char *data)
{
	const agg_call *call = batch->call;
	agg_fraction *fraction;

	if ((header->flags & RUN_FRACTION) == 0)
		raise_invalid();
	fraction = agg_fraction_receive(is_new ? batch->fractions.context : CurrentMemoryContext, call->fraction_type,
									(header->flags & RUN_FRACTION_NULL) != 0, data, header->fraction_bytes);
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
	if (call->leader == NULL && agg_rows_count(&agg_call_batch(call)->rows) > 0)
		raise_invalid();
	agg_call_follow(call, found);
}

static Datum
combine(FunctionCallInfo fcinfo, agg_kind kind)
{
	agg_call   *call = fcinfo->flinfo->fn_extra;
	const bytea *run;
	const char *data;
	run_header	header;
	agg_batch  *batch;
	sort_order	order;
	uint32		group;

	if (unlikely(call == NULL))
		call = agg_call_start_combine(fcinfo, kind);
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	run = (const bytea *) PG_GETARG_POINTER(1);
	memcpy(&header, VARDATA_ANY(run), sizeof(header));
	data = VARDATA_ANY(run) + sizeof(header);
	batch = agg_call_batch(call);
	group = PG_ARGISNULL(0) ? agg_batch_new_group(batch) : DatumGetUInt32(PG_GETARG_DATUM(0));
	order.descending = (header.flags & RUN_DESCENDING) != 0;
	order.nulls_first = (header.flags & RUN_NULLS_FIRST) != 0;
	agg_batch_set_order(batch, order);
	if (header.leader >= 0)
		receive_leader(call, header.leader);
	else if (call->leader)
		raise_invalid();
	else if (kind == AGG_SORT_BY)
		receive_by(batch, group, &header, data);
	else
		receive_keys(batch, group, &header, data);
	if (OidIsValid(call->fraction_type))
		receive_fraction(batch, group, PG_ARGISNULL(0), &header,
						 data + header.key_bytes + header.value_bytes + flag_bytes(&header));
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
