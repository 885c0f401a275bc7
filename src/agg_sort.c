/*
 * agg_sort.c
 *		Sorts a grouped batch: every group of it by one segmented sort.
 *
 * What is few is sorted here and now, group by group, where it lies: with
 * GroupAggregate a query has as many batches as groups, and setting up a run
 * for each would cost more than sorting them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/cpu_sort.h"
#include "core/float_ties.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_job.h"
#include "agg_order.h"
#include "pgerror.h"

/* Keys of fewer bytes are sorted at once. */
#define SORT_NOW_BYTES (64 * 1024)

/* Lone groups of no more rows are. */
#define LONE_ITEMS MGPU_CPU_NOW_PAIRS

bool
agg_job_is_forced(const agg_batch *batch)
{
	if (batch->num_heads <= 1 && batch->num_items <= LONE_ITEMS)
		return run_is_probed(batch->num_items);
	return run_is_forced(batch->num_items);
}

void
agg_job_describe(run_request *request, agg_batch *batch, mgpu_op op, uint32 key_kind, uint32 key_width)
{
	memset(request, 0, sizeof(*request));
	request->function = batch->call->function;
	request->job.op = op;
	request->job.key_kind = key_kind;
	request->job.key_width = key_width;
	request->job.descending = batch->order.descending;
	request->job.num_items = batch->num_items;
	if (batch->num_heads > 1)
	{
		request->job.num_segments = batch->num_heads;
		request->binding.in_segment_heads = batch->heads;
	}
}

/* The batch's keys as a job's input, from their chunks if they are still there. */
static void
bind_keys(run_request *request, agg_batch *batch, agg_rows_reader *reader)
{
	if (!batch->moved && batch->keys == NULL && batch->rows.num_before > 0)
	{
		reader->rows = &batch->rows;
		reader->which = AGG_KEYS;
		request->readers[MGPU_CHANNEL_KEYS].read = agg_rows_read;
		request->readers[MGPU_CHANNEL_KEYS].context = reader;
		return;
	}
	agg_batch_need_keys(batch);
	request->binding.in_keys = batch->keys;
}

static void
bind_values(run_request *request, agg_batch *batch, agg_rows_reader *reader)
{
	if (!batch->moved && batch->values == NULL && batch->rows.num_before > 0)
	{
		reader->rows = &batch->rows;
		reader->which = AGG_VALUES;
		request->readers[MGPU_CHANNEL_VALUES].read = agg_rows_read;
		request->readers[MGPU_CHANNEL_VALUES].context = reader;
		return;
	}
	agg_batch_need_values(batch);
	request->binding.in_values = batch->values;
}

/* Some keys, in place, their ties of floats included. */
static void
sort_now(const element_type *type, bool descending, char *keys, uint64 num_items)
{
	mgpu_float_ties ties;
	mgpu_error	error;

	if (type->key_kind != MGPU_KEY_FLOAT)
	{
		mgpu_cpu_sort_keys_now(keys, num_items, type->key_kind, type->key_width, descending);
		return;
	}
	mgpu_float_ties_init(&ties, type->key_width);
	if (mgpu_float_ties_scan(&ties, keys, num_items, &error) != MGPU_OK)
	{
		mgpu_float_ties_release(&ties);
		mgpu_raise(&error);
	}
	mgpu_cpu_sort_keys_now(keys, num_items, type->key_kind, type->key_width, descending);
	mgpu_float_ties_restore(&ties, keys, num_items, descending);
	mgpu_float_ties_release(&ties);
}

static void
sort_groups_now(agg_batch *batch)
{
	const element_type *type = &batch->call->key.type;

	agg_batch_need_keys(batch);
	for (uint64 i = 0; batch->heads && i < batch->num_heads; i++)
	{
		uint64		begin = batch->heads[i];
		uint64		end = i + 1 < batch->num_heads ? batch->heads[i + 1] : batch->num_items;

		if (end - begin > 1)
			sort_now(type, batch->order.descending, batch->keys + begin * type->key_width, end - begin);
	}
	agg_job_note(batch, "quick", batch->heads ? "few items" : "every group has one item");
	batch->sorted_keys = batch->keys;
}

void
agg_job_note(agg_batch *batch, const char *algorithm, const char *reason)
{
	run_note_cpu(batch->call->function, algorithm, batch->num_items,
				 batch->num_items * batch->call->key.width, reason);
	run_last.num_segments = batch->num_heads > 1 ? batch->num_heads : 0;
}

/* Stable positions of direct keys. */
static void
order_direct(agg_batch *batch)
{
	const element_type *type = &batch->call->key.type;
	agg_rows_reader reader;
	run_request request;

	if (batch->num_heads == 1 && batch->num_items <= MGPU_CPU_NOW_PAIRS && !agg_job_is_forced(batch))
	{
		agg_batch_need_keys(batch);
		agg_job_note(batch, "quick", "few items");
		mgpu_cpu_argsort_now(batch->keys, batch->positions, batch->num_items,
							 type->key_kind, type->key_width, batch->order.descending);
		return;
	}
	agg_job_describe(&request, batch, MGPU_OP_SORT_PAIRS, type->key_kind, type->key_width);
	request.job.outputs = MGPU_OUT_INDICES;
	request.binding.out_indices = batch->positions;
	bind_keys(&request, batch, &reader);
	run_job(&request);
}

