/*
 * agg_strings.c
 *		Order of grouped rows whose keys are byte strings or become such.
 *
 * The strings are those of arrays (byte_source.h) and are sorted as an array's
 * are (order_strings.c), with groups for segments: all groups take part in one job
 * a round, and groups of some hundred rows are put in order without any.
 */
#include "postgres.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_order.h"
#include "order/order.h"

/* About; what values take is in the same arena, and not known apart. */
static Size
expected_bytes(const agg_batch *batch)
{
	const agg_call *call = batch->call;

	if (!agg_column_is_variable(&call->key))
		return batch->num_items * call->key.width;
	if (call->kind == AGG_SORT_BY && agg_column_is_variable(&call->value))
		return batch->num_items * 16;
	return batch->arena.taken_bytes;
}

bool
agg_order_strings(agg_batch *batch)
{
	const agg_call *call = batch->call;
	byte_cells	cells = {batch->keys, call->key.width, agg_column_is_variable(&call->key), call->key.type.typlen};
	segment_list groups = {.heads = batch->heads, .num_segments = batch->num_heads, .num_items = batch->num_items};
	MemoryContext caller_context = MemoryContextSwitchTo(batch->work_context);
	sort_spec	spec;
	sort_keys	keys = {.form = KEY_STRINGS,.num_items = batch->num_items};
	bool		fits;

	memset(&spec, 0, sizeof(spec));
	spec.function = call->function;
	spec.op = MGPU_OP_SORT;
	spec.order = batch->order;
	spec.collation = call->collation;
	fits = byte_source_copy(&keys.strings, &cells, &call->key.type, call->collation,
							batch->num_items, expected_bytes(batch));
	if (fits)
	{
		keys.data_bytes = keys.strings.keys.data_end - keys.strings.keys.data;
		order_strings(&spec, batch->num_heads > 1 ? &groups : NULL, &keys, batch->positions);
		byte_source_close(&keys.strings);
	}
	MemoryContextSwitchTo(caller_context);
	return fits;
}
