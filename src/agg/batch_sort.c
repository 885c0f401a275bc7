/*
 * batch_sort.c
 *		Sorts a grouped batch: one segmented sort for all groups.
 *
 * Small batches are sorted in place.  Under GroupAggregate a query has a batch for each group, and
 * each is one of many small sorts: mgpu.executor = gpu does not force it to a GPU, since a kernel
 * launch takes a thousand times as long as sorting such a group.
 */
#include "postgres.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "agg/batch.h"
#include "order/order.h"
#include "run/run_job.h"

/* Fill a request for the batch, except for values and outputs.  Segments are the groups that have items. */
static void
describe_job(run_request *request, const agg_batch *batch, mgpu_op op, run_record *record)
{
	const element_type *type = &batch->key_type->element;

	run_request_start(request, batch->sort.function, record);
	request->job.op = op;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->job.descending = batch->sort.order.descending;
	request->job.num_items = batch->num_items;
	request->binding.in_keys = batch->keys;
	request->is_one_of_many = batch->num_heads <= 1;
	if (batch->num_heads > 1)
	{
		request->job.num_segments = batch->num_heads;
		request->binding.in_segment_heads = batch->heads;
	}
}

/* Sort in place, unless a plan node's column is read by other aggregates, too. */
static char *
space_for_now(agg_batch *batch, Size bytes)
{
	if (!batch->borrowed || batch->keys != batch->key->cells)
		return batch->keys;
	return agg_batch_alloc(batch, bytes);
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
	sort_spec	spec = batch->sort;
	run_record	record;
	uint32	   *positions;
	sort_keys	keys;

	spec.is_one_of_many = batch->num_heads <= 1;
	spec.record = &record;
	batch->positions = agg_batch_alloc(batch, batch->num_items * sizeof(uint32));
	sort_keys_of_cells(&keys, &cells, &type->element, spec.collation, batch->num_items, expected_bytes(batch));
	(void) order_ranks(&spec, batch->num_heads > 1 ? &groups : NULL, &keys, batch->positions, NULL);
	run_report(&record);
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
	Size		bytes = batch->num_items * batch->key_type->element.key_width;
	run_record	record;
	run_request request;

	describe_job(&request, batch, MGPU_OP_SORT, &record);
	if (batch->num_heads == batch->num_items)
	{
		run_record_cpu(&record, request.function, "quick", batch->num_items, bytes, run_reason("every group has one item"));
		record.num_segments = request.job.num_segments;
		run_report(&record);
		batch->sorted_keys = batch->keys;
		return;
	}
	batch->sorted_keys = run_sorts_now(&request) ? space_for_now(batch, bytes) : agg_batch_alloc(batch, bytes);
	request.job.outputs = MGPU_OUT_KEYS;
	request.binding.out_keys = batch->sorted_keys;
	run_job(&request);
	run_report(&record);
	/* some floats have bits of their own (-0, unusual NaNs) that a segmented sort loses */
	if (request.float_bits_lost)
	{
		pfree(batch->sorted_keys);
		batch->sorted_keys = NULL;
		sort_positions(batch);
	}
	else if (batch->keys != batch->sorted_keys && batch->keys != batch->key->cells)
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
	uint32		width = batch->value->type->width;
	char	   *values = batch->value->cells;
	run_record	record;
	run_request request;

	if (batch->items.numbers)
		values = pick_cells(batch->work_context, values, width, batch->items.numbers, batch->num_items);
	batch->sorted_values = agg_batch_alloc(batch, batch->num_items * width);
	describe_job(&request, batch, MGPU_OP_SORT_PAIRS, &record);
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.value_width = width;
	request.binding.in_values = values;
	request.binding.out_values = batch->sorted_values;
	run_job(&request);
	run_report(&record);
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
