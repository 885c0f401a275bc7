/*
 * agg_group.c
 *		Brings each group's rows together: a counting sort by group number.
 *
 * Two passes over the rows, stable and without comparisons; groups are numbered
 * from 0 in order of arrival, so the counters are an array.  Chunks are given
 * back as they are moved.  Sorting (group, key) pairs outright was rejected:
 * twice the key width for every pass, and no use of what is known already.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_call.h"
#include "pgerror.h"

static uint32 *
zeroed_counters(agg_batch *batch)
{
	Size		bytes = ((Size) batch->num_groups + 1) * sizeof(uint32);

	return memset(agg_batch_alloc(batch, bytes), 0, bytes);
}

/*
 * cursors[g + 1] = where the rows of group g start.  Once they are moved, each
 * having moved its cursor on, it is where they end and those of g + 1 start.
 */
static void
place_groups(const agg_rows *rows, uint32 *cursors, uint32 num_groups)
{
	uint32		start = 0;

	for (const agg_chunk *chunk = rows->first; chunk; chunk = chunk->next)
	{
		if (chunk->groups == NULL)
			cursors[chunk->group + 1] += chunk->used;
		for (uint32 i = 0; chunk->groups && i < chunk->used; i++)
			cursors[chunk->groups[i] + 1]++;
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 group = 0; group < num_groups; group++)
	{
		uint32		count = cursors[group + 1];

		cursors[group + 1] = start;
		start += count;
	}
}

/* Cells to where their rows go; targets are row numbers. */
static void
scatter(uint32 width, const char *cells, const uint32 *targets, uint32 num_rows, char *dest)
{
	switch (width)
	{
		case 1:
			for (uint32 i = 0; i < num_rows; i++)
				dest[targets[i]] = cells[i];
			break;
		case 2:
			for (uint32 i = 0; i < num_rows; i++)
				((uint16 *) dest)[targets[i]] = ((const uint16 *) cells)[i];
			break;
		case 4:
			for (uint32 i = 0; i < num_rows; i++)
				((uint32 *) dest)[targets[i]] = ((const uint32 *) cells)[i];
			break;
		case 8:
			for (uint32 i = 0; i < num_rows; i++)
				((uint64 *) dest)[targets[i]] = ((const uint64 *) cells)[i];
			break;
		default:
			for (uint32 i = 0; i < num_rows; i++)
				memcpy(dest + (Size) targets[i] * width, cells + (Size) i * width, width);
	}
}

/* Row numbers in place of group numbers. */
static void
groups_to_targets(agg_chunk *chunk, uint32 *cursors)
{
	for (uint32 i = 0; i < chunk->used; i++)
		chunk->groups[i] = cursors[chunk->groups[i] + 1]++;
}

/* A chunk's cells to their rows: to targets or, where there are none, from first on. */
static void
move_cells(const agg_chunk *chunk, uint32 width, const char *cells, uint64 first, char *dest)
{
	if (chunk->groups)
		scatter(width, cells, chunk->groups, chunk->used, dest);
	else
		memcpy(dest + first * width, cells, (Size) chunk->used * width);
}

static void
move_chunk(agg_batch *batch, const agg_rows *rows, agg_chunk *chunk, uint32 *cursors, uint64 first_value)
{
	const agg_column *value_column = rows->value_column;
	uint64		first = 0;

	if (chunk->groups)
		groups_to_targets(chunk, cursors);
	else
	{
		first = cursors[chunk->group + 1];
		cursors[chunk->group + 1] += chunk->used;
	}
	if (rows->key_column)
		move_cells(chunk, rows->key_column->width, chunk->keys, first, batch->keys);
	if (value_column)
		move_cells(chunk, value_column->width, chunk->values, first,
				   batch->values + first_value * value_column->width);
	if (chunk->value_nulls)
		move_cells(chunk, 1, (const char *) chunk->value_nulls, first, (char *) batch->value_nulls + first_value);
}

/* first_value: where the values of these rows start among the batch's. */
static void
move_rows(agg_batch *batch, agg_rows *rows, uint32 *cursors, uint64 first_value)
{
	place_groups(rows, cursors, batch->num_groups);
	while (rows->first)
	{
		agg_chunk  *chunk = rows->first;

		move_chunk(batch, rows, chunk, cursors, first_value);
		rows->first = chunk->next;
		if (chunk->value_nulls)
			pfree(chunk->value_nulls);
		pfree(chunk);
		CHECK_FOR_INTERRUPTS();
	}
	agg_rows_free(rows);
}

/* Before anything is allocated for it: no group may be more than an array holds. */
static void
check_group_sizes(const agg_batch *batch)
{
	if (batch->num_items + batch->num_nulls <= MaxArraySize || batch->starts == NULL)
		return;
	for (uint32 group = 0; group < batch->num_groups; group++)
	{
		uint64		items = agg_batch_group_items(batch, group) + agg_batch_group_nulls(batch, group);

		if (items > MaxArraySize)
			mgpu_raise_too_large(items);
	}
}

/* null_starts of rows that were only counted. */
static void
sum_null_counts(agg_batch *batch)
{
	uint32		start = 0;

	for (uint32 group = 0; group < batch->num_groups; group++)
	{
		if (group < batch->null_capacity)
			start += batch->null_counts[group];
		batch->null_starts[group + 1] = start;
	}
	pfree(batch->null_counts);
	batch->null_counts = NULL;
	batch->null_capacity = 0;
}

