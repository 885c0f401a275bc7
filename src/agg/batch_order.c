/*
 * batch_order.c
 *		Finds the positions that put each group's keys in order, stably.
 *
 * All groups are sorted as the segments of one sort (order/order.h).
 */
#include "postgres.h"

#include "agg/call.h"
#include "order/order.h"

/*
 * Estimated bytes of the keys.  Values of variable width share the keys' arena, so that
 * the size of the keys alone is then unknown.
 */
static Size
expected_bytes(const agg_batch *batch)
{
	if (!column_is_variable(batch->key->type))
		return batch->num_items * batch->key->type->width;
	if (batch->borrowed || (batch->value && column_is_variable(batch->value->type)))
		return batch->num_items * 16;
	return batch->rows->arena.taken_bytes;
}

void
agg_batch_order(agg_batch *batch)
{
	const agg_call *call = batch->call;
	const element_type *type = &call->key.element;
	byte_cells	cells = {batch->keys, call->key.width, column_is_variable(&call->key), type->typlen};
	segment_list groups = {.heads = batch->heads,.num_segments = batch->num_heads,.num_items = batch->num_items};
	sort_spec	spec = {
		.function = call->function,
		.op = MGPU_OP_SORT,
		.order = batch->order,
		.collation = call->collation,
		.is_one_of_many = batch->num_heads <= 1
	};
	MemoryContext caller = MemoryContextSwitchTo(batch->work_context);
	sort_keys	keys;

	batch->positions = agg_batch_alloc(batch, batch->num_items * sizeof(uint32));
	sort_keys_of_cells(&keys, &cells, type, call->collation, batch->num_items, expected_bytes(batch));
	(void) order_ranks(&spec, batch->num_heads > 1 ? &groups : NULL, &keys, batch->positions, NULL);
	sort_keys_free(&keys);
	MemoryContextSwitchTo(caller);
}
