/*
 * agg_batch.c
 *		A batch: all rows of one aggregate that are sorted together.
 *
 * A batch of one group keeps its buffers for the next; what is made of the rows
 * goes to a context of its own, whose reset costs nothing while it is empty.
 * Freeing everything with each group was rejected: under GroupAggregate groups
 * of a few rows come by the hundred thousand.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_batch.h"
#include "agg_call.h"

static void
init_rows(agg_batch *batch)
{
	const agg_call *call = batch->call;
	const agg_column *value = call->kind == AGG_SORT_BY ? &call->value : NULL;
	uint64		most_rows = MGPU_MAX_ITEMS;

	/* one group, which is to be an array: there is no need to collect more than that can hold */
	if (!batch->hashed && call->kind <= AGG_MERGE)
		most_rows = MaxArraySize;
	agg_rows_init(&batch->rows, &call->key, value, batch->hashed, most_rows, batch->context);
	agg_rows_init(&batch->null_rows, NULL, value, batch->hashed, most_rows, batch->context);
	agg_arena_init(&batch->arena, batch->context);

	/* hashed plans count every byte, and split where they are over their limit */
	batch->rows.foresees = batch->null_rows.foresees = batch->arena.foresees = !batch->hashed;
}

agg_batch *
agg_batch_create(agg_call *call, bool hashed, MemoryContext context)
{
	agg_batch  *batch = MemoryContextAllocZero(context, sizeof(agg_batch));

	batch->call = call;
	batch->hashed = hashed;
	batch->context = context;
	batch->work_context = context;
	if (!hashed)
		batch->work_context = AllocSetContextCreate(context, "mgpu_pg aggregate's group", ALLOCSET_DEFAULT_SIZES);
	batch->fractions.context = batch->work_context;
	batch->order = call->order;
	batch->has_order = !call->args_vary;
	init_rows(batch);
	return batch;
}

void
agg_batch_restart(agg_batch *batch)
{
	MemoryContextReset(batch->work_context);
	agg_rows_reset(&batch->rows);
	agg_rows_reset(&batch->null_rows);
	agg_arena_reset(&batch->arena);
	memset(&batch->fractions, 0, sizeof(batch->fractions));
	batch->fractions.context = batch->work_context;
	batch->has_order = !batch->call->args_vary;
	batch->stage = BATCH_COLLECTING;
	batch->num_groups = 0;
	batch->null_counts = NULL;
	batch->null_capacity = 0;
	batch->total_nulls = 0;
	batch->starts = NULL;
	batch->null_starts = NULL;
	batch->keys = NULL;
	batch->values = NULL;
	batch->value_nulls = NULL;
	batch->heads = NULL;
	batch->sorted_keys = NULL;
	batch->sorted_values = NULL;
	batch->positions = NULL;
}

void
agg_batch_make_null_counts(agg_batch *batch, uint32 group)
{
	Size		capacity = Max((Size) batch->null_capacity * 2, Max((Size) group + 1, 8));
	uint32	   *counts = agg_batch_alloc(batch, capacity * sizeof(uint32));
	Size		known_bytes = (Size) batch->null_capacity * sizeof(uint32);

	if (batch->null_counts)
	{
		memcpy(counts, batch->null_counts, known_bytes);
		pfree(batch->null_counts);
	}
	memset((char *) counts + known_bytes, 0, capacity * sizeof(uint32) - known_bytes);
	batch->null_counts = counts;
	batch->null_capacity = Min(capacity, PG_UINT32_MAX);
}