static void
group_many(agg_batch *batch)
{
	agg_rows   *rows = &batch->rows;
	agg_rows   *null_rows = &batch->null_rows;
	uint64		num_rows = batch->num_items + batch->num_nulls;

	batch->keys = agg_batch_alloc(batch, batch->num_items * rows->key_column->width);
	if (rows->value_column)
		batch->values = agg_batch_alloc(batch, num_rows * rows->value_column->width);
	if (rows->has_value_nulls || null_rows->has_value_nulls)
		batch->value_nulls = memset(agg_batch_alloc(batch, num_rows), 0, num_rows);
	batch->starts = zeroed_counters(batch);
	move_rows(batch, rows, batch->starts, 0);
	if (batch->num_nulls > 0)
		batch->null_starts = zeroed_counters(batch);
	if (batch->num_nulls > 0 && rows->value_column)
		move_rows(batch, null_rows, batch->null_starts, batch->num_items);
	else if (batch->num_nulls > 0)
		sum_null_counts(batch);
}

/*
 * Groups are numbered as they come, and begin with a row: where there are as
 * many groups as rows, group g is row g.  (mgpu_merge_agg has empty groups.)
 */
static bool
each_row_is_a_group(const agg_batch *batch)
{
	return batch->num_groups == batch->num_items && batch->num_nulls == 0 && batch->call->kind != AGG_MERGE;
}

static void
group_one(agg_batch *batch)
{
	batch->own_starts[0] = 0;
	batch->own_starts[1] = batch->num_items;
	batch->starts = batch->own_starts;
	batch->own_null_starts[0] = 0;
	batch->own_null_starts[1] = batch->num_nulls;
	batch->null_starts = batch->own_null_starts;
}

static void
find_heads(agg_batch *batch)
{
	uint64		num_heads = 0;

	for (uint32 group = 0; group < batch->num_groups; group++)
		num_heads += agg_batch_group_items(batch, group) > 0;
	batch->num_heads = num_heads;
	batch->heads = batch->starts;
	if (num_heads == batch->num_groups)
		return;
	batch->heads = agg_batch_alloc(batch, num_heads * sizeof(uint32));
	num_heads = 0;
	for (uint32 group = 0; group < batch->num_groups; group++)
		if (agg_batch_group_items(batch, group) > 0)
			batch->heads[num_heads++] = batch->starts[group];
}

void
agg_batch_group(agg_batch *batch)
{
	if (batch->stage != BATCH_COLLECTING)
		return;
	agg_rows_finish(&batch->rows);
	agg_rows_finish(&batch->null_rows);
	agg_arena_finish(&batch->arena);
	batch->num_items = agg_rows_count(&batch->rows);
	batch->num_nulls = agg_rows_count(&batch->null_rows) + batch->total_nulls;
	if (batch->num_items + batch->num_nulls > MGPU_MAX_ITEMS)
		mgpu_raise_too_large(batch->num_items + batch->num_nulls);
	batch->moved = batch->num_groups > 1 && !each_row_is_a_group(batch);
	if (batch->moved)
		group_many(batch);
	else if (batch->num_groups == 1)
		group_one(batch);
	if (batch->call->kind <= AGG_MERGE)
		check_group_sizes(batch);
	find_heads(batch);
	batch->stage = BATCH_GROUPED;
}

void
agg_batch_set_groups(agg_batch *batch, uint32 num_groups, char *keys, uint32 *starts, uint32 *null_starts)
{
	batch->num_groups = num_groups;
	batch->num_items = starts[num_groups];
	batch->num_nulls = null_starts ? null_starts[num_groups] : 0;
	batch->moved = true;
	batch->keys = keys;
	batch->starts = starts;
	batch->null_starts = null_starts;
	if (batch->call->kind <= AGG_MERGE)
		check_group_sizes(batch);
	find_heads(batch);
	batch->stage = BATCH_GROUPED;
}

void
agg_batch_need_keys(agg_batch *batch)
{
	const agg_rows *rows = &batch->rows;

	if (batch->keys || batch->num_items == 0)
		return;
	if (rows->num_before == 0)
		batch->keys = rows->first->keys;
	else
	{
		batch->keys = agg_batch_alloc(batch, batch->num_items * rows->key_column->width);
		agg_rows_copy(rows, AGG_KEYS, batch->keys);
	}
}

void
agg_batch_need_values(agg_batch *batch)
{
	const agg_rows *rows = &batch->rows;
	const agg_rows *null_rows = &batch->null_rows;
	uint64		num_rows = batch->num_items + batch->num_nulls;
	uint32		width = rows->value_column->width;

	if (batch->values || num_rows == 0)
		return;
	if (rows->num_before == 0 && batch->num_nulls == 0)
	{
		batch->values = rows->first->values;
		batch->value_nulls = rows->first->value_nulls;
		return;
	}
	batch->values = agg_batch_alloc(batch, num_rows * width);
	agg_rows_copy(rows, AGG_VALUES, batch->values);
	agg_rows_copy(null_rows, AGG_VALUES, batch->values + batch->num_items * width);
	if (rows->has_value_nulls || null_rows->has_value_nulls)
	{
		batch->value_nulls = agg_batch_alloc(batch, num_rows);
		agg_rows_copy_value_nulls(rows, batch->value_nulls);
		agg_rows_copy_value_nulls(null_rows, batch->value_nulls + batch->num_items);
	}
}
