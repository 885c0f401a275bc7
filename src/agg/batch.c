/*
 * batch.c
 *		A batch: rows of values, with groups, that are sorted together.
 *
 * A batch of one group keeps its rows' memory for the next group.  Everything derived
 * from the rows is in a context of its own, because resetting an empty context costs
 * nothing.  Freeing all memory after each group was rejected: GroupAggregate may run
 * hundreds of thousands of groups of a few rows.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "agg/batch.h"

/* The type of group numbers. */
static const column_type number_type = {.store = COLUMN_4,.width = sizeof(uint32),.align = sizeof(uint32)};

static agg_batch *
make_batch(MemoryContext context, const sort_spec *sort, const column_type *key_type)
{
	agg_batch  *batch = MemoryContextAllocZero(context, sizeof(agg_batch));

	batch->sort = *sort;
	batch->key_type = key_type;
	batch->context = batch->work_context = context;
	return batch;
}

agg_batch *
agg_batch_create(MemoryContext context, bool hashed, const sort_spec *sort, const column_type *key_type,
				 const column_type *value_type, uint64 most_rows)
{
	agg_batch  *batch = make_batch(context, sort, key_type);
	const column_type *types[3] = {key_type};
	int			num_columns = 1;

	if (value_type)
		types[num_columns++] = value_type;
	if (hashed)
		types[num_columns++] = &number_type;
	else
		batch->work_context = AllocSetContextCreate(context, "mgpu_pg aggregate's group", ALLOCSET_DEFAULT_SIZES);
	batch->rows = chunk_create(context, num_columns, types, most_rows);
	batch->key = &batch->rows->columns[0];
	batch->value = value_type ? &batch->rows->columns[1] : NULL;
	batch->groups = hashed ? &batch->rows->columns[num_columns - 1] : NULL;
	return batch;
}

agg_batch *
agg_batch_of_rows(MemoryContext context, const sort_spec *sort, chunk *rows, int key_column, const row_groups *groups)
{
	agg_batch  *batch = make_batch(context, sort, rows->columns[key_column].type);

	batch->borrowed = true;
	batch->rows = rows;
	batch->key = &rows->columns[key_column];
	batch->num_groups = groups->num_groups;
	batch->all = *groups;
	batch->stage = BATCH_TOGETHER;
	agg_batch_group(batch);
	return batch;
}

agg_batch *
agg_batch_of_sorted(MemoryContext context, const sort_spec *sort, const column_type *key_type, char *sorted_keys,
					const row_groups *items, const row_groups *nulls)
{
	agg_batch  *batch = make_batch(context, sort, key_type);

	batch->borrowed = true;
	batch->num_groups = items->num_groups;
	batch->items = *items;
	batch->nulls = *nulls;
	batch->sorted_keys = sorted_keys;
	batch->stage = BATCH_SORTED;
	return batch;
}

void
agg_batch_restart(agg_batch *batch)
{
	MemoryContextReset(batch->work_context);
	chunk_reset(batch->rows);
	batch->stage = BATCH_COLLECTING;
	batch->num_groups = 0;
	batch->sorted_keys = NULL;
	batch->sorted_values = NULL;
	batch->positions = NULL;
}

value_order *
agg_batch_comparison(agg_batch *batch)
{
	if (batch->comparison == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(batch->context);

		batch->comparison = palloc(sizeof(value_order));
		value_order_prepare(batch->comparison, &batch->key_type->element, batch->sort.collation, false);
		MemoryContextSwitchTo(caller);
	}
	return batch->comparison;
}

void
agg_batch_bring_together(agg_batch *batch)
{
	uint64		num_rows = batch->rows->num_rows;

	if (batch->stage != BATCH_COLLECTING)
		return;
	batch->stage = BATCH_TOGETHER;
	if (batch->num_groups == 1)
	{
		batch->one_group[0] = 0;
		batch->one_group[1] = num_rows;
		batch->all = (row_groups) {1, NULL, batch->one_group};
	}
	else
		batch->all = row_groups_make(batch->work_context, (const uint32 *) batch->groups->cells, num_rows,
									 batch->num_groups);
	if (batch->groups)
		chunk_free_column(batch->rows, batch->groups);
}

static void
find_heads(agg_batch *batch)
{
	uint64		num_heads = 0;

	for (uint32 group = 0; group < batch->num_groups; group++)
		num_heads += row_groups_size(&batch->items, group) > 0;
	batch->num_heads = num_heads;
	batch->heads = batch->items.starts;
	if (num_heads == batch->num_groups)
		return;
	batch->heads = agg_batch_alloc(batch, num_heads * sizeof(uint32));
	num_heads = 0;
	for (uint32 group = 0; group < batch->num_groups; group++)
		if (row_groups_size(&batch->items, group) > 0)
			batch->heads[num_heads++] = batch->items.starts[group];
}

/*
 * Release memory that is not needed after the keys were copied: the key column, and,
 * unless values are still to be found by them, the row numbers.
 */
static void
free_picked(agg_batch *batch)
{
	chunk_free_column(batch->rows, batch->key);
	if (batch->value)
		return;
	if (batch->items.numbers != batch->all.numbers)
		pfree(batch->items.numbers);
	if (batch->all.numbers)
		pfree(batch->all.numbers);
	batch->items.numbers = batch->all.numbers = NULL;
}

void
agg_batch_group(agg_batch *batch)
{
	agg_batch_bring_together(batch);
	if (batch->stage != BATCH_TOGETHER)
		return;
	row_groups_split(batch->work_context, &batch->all, batch->key, &batch->items, &batch->nulls);
	batch->num_items = row_groups_count(&batch->items);
	batch->num_nulls = row_groups_count(&batch->nulls);
	find_heads(batch);
	batch->keys = batch->key->cells;
	if (batch->items.numbers)
	{
		batch->keys = pick_cells(batch->work_context, batch->key->cells, batch->key_type->width,
								 batch->items.numbers, batch->num_items);
		if (!batch->borrowed)
			free_picked(batch);
	}
	batch->stage = BATCH_GROUPED;
}
