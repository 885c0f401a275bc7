/*
 * batch.c
 *		A batch: all rows of one aggregate that are sorted together.
 *
 * A batch of one group keeps its rows' memory for the next group.  Everything derived
 * from the rows is in a context of its own, because resetting an empty context costs
 * nothing.  Freeing all memory after each group was rejected: GroupAggregate may run
 * hundreds of thousands of groups of a few rows.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg/call.h"
#include "pgerror.h"

/* The type of group numbers. */
static const column_type number_type = {.store = COLUMN_4,.width = sizeof(uint32),.align = sizeof(uint32)};

static agg_batch *
make_batch(agg_call *call, MemoryContext context)
{
	agg_batch  *batch = MemoryContextAllocZero(context, sizeof(agg_batch));

	batch->call = call;
	batch->context = batch->work_context = context;
	batch->order = call->order;
	batch->has_order = !call->args_vary;
	return batch;
}

agg_batch *
agg_batch_create(agg_call *call, bool hashed, MemoryContext context)
{
	agg_batch  *batch = make_batch(call, context);
	const column_type *types[3] = {&call->key};
	int			num_columns = 1;
	uint64		most_rows = MGPU_MAX_ITEMS;

	if (call->kind == AGG_SORT_BY)
		types[num_columns++] = &call->value;
	if (hashed)
		types[num_columns++] = &number_type;
	else
		batch->work_context = AllocSetContextCreate(context, "mgpu_pg aggregate's group", ALLOCSET_DEFAULT_SIZES);
	/* the one group becomes an array: it needs no more rows than an array can have */
	if (!hashed && call->kind <= AGG_MERGE)
		most_rows = MaxArraySize;
	batch->hashed = hashed;
	if (call->args_vary && OidIsValid(call->fraction.element.type_id))
	{
		types[2] = &call->fraction;
		batch->fractions = chunk_create(context, 1, &types[2], MGPU_MAX_ITEMS);
	}
	batch->rows = chunk_create(context, num_columns, types, most_rows);
	batch->key = &batch->rows->columns[0];
	batch->value = call->kind == AGG_SORT_BY ? &batch->rows->columns[1] : NULL;
	batch->groups = hashed ? &batch->rows->columns[num_columns - 1] : NULL;
	return batch;
}

agg_batch *
agg_batch_of_rows(agg_call *call, MemoryContext context, chunk *rows, int key_column, const row_groups *groups)
{
	agg_batch  *batch = make_batch(call, context);

	batch->hashed = batch->borrowed = true;
	batch->rows = rows;
	batch->key = &rows->columns[key_column];
	batch->num_groups = groups->num_groups;
	batch->all = *groups;
	batch->stage = BATCH_TOGETHER;
	agg_batch_group(batch);
	return batch;
}

agg_batch *
agg_batch_of_sorted(agg_call *call, MemoryContext context, chunk *rows, char *sorted_keys, const row_groups *items,
					const row_groups *nulls)
{
	agg_batch  *batch = make_batch(call, context);

	batch->hashed = batch->borrowed = true;
	batch->rows = rows;
	batch->num_groups = items->num_groups;
	batch->items = *items;
	batch->nulls = *nulls;
	batch->num_items = row_groups_count(items);
	batch->num_nulls = row_groups_count(nulls);
	batch->sorted_keys = sorted_keys;
	batch->stage = BATCH_SORTED;
	return batch;
}

void
agg_batch_restart(agg_batch *batch)
{
	MemoryContextReset(batch->work_context);
	chunk_reset(batch->rows);
	if (batch->fractions)
		chunk_reset(batch->fractions);
	batch->has_order = !batch->call->args_vary;
	batch->stage = BATCH_COLLECTING;
	batch->num_groups = 0;
	batch->sorted_keys = NULL;
	batch->sorted_values = NULL;
	batch->positions = NULL;
}

chunk_slice
agg_batch_fraction(const agg_batch *batch, uint32 group)
{
	if (batch->fractions)
		return (chunk_slice) {batch->fractions, 1, group, NULL, 1};
	return (chunk_slice) {batch->call->constant_fraction, 1, 0, NULL, 1};
}

void
agg_batch_take_fraction(agg_batch *batch, uint32 group, NullableDatum fraction)
{
	column	   *col = &batch->fractions->columns[0];
	const element_type *type = &col->type->element;

	if (group == batch->fractions->num_rows)
	{
		uint64		row = chunk_add_rows(batch->fractions, 1);

		chunk_put(batch->fractions, col, row, fraction.value, fraction.isnull);
	}
	else if (column_is_null(col, group) != fraction.isnull ||
			 (!fraction.isnull &&
			  !datum_image_eq(cell_datum(col->type, col->cells, group), fraction.value, type->typbyval, type->typlen)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fraction must be the same in all rows of a group")));
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

/* Called before the results are allocated: no group may exceed the size of an array. */
static void
check_group_sizes(const agg_batch *batch)
{
	if (batch->call->kind > AGG_MERGE || batch->rows->num_rows <= MaxArraySize)
		return;
	for (uint32 group = 0; group < batch->num_groups; group++)
		if (row_groups_size(&batch->all, group) > MaxArraySize)
			mgpu_raise_too_large(row_groups_size(&batch->all, group));
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
	check_group_sizes(batch);
	row_groups_split(batch->work_context, &batch->all, batch->key, &batch->items, &batch->nulls);
	batch->num_items = row_groups_count(&batch->items);
	batch->num_nulls = row_groups_count(&batch->nulls);
	find_heads(batch);
	batch->keys = batch->key->cells;
	if (batch->items.numbers)
	{
		batch->keys = pick_cells(batch->work_context, batch->key->cells, batch->key->type->width,
								 batch->items.numbers, batch->num_items);
		if (!batch->borrowed)
			free_picked(batch);
	}
	batch->stage = BATCH_GROUPED;
}
