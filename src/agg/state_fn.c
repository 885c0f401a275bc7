/*
 * state_fn.c
 *		Partial aggregation: a group's rows as bytes, from a worker to the leader.
 *
 *	 header | keys and, for mgpu_sort_agg_by, values | fraction
 *
 * The formats of rows and fraction are those of batch/wire.h.
 *
 * A worker sends unsorted rows.  The leader appends them to its own group, as if it had
 * scanned them itself, and sorts everything once.  Merging sorted runs of the workers
 * was rejected: one vectorized sort of all rows costs little more than the merge alone.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "agg/call.h"
#include "array/null_map.h"
#include "batch/wire.h"

PG_FUNCTION_INFO_V1(mgpu_agg_serialize);
PG_FUNCTION_INFO_V1(mgpu_agg_deserialize);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_sort_agg_by_combine);
PG_FUNCTION_INFO_V1(mgpu_merge_agg_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_combine);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_combine);

#define STATE_DESCENDING 0x1
#define STATE_NULLS_FIRST 0x2

typedef struct state_header
{
	int16		leader;			/* number of the aggregate whose state has the rows; -1: this one */
	uint16		flags;
} state_header;

static int
num_columns(const agg_batch *batch)
{
	return batch->value ? 2 : 1;
}

/* ---- a worker's side */

static chunk_slice
group_rows(agg_batch *batch, uint32 group)
{
	chunk_slice slice = {.rows = batch->rows,.num_columns = num_columns(batch)};

	agg_batch_bring_together(batch);
	slice.num_rows = row_groups_size(&batch->all, group);
	if (batch->all.numbers)
		slice.numbers = batch->all.numbers + batch->all.starts[group];
	return slice;
}

/* mgpu_agg_serialize(state internal) → bytea */
Datum
mgpu_agg_serialize(PG_FUNCTION_ARGS)
{
	agg_group	group = agg_group_of_final(fcinfo);
	agg_batch  *batch = group.slot->batch;
	const agg_call *leader = group.slot->call->leader;
	state_header header = {.leader = leader ? leader->trans_number : -1};
	chunk_slice fraction = agg_slot_fraction(group.slot, group.number);
	chunk_slice slice = {.rows = batch->rows};
	StringInfoData message;

	if (batch->sort.order.descending)
		header.flags |= STATE_DESCENDING;
	if (batch->sort.order.nulls_first)
		header.flags |= STATE_NULLS_FIRST;
	if (leader == NULL)
		slice = group_rows(batch, group.number);
	message_start(&message);
	message_append(&message, &header, sizeof(header));
	message_append_rows(&message, &slice);
	if (fraction.rows)
		message_append_rows(&message, &fraction);
	PG_RETURN_BYTEA_P(message_end(&message));
}

/* ---- the leader's side: nothing in a state is trusted */

static MGPU_NORETURN void
raise_invalid(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid aggregate state")));
	pg_unreachable();
}

/* mgpu_agg_deserialize(run bytea, internal) → internal: the same bytes, for a combine function */
Datum
mgpu_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *state;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "mgpu_agg_deserialize called outside of an aggregate");
	state = PG_GETARG_BYTEA_PP(0);
	if (VARSIZE_ANY_EXHDR(state) < sizeof(state_header))
		raise_invalid();
	PG_RETURN_POINTER(state);
}

/* Another aggregate's state has the rows: make that aggregate the leader. */
static void
receive_leader(agg_slot *slot, int leader)
{
	agg_call   *call = slot->call;
	agg_call   *found = leader < call->trans_number ? agg_call_by_number(call->aggstate, leader) : NULL;

	if (found == NULL || found->leader || found->key.element.type_id != call->key.element.type_id ||
		!agg_kind_shares(found->kind) || !agg_kind_shares(call->kind))
		raise_invalid();
	if (call->leader == found)
		return;
	if (call->leader || slot->batch->rows->num_rows > 0)
		raise_invalid();
	call->leader = found;
}