static void
make_positions(agg_batch *batch)
{
	uint32	   *positions = agg_batch_alloc(batch, batch->num_items * sizeof(uint32));

	batch->positions = positions;
	if (batch->heads == NULL)
	{
		agg_batch_need_keys(batch);
		for (uint64 i = 0; i < batch->num_items; i++)
			positions[i] = i;
		agg_job_note(batch, "quick", "every group has one item");
	}
	else if (batch->call->key.type.key_kind != 0)
		order_direct(batch);
	else
	{
		agg_batch_need_keys(batch);
		agg_order_keys(batch);
	}
}

/* False: some floats have bits of their own that a segmented sort loses. */
static bool
run_keys(agg_batch *batch, char *dest)
{
	const element_type *type = &batch->call->key.type;
	agg_rows_reader reader;
	run_request request;

	agg_job_describe(&request, batch, MGPU_OP_SORT, type->key_kind, type->key_width);
	request.job.outputs = MGPU_OUT_KEYS;
	request.binding.out_keys = dest;
	bind_keys(&request, batch, &reader);
	run_job(&request);
	return !request.float_bits_lost;
}

static void
run_values(agg_batch *batch, char *dest)
{
	const element_type *type = &batch->call->key.type;
	agg_rows_reader key_reader;
	agg_rows_reader value_reader;
	run_request request;

	agg_job_describe(&request, batch, MGPU_OP_SORT_PAIRS, type->key_kind, type->key_width);
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.value_width = batch->call->value.width;
	request.binding.out_values = dest;
	bind_keys(&request, batch, &key_reader);
	bind_values(&request, batch, &value_reader);
	run_job(&request);
}

static void
free_keys(agg_batch *batch)
{
	if (batch->moved)
		pfree(batch->keys);
	batch->keys = NULL;
}

static void
sort_keys(agg_batch *batch)
{
	Size		bytes = batch->num_items * batch->call->key.width;

	if (batch->num_heads == batch->num_items || (bytes <= SORT_NOW_BYTES && !agg_job_is_forced(batch)))
	{
		sort_groups_now(batch);
		return;
	}
	batch->sorted_keys = agg_batch_alloc(batch, bytes);
	if (run_keys(batch, batch->sorted_keys))
	{
		free_keys(batch);
		return;
	}
	pfree(batch->sorted_keys);
	batch->sorted_keys = NULL;
	agg_batch_need_keys(batch);
	make_positions(batch);
}

/* Whether executors can bring values into the order of their keys themselves. */
static bool
values_are_movable(const agg_batch *batch)
{
	return batch->call->key.type.key_kind != 0 &&
		!agg_column_is_variable(&batch->call->value) && element_type_is_movable(&batch->call->value.type) &&
		batch->num_nulls == 0 && batch->value_nulls == NULL && !batch->rows.has_value_nulls;
}

static void
sort_values(agg_batch *batch)
{
	bool		few = batch->num_heads == 1 && batch->num_items <= MGPU_CPU_NOW_PAIRS;

	if (!values_are_movable(batch) || few || batch->heads == NULL)
	{
		make_positions(batch);
		agg_batch_need_values(batch);
		return;
	}
	batch->sorted_values = agg_batch_alloc(batch, batch->num_items * batch->call->value.width);
	run_values(batch, batch->sorted_values);
	if (batch->moved)
		pfree(batch->values);
	batch->values = NULL;
	free_keys(batch);
}

void
agg_batch_sort(agg_batch *batch)
{
	if (batch->stage == BATCH_SORTED)
		return;
	agg_batch_group(batch);
	if (batch->num_items > 0)
	{
		if (batch->call->kind == AGG_SORT_BY)
			sort_values(batch);
		else if (batch->call->key.type.key_kind != 0)
			sort_keys(batch);
		else
			make_positions(batch);
	}
	else if (batch->call->kind == AGG_SORT_BY)
		agg_batch_need_values(batch);
	batch->stage = BATCH_SORTED;
}

const char *
agg_batch_sorted_key(const agg_batch *batch, uint64 position)
{
	if (batch->sorted_keys)
		return agg_column_element(&batch->call->key, batch->sorted_keys, position);
	return agg_column_element(&batch->call->key, batch->keys, batch->positions[position]);
}

bool
agg_batch_sorts_into_result(agg_batch *batch)
{
	const agg_call *call = batch->call;

	if (batch->num_groups > 1 || batch->stage != BATCH_GROUPED || call->has_followers ||
		call->key.type.key_kind == 0 || batch->num_items * call->key.width <= SORT_NOW_BYTES)
		return false;
	return call->kind != AGG_SORT_BY || values_are_movable(batch);
}

void
agg_batch_sort_into(agg_batch *batch, char *dest)
{
	if (batch->call->kind == AGG_SORT_BY)
		run_values(batch, dest);
	else
		(void) run_keys(batch, dest);
}
