/*
 * index_rows.c
 *		Collects the rows of an index that is built.
 *
 * An index tuple is made as PostgreSQL makes it, but for values that it would compress or fetch: rows with such values go
 * through its own function, which allocates for each row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
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

/* As PostgreSQL's own, which is private: longer values are compressed if they can be. */
#define TOAST_INDEX_TARGET (MaxHeapTupleSize / 16)

void
index_rows_start(index_rows *rows, const index_keys *keys, MemoryContext context, Size memory)
{
	memset(rows, 0, sizeof(*rows));
	rows->keys = keys;
	rows->context = context;
	rows->memory = memory;
	rows->detoasted = AllocSetContextCreate(context, "values of an index row", ALLOCSET_DEFAULT_SIZES);
}

/* ---- memory */

void
index_rows_reset(index_rows *rows)
{
	for (uint32 i = 0; i < rows->num_blocks; i++)
		pfree(rows->blocks[i]);
	if (rows->items)
		pfree(rows->items);
	rows->items = NULL;
	rows->num_items = rows->most_items = 0;
	rows->num_blocks = 0;
	rows->block_used = rows->block_bytes = rows->entry_bytes = 0;
}

/* Bytes that the sort of so many items takes: it has a second copy. */
static Size
sort_bytes(uint64 num_items)
{
	return 2 * num_items * sizeof(index_item);
}

static void
grow_items(index_rows *rows)
{
	uint64		most = Max(rows->most_items * 2, FIRST_ITEMS);
	uint64		affordable = (rows->memory - Min(rows->memory, rows->entry_bytes)) / sort_bytes(1);

	/* the last step goes as far as memory does */
	if (most > affordable && affordable > rows->num_items)
		most = affordable;
	most = Min(most, MGPU_MAX_ITEMS);
	if (rows->items == NULL)
		rows->items = large_alloc(rows->context, most * sizeof(index_item));
	else
		rows->items = repalloc_huge(rows->items, most * sizeof(index_item));
	large_memory_advise(rows->items, most * sizeof(index_item));
	rows->most_items = most;
}

static void
add_block(index_rows *rows, Size needed)
{
	Size		bytes = Min(Max(rows->entry_bytes / 4, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES);

	bytes = Max(TYPEALIGN(8192, bytes), needed);
	if (rows->blocks == NULL)
		rows->blocks = MemoryContextAlloc(rows->context, INDEX_MOST_BLOCKS * sizeof(char *));
	if (rows->num_blocks == INDEX_MOST_BLOCKS)
		elog(ERROR, "too many blocks of index tuples");
	rows->blocks[rows->num_blocks] = large_alloc(rows->context, bytes);
	rows->num_blocks++;
	rows->block_used = 0;
	rows->block_bytes = bytes;
	rows->entry_bytes += bytes;
}

/* Make room for one more row, whose entry takes so many bytes: what is in memory may go to a file. */
static void
make_room(index_rows *rows, Size entry_bytes)
{
	Size		needed = sort_bytes(rows->num_items + 1) + rows->entry_bytes;
	bool		is_full = rows->num_items == rows->most_items;

	if (rows->block_used + entry_bytes > rows->block_bytes)
		needed += Max(entry_bytes, Min(rows->entry_bytes / 4, LAST_BLOCK_BYTES));
	if ((needed > rows->memory && rows->num_items >= FIRST_ITEMS) || rows->num_items == MGPU_MAX_ITEMS)
	{
		index_rows_spill(rows);
		is_full = true;
	}
	if (is_full)
		grow_items(rows);
	if (rows->block_used + entry_bytes > rows->block_bytes)
		add_block(rows, entry_bytes);
}

/* ---- rows */

void
index_rows_need_strings(index_rows *rows)
{
	rows->why_not = "a float is -0, or a NaN of another kind than PostgreSQL's";
	rows->needs_strings = true;
}

static inline void
put_number(index_rows *rows, mgpu_u128 number, uint64 place)
{
	index_item *item;

	if (unlikely(rows->num_items == rows->most_items))
		make_room(rows, 0);
	item = &rows->items[rows->num_items++];
	number = number << 48 | place;
	item->high = pg_hton64((uint64) (number >> 64));
	item->low = pg_hton64((uint64) number);
}

static void
add_number(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead)
{
	mgpu_u128	number;

	if (!index_keys_number(rows->keys, values, nulls, &number))
		index_rows_need_strings(rows);
	else
	{
		put_number(rows, number, index_place(place, is_dead));
		rows->num_rows++;
	}
}

void
index_rows_add_numbers(index_rows *rows, BlockNumber block, const OffsetNumber *offsets, const mgpu_u128 *numbers,
					   uint32 num_rows)
{
	ItemPointerData place;

	for (uint32 i = 0; i < num_rows; i++)
	{
		ItemPointerSet(&place, block, offsets[i]);
		put_number(rows, numbers[i], index_place(&place, false));
	}
	rows->num_rows += num_rows;
}

/* Whether PostgreSQL would fetch or compress a value when it makes a tuple. */
static inline bool
is_toasted(const FormData_pg_attribute *attribute, Datum value)
{
	return attribute->attlen == -1 &&
		(VARATT_IS_EXTERNAL(DatumGetPointer(value)) || VARATT_IS_COMPRESSED(DatumGetPointer(value)) ||
		 VARSIZE_ANY(DatumGetPointer(value)) > TOAST_INDEX_TARGET);
}

/* A row with toasted values: plain has the keys' values in full.  Returns PostgreSQL's tuple. */
static IndexTuple
detoast(index_rows *rows, const Datum *values, const bool *nulls, Datum *plain)
{
	const index_keys *keys = rows->keys;
	TupleDesc	descriptor = RelationGetDescr(keys->index);
	MemoryContext caller;
	IndexTuple	tuple;

	MemoryContextReset(rows->detoasted);
	caller = MemoryContextSwitchTo(rows->detoasted);
	tuple = index_form_tuple(descriptor, (Datum *) values, (bool *) nulls);
	for (int i = 0; i < keys->num_keys; i++)
		plain[i] = !nulls[i] && TupleDescAttr(descriptor, i)->attlen == -1
			? PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[i])) : values[i];
	MemoryContextSwitchTo(caller);
	return tuple;
}