/* Whether a received float8[] has the size that its header says. */
static bool
is_valid_array(const ArrayType *array)
{
	Size		bytes = VARSIZE(array);
	Size		data_offset;
	int			num_items;

	if (bytes < sizeof(ArrayType) || ARR_ELEMTYPE(array) != FLOAT8OID || ARR_NDIM(array) < 0 ||
		ARR_NDIM(array) > MAXDIM || ARR_OVERHEAD_NONULLS(ARR_NDIM(array)) > bytes)
		return false;
	num_items = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	data_offset = ARR_OVERHEAD_NONULLS(ARR_NDIM(array));
	if (ARR_HASNULL(array))
	{
		data_offset = ARR_OVERHEAD_WITHNULLS(ARR_NDIM(array), num_items);
		if (data_offset > bytes || ARR_DATA_OFFSET(array) != data_offset)
			return false;
		num_items = null_bitmap_count(ARR_NULLBITMAP(array), 0, num_items);
	}
	return bytes == data_offset + (Size) num_items * sizeof(float8);
}

static void
receive_fraction(agg_slot *slot, uint32 group, const char *data, Size num_bytes)
{
	const column_type *type = &slot->call->fraction;
	chunk	   *received = chunk_create(CurrentMemoryContext, 1, &type, 1);
	const column *col = &received->columns[0];
	NullableDatum fraction = {.isnull = true};

	if (chunk_read(received, 1, data, num_bytes) != num_bytes || received->num_rows != 1)
		raise_invalid();
	if (!column_is_null(col, 0))
		fraction = (NullableDatum) {cell_datum(type, col->cells, 0), false};
	if (!fraction.isnull && !type->element.typbyval && !is_valid_array((ArrayType *) DatumGetPointer(fraction.value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid fraction in an aggregate's state")));
	agg_slot_take_fraction(slot, group, fraction);
}

static void
receive(agg_slot *slot, uint32 group, const bytea *state)
{
	agg_batch  *batch = slot->batch;
	chunk	   *rows = batch->rows;
	const char *data = VARDATA_ANY(state) + sizeof(state_header);
	Size		num_bytes = VARSIZE_ANY_EXHDR(state) - sizeof(state_header);
	uint64		first = rows->num_rows;
	Size		rows_bytes;
	state_header header;
	sort_order	order;

	memcpy(&header, VARDATA_ANY(state), sizeof(header));
	order.descending = (header.flags & STATE_DESCENDING) != 0;
	order.nulls_first = (header.flags & STATE_NULLS_FIRST) != 0;
	agg_slot_take_order(slot, order);
	if (header.leader >= 0)
		receive_leader(slot, header.leader);
	else if (slot->call->leader)
		raise_invalid();
	rows_bytes = chunk_read(rows, header.leader >= 0 ? 0 : num_columns(batch), data, num_bytes);
	if (rows_bytes == 0 || (rows_bytes < num_bytes && slot->fractions == NULL))
		raise_invalid();
	for (uint64 row = first; batch->groups && row < rows->num_rows; row++)
		((uint32 *) batch->groups->cells)[row] = group;
	if (slot->fractions)
		receive_fraction(slot, group, data + rows_bytes, num_bytes - rows_bytes);
}

static Datum
combine(FunctionCallInfo fcinfo, agg_kind kind)
{
	agg_slot   *slot;
	uint32		group;

	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	slot = agg_slot_of_row(fcinfo, kind, true, &group);
	receive(slot, group, (const bytea *) PG_GETARG_POINTER(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/* Each is (state internal, run internal) → internal, and appends the rows of run to the group. */
#define COMBINE(name, kind) \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return combine(fcinfo, kind); \
	}

COMBINE(mgpu_sort_agg_combine, AGG_SORT)
COMBINE(mgpu_sort_agg_by_combine, AGG_SORT_BY)
COMBINE(mgpu_merge_agg_combine, AGG_MERGE)
COMBINE(mgpu_percentile_cont_combine, AGG_PERCENTILE_CONT)
COMBINE(mgpu_percentile_disc_combine, AGG_PERCENTILE_DISC)
