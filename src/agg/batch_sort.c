/*
 * batch_sort.c
 *		Sorts a grouped batch: one segmented sort for all groups.
 *
 * Small batches are sorted in place, group by group, without a job.  Under
 * GroupAggregate a query has a batch for each group, and setting up a job would cost
 * more than sorting it.
 */
#include "postgres.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "agg/batch.h"
#include "order/array_sort.h"
#include "order/order.h"
#include "run/run_job.h"

/* Batches of at most so many bytes of keys are sorted without a job. */
#define SORT_NOW_BYTES (64 * 1024)

/*
 * Whether settings force even a small batch to run as a job.  mgpu.executor = gpu does
 * not force a small batch of one group: a sorted plan has a batch for each group, and a
 * kernel launch takes a thousand times as long as sorting such a group.
 */
static bool
is_forced(const agg_batch *batch)
{
	if (batch->num_heads <= 1 && batch->num_items <= MGPU_CPU_NOW_PAIRS)
		return run_is_probed(batch->num_items);
	return run_is_forced(batch->num_items);
}

/* Fill a request for the batch, except for values and outputs.  Segments are the groups that have items. */
static void
describe_job(run_request *request, const agg_batch *batch, mgpu_op op, uint32 key_kind, uint32 key_width)
{
	memset(request, 0, sizeof(*request));
	request->function = batch->sort.function;
	request->job.op = op;
	request->job.key_kind = key_kind;
	request->job.key_width = key_width;
	request->job.descending = batch->sort.order.descending;
	request->job.num_items = batch->num_items;
	request->binding.in_keys = batch->keys;
	if (batch->num_heads > 1)
	{
		request->job.num_segments = batch->num_heads;
		request->binding.in_segment_heads = batch->heads;
	}
}

/* Record for mgpu_last_run a batch that was sorted without a job. */
static void
record_sort_now(const agg_batch *batch)
{
	const char *reason = batch->num_heads < batch->num_items ? "few items" : "every group has one item";

	run_record_cpu(batch->sort.function, "quick", batch->num_items,
				 batch->num_items * batch->key_type->width, run_reason(reason));
	run_last.num_segments = batch->num_heads > 1 ? batch->num_heads : 0;
}

static void
sort_groups_now(agg_batch *batch)
{
	const element_type *type = &batch->key_type->element;

	/* a plan node's column is read by other aggregates, too */
	if (batch->borrowed && batch->keys == batch->key->cells)
	{
		batch->keys = agg_batch_alloc(batch, batch->num_items * type->key_width);
		memcpy(batch->keys, batch->key->cells, batch->num_items * type->key_width);
	}
	for (uint64 i = 0; i < batch->num_heads; i++)
	{
		uint64		begin = batch->heads[i];
		uint64		end = i + 1 < batch->num_heads ? batch->heads[i + 1] : batch->num_items;

		if (end - begin > 1)
			sort_elements_now(type, batch->sort.order.descending, batch->keys + begin * type->key_width, end - begin);
	}
	record_sort_now(batch);
	batch->sorted_keys = batch->keys;
}

/*
 * Estimated bytes of the keys.  Values of variable width share the keys' arena, so that
 * the size of the keys alone is then unknown.
 */
static Size
expected_bytes(const agg_batch *batch)
{
	if (!column_is_variable(batch->key_type))
		return batch->num_items * batch->key_type->width;
	if (batch->borrowed || (batch->value && column_is_variable(batch->value->type)))
		return batch->num_items * 16;
	return batch->rows->arena.taken_bytes;
}

/* Find the positions that put each group's keys in order, stably. */
static void
sort_positions(agg_batch *batch)
{
	const column_type *type = batch->key_type;
	byte_cells	cells = {batch->keys, type->width, column_is_variable(type), type->element.typlen};
	segment_list groups = {.heads = batch->heads,.num_segments = batch->num_heads,.num_items = batch->num_items};
	MemoryContext caller = MemoryContextSwitchTo(batch->work_context);
	uint32	   *positions;
	sort_keys	keys;

	batch->sort.is_one_of_many = batch->num_heads <= 1;
	batch->positions = agg_batch_alloc(batch, batch->num_items * sizeof(uint32));
	sort_keys_of_cells(&keys, &cells, &type->element, batch->sort.collation, batch->num_items, expected_bytes(batch));
	(void) order_ranks(&batch->sort, batch->num_heads > 1 ? &groups : NULL, &keys, batch->positions, NULL);
	sort_keys_free(&keys);
	/* values are found by their rows */
	if (batch->value && batch->items.numbers)
	{
		positions = batch->positions;
		batch->positions = (uint32 *) pick_cells(batch->work_context, (char *) batch->items.numbers, sizeof(uint32),
												 positions, batch->num_items);
		pfree(positions);
	}
	MemoryContextSwitchTo(caller);
}

static void
sort_keys_alone(agg_batch *batch)
{
	const element_type *type = &batch->key_type->element;
	Size		bytes = batch->num_items * type->key_width;
	run_request request;

	if (batch->num_heads == batch->num_items || (bytes <= SORT_NOW_BYTES && !is_forced(batch)))
	{
		sort_groups_now(batch);
		return;
	}
	batch->sorted_keys = agg_batch_alloc(batch, bytes);
	describe_job(&request, batch, MGPU_OP_SORT, type->key_kind, type->key_width);
	request.job.outputs = MGPU_OUT_KEYS;
	request.binding.out_keys = batch->sorted_keys;
	run_job(&request);
	/* some floats have bits of their own (-0, unusual NaNs) that a segmented sort loses */
	if (request.float_bits_lost)
	{
		pfree(batch->sorted_keys);
		batch->sorted_keys = NULL;
		sort_positions(batch);
	}
	else if (batch->keys != batch->key->cells)
		pfree(batch->keys);
}

/* Whether an executor can sort the values together with their keys. */
static bool
values_are_movable(const agg_batch *batch)
{
	return batch->key_type->element.key_kind != 0 && element_type_is_movable(&batch->value->type->element) &&
		batch->num_nulls == 0 && batch->value->nulls == NULL && batch->num_items > MGPU_CPU_NOW_PAIRS;
}

static void
sort_values(agg_batch *batch)
{
	const element_type *type = &batch->key_type->element;
	uint32		width = batch->value->type->width;
	char	   *values = batch->value->cells;
	run_request request;

	if (batch->items.numbers)
		values = pick_cells(batch->work_context, values, width, batch->items.numbers, batch->num_items);
	batch->sorted_values = agg_batch_alloc(batch, batch->num_items * width);
	describe_job(&request, batch, MGPU_OP_SORT_PAIRS, type->key_kind, type->key_width);
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.value_width = width;
	request.binding.in_values = values;
	request.binding.out_values = batch->sorted_values;
	run_job(&request);
	if (values != batch->value->cells)
		pfree(values);
}

void
agg_batch_sort(agg_batch *batch)
{
	if (batch->stage == BATCH_SORTED)
		return;
	agg_batch_group(batch);
	if (batch->num_items > 0)
	{
		/* the batches of a plan node are one call, which the sort of its keys started */
		if (!batch->borrowed)
			run_call_start();
		if (batch->value && values_are_movable(batch))
			sort_values(batch);
		else if (batch->value || batch->key_type->element.key_kind == 0)
			sort_positions(batch);
		else
			sort_keys_alone(batch);
	}
	batch->stage = BATCH_SORTED;
}
