/*
 * index_rows.c
 *		Collects the rows of an index that is built.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/job.h"
#include "core/sizes.h"
#include "index/index_rows.h"
#include "index/index_runs.h"
#include "large_memory.h"

#define FIRST_ITEMS MGPU_SIZE(16384, 64)
#define FIRST_BLOCK_BYTES MGPU_SIZE((Size) 256 * 1024, (Size) 16 * 1024)
#define LAST_BLOCK_BYTES ((Size) 64 * 1024 * 1024)

/* What a string takes at most where threads make it, but for odd cases; then there is more. */
#define FIRST_STRING_BYTES 8192

/* Find out in how many bytes a row's number and place fit. */
static void
choose_items(index_rows *rows, BlockNumber num_blocks)
{
	uint32		place_bits = mgpu_bit_length(num_blocks) + INDEX_OFFSET_BITS;
	Size		bytes = (rows->keys->number_bits + place_bits + 7) / 8;

	rows->item_bytes = sizeof(mgpu_u128);
	if (rows->keys->are_numbers && num_blocks > 0 && MaxHeapTuplesPerPage < 1 << (INDEX_OFFSET_BITS - 1) && bytes <= sizeof(index_narrow))
	{
		rows->item_bytes = bytes <= sizeof(uint64) ? sizeof(uint64) : sizeof(index_narrow);
		rows->place_bits = place_bits;
		rows->num_blocks = num_blocks;
	}
	place_bits = rows->place_bits > 0 ? rows->place_bits : 48;
	rows->least_key = (mgpu_u128) 1 << place_bits;
	rows->null_bits = rows->keys->null_bits << place_bits;
	rows->no_null = rows->keys->no_null << place_bits;
}

void
index_rows_start(index_rows *rows, const index_keys *keys, BlockNumber num_blocks, Size memory, thread_work *work)
{
	memset(rows, 0, sizeof(*rows));
	rows->keys = keys;
	rows->context = CurrentMemoryContext;
	rows->work = work;
	rows->memory = memory;
	rows->num_makers = work->pool ? mgpu_pool_size(work->pool) : 1;
	choose_items(rows, num_blocks);
	for (int i = 0; i < rows->num_makers; i++)
	{
		rows->makers[i].keys = keys;
		rows->makers[i].string = keys->are_numbers ? NULL : palloc(FIRST_STRING_BYTES);
		rows->makers[i].string_space = FIRST_STRING_BYTES;
	}
	rows->detoasted = AllocSetContextCreate(rows->context, "values of an index row", ALLOCSET_DEFAULT_SIZES);
}

/* ---- memory */

/* Bytes that the sort of so many items takes: it has a second copy. */
static Size
sort_bytes(const index_rows *rows, uint64 num_items)
{
	return 2 * num_items * rows->item_bytes;
}

/* Memory for at least so many items.  A copy of those that are there costs less than their pages, so they are not extended. */
static void
grow_items(index_rows *rows, uint64 least)
{
	uint64		most = Max(Max(rows->most_items * 2, FIRST_ITEMS), rows->expected_items);
	uint64		affordable = (rows->memory - Min(rows->memory, rows->entry_bytes)) / sort_bytes(rows, 1);
	void	   *items;

	/* the last step goes as far as memory does */
	most = Max(Min(Min(most, affordable), MGPU_MAX_ITEMS), least);
	items = large_alloc(rows->context, most * rows->item_bytes);
	if (rows->items)
	{
		memcpy(items, rows->items, rows->num_items * rows->item_bytes);
		pfree(rows->items);
	}
	rows->items = items;
	rows->most_items = most;
}

void
index_rows_reserve(index_rows *rows, uint64 num_items, Size entry_bytes)
{
	Size		needed = sort_bytes(rows, rows->num_items + num_items) + rows->entry_bytes + entry_bytes;

	if (rows->num_items > 0 &&
		((needed > rows->memory && rows->num_items >= FIRST_ITEMS) || rows->num_items + num_items > MGPU_MAX_ITEMS))
		index_rows_spill(rows);
	if (rows->num_items + num_items > rows->most_items)
		grow_items(rows, rows->num_items + num_items);
}