/* Write the string of a row.  Returns its length, or 0 with why_not set. */
static Size
make_string(index_rows *rows, const Datum *values, const bool *nulls)
{
	Size		space = index_keys_space(rows->keys, values, nulls) + sizeof(uint64);
	Size		length;

	if (space > rows->string_space)
	{
		if (rows->string)
			pfree(rows->string);
		rows->string_space = Max(space, 1024);
		rows->string = MemoryContextAllocHuge(rows->context, rows->string_space);
	}
	memset(rows->string, 0, sizeof(uint64));
	length = index_keys_bytes(rows->keys, values, nulls, rows->string);
	if (length == 0 || length > UINT32_MAX / 2)
		rows->why_not = "a value is malformed or too long";
	return length;
}

typedef struct new_tuple
{
	const Datum *values;
	const bool *nulls;
	IndexTuple	made;			/* NULL: it is made where it is to be */
	Size		header_bytes;
	Size		data_bytes;
	Size		tuple_bytes;
	bool		any_null;
} new_tuple;

static void
write_tuple(const index_rows *rows, const new_tuple *row, IndexTuple tuple)
{
	uint16		mask = 0;

	if (row->made)
	{
		memcpy(tuple, row->made, row->tuple_bytes);
		return;
	}
	memset(tuple, 0, row->tuple_bytes);
	heap_fill_tuple(RelationGetDescr(rows->keys->index), (Datum *) row->values, (bool *) row->nulls,
					(char *) tuple + row->header_bytes, row->data_bytes, &mask,
					row->any_null ? (bits8 *) tuple + sizeof(IndexTupleData) : NULL);
	tuple->t_info = row->tuple_bytes | (row->any_null ? INDEX_NULL_MASK : 0) |
		((mask & HEAP_HASVARWIDTH) ? INDEX_VAR_MASK : 0);
}

static void
measure_tuple(const index_rows *rows, new_tuple *row)
{
	row->any_null = false;
	for (int i = 0; i < rows->keys->num_columns; i++)
		row->any_null |= row->nulls[i];
	row->header_bytes = MAXALIGN(sizeof(IndexTupleData) + (row->any_null ? sizeof(IndexAttributeBitMapData) : 0));
	if (row->made == NULL)
		row->data_bytes = heap_compute_data_size(RelationGetDescr(rows->keys->index), (Datum *) row->values, (bool *) row->nulls);
	row->tuple_bytes = row->made ? IndexTupleSize(row->made) : MAXALIGN(row->header_bytes + row->data_bytes);
}

static void
add_entry(index_rows *rows, ItemPointer place, const new_tuple *row, Size length, bool is_dead)
{
	uint64		code;
	Size		rest = length > sizeof(code) ? length - sizeof(code) : 0;
	Size		bytes = MAXALIGN(sizeof(index_entry) + row->tuple_bytes + rest);
	index_entry *entry;
	index_item *item;

	if (rows->num_items == rows->most_items || rows->block_used + bytes > rows->block_bytes)
		make_room(rows, bytes);
	entry = (index_entry *) (rows->blocks[rows->num_blocks - 1] + rows->block_used);
	item = &rows->items[rows->num_items++];
	item->low = pg_hton64((uint64) (rows->num_blocks - 1) << 32 | rows->block_used);
	memcpy(&item->high, rows->string, sizeof(code));
	rows->block_used += bytes;
	*entry = (index_entry) {rest, row->tuple_bytes, is_dead, false};
	for (int i = 0; i < rows->keys->num_keys; i++)
		entry->has_null |= row->nulls[i];
	write_tuple(rows, row, index_entry_tuple(entry));
	index_entry_tuple(entry)->t_tid = *place;
	memcpy((unsigned char *) (entry + 1) + row->tuple_bytes, rows->string + sizeof(code), rest);
	rows->num_rows++;
}

static void
add_string(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead)
{
	TupleDesc	descriptor = RelationGetDescr(rows->keys->index);
	new_tuple	row = {.values = values,.nulls = nulls};
	Datum		plain[INDEX_MAX_KEYS];
	bool		toasted = false;
	Size		length;

	for (int i = 0; i < rows->keys->num_columns; i++)
		toasted |= !nulls[i] && is_toasted(TupleDescAttr(descriptor, i), values[i]);
	if (toasted)
		row.made = detoast(rows, values, nulls, plain);
	measure_tuple(rows, &row);
	/* PostgreSQL's function raises the error */
	if (row.tuple_bytes > INDEX_SIZE_MASK)
		row.made = detoast(rows, values, nulls, plain);
	length = make_string(rows, toasted ? plain : values, nulls);
	if (rows->why_not)
		return;
	add_entry(rows, place, &row, length, is_dead);
}

void
index_rows_add(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead)
{
	if (rows->why_not)
		return;
	if (rows->keys->are_numbers)
		add_number(rows, place, values, nulls, is_dead);
	else
		add_string(rows, place, values, nulls, is_dead);
}