/* Bytes of a new block that has room for so many. */
static Size
next_block_bytes(const index_rows *rows, Size needed)
{
	Size		bytes = Min(Max(rows->entry_bytes / 4, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES) / rows->num_makers;

	return Max(TYPEALIGN(8192, bytes), needed);
}

void
index_rows_add_block(index_rows *rows, index_maker *maker, Size needed)
{
	Size		bytes = next_block_bytes(rows, needed);

	if (rows->blocks == NULL)
		rows->blocks = MemoryContextAlloc(rows->context, INDEX_MOST_BLOCKS * sizeof(char *));
	if (rows->num_entry_blocks == INDEX_MOST_BLOCKS)
		elog(ERROR, "too many blocks of index tuples");
	maker->block = rows->blocks[rows->num_entry_blocks] = large_alloc(rows->context, bytes);
	maker->block_number = rows->num_entry_blocks++;
	maker->block_used = 0;
	maker->block_bytes = bytes;
	rows->entry_bytes += bytes;
}

/* ---- rows of the session */

void
index_rows_need_strings(index_rows *rows)
{
	rows->why_not = "a float is -0, or a NaN of another kind than PostgreSQL's";
	rows->needs_strings = true;
}

static void
add_number(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead)
{
	mgpu_u128	number;

	if (rows->place_bits > 0 && ItemPointerGetBlockNumber(place) >= rows->num_blocks)
		elog(ERROR, "a table has grown while an index is built");
	if (!index_keys_number(rows->keys, values, nulls, &number))
		index_rows_need_strings(rows);
	else
	{
		index_put_number(rows, rows->num_items++, number,
						 index_place(ItemPointerGetBlockNumber(place), ItemPointerGetOffsetNumber(place), is_dead));
		rows->num_rows++;
	}
}

/* A row with toasted values: PostgreSQL makes the tuple, and plain has the keys' values in full. */
static void
detoast(index_rows *rows, index_row *row, Datum *plain)
{
	const index_keys *keys = rows->keys;
	TupleDesc	descriptor = RelationGetDescr(keys->index);
	MemoryContext caller;

	MemoryContextReset(rows->detoasted);
	caller = MemoryContextSwitchTo(rows->detoasted);
	row->made = index_form_tuple(descriptor, (Datum *) row->values, (bool *) row->nulls);
	for (int i = 0; i < keys->num_keys; i++)
		plain[i] = !row->nulls[i] && TupleDescAttr(descriptor, i)->attlen == -1
			? PointerGetDatum(PG_DETOAST_DATUM_PACKED(row->values[i])) : row->values[i];
	row->plain = plain;
	MemoryContextSwitchTo(caller);
}

static void
grow_string(index_rows *rows, index_maker *maker, const index_row *row)
{
	Size		space = index_keys_space(rows->keys, row->plain, row->nulls) + sizeof(uint64);

	pfree(maker->string);
	maker->string_space = Max(space, 2 * maker->string_space);
	maker->string = MemoryContextAllocHuge(rows->context, maker->string_space);
}

static void
add_string(index_rows *rows, index_row *row)
{
	index_maker *maker = &rows->makers[0];
	Datum		plain[INDEX_MAX_KEYS];
	mgpu_u128	item;
	index_made	made;

	while ((made = index_make(maker, row, &item)) != INDEX_MADE)
		if (made == INDEX_TOASTED)
			detoast(rows, row, plain);
		else if (made == INDEX_NO_SPACE)
			grow_string(rows, maker, row);
		else if (made == INDEX_NO_ROOM)
		{
			index_rows_reserve(rows, 1, next_block_bytes(rows, maker->needed));
			index_rows_add_block(rows, maker, maker->needed);
		}
		else
		{
			rows->why_not = "a value is malformed or too long";
			return;
		}
	index_strings(rows)[rows->num_items++] = item;
	rows->num_rows++;
}

void
index_rows_add(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead)
{
	index_row	row = {.values = values,.nulls = nulls,.plain = values,.place = *place,.is_dead = is_dead};

	if (rows->why_not)
		return;
	if (rows->num_items == rows->most_items)
		index_rows_reserve(rows, 1, 0);
	if (rows->keys->are_numbers)
		add_number(rows, place, values, nulls, is_dead);
	else
		add_string(rows, &row);
}
