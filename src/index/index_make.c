/*
 * index_make.c
 *		Makes the index tuple and the string of a row.  See index_make.h.
 *
 * An index tuple is made as PostgreSQL makes it, but for values that it would compress or fetch: those are for its own
 * function, which allocates for each row.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "port/pg_bswap.h"

#include "compat.h"
#include "index/index_make.h"

/* As PostgreSQL's own, which is private: longer values are compressed if they can be. */
#define TOAST_INDEX_TARGET (MaxHeapTupleSize / 16)

typedef struct tuple_shape
{
	Size		header_bytes;
	Size		data_bytes;
	Size		tuple_bytes;
	bool		any_null;
	bool		has_rest;		/* its value has the rest of the string */
} tuple_shape;

/* Whether PostgreSQL would fetch or compress a value when it makes a tuple. */
static inline bool
is_toasted(const FormData_pg_attribute *attribute, Datum value)
{
	return attribute->attlen == -1 &&
		(VARATT_IS_EXTERNAL(DatumGetPointer(value)) || VARATT_IS_COMPRESSED(DatumGetPointer(value)) ||
		 VARSIZE_ANY(DatumGetPointer(value)) > TOAST_INDEX_TARGET);
}

static bool
any_toasted(const index_keys *keys, const index_row *row)
{
	TupleDesc	descriptor = RelationGetDescr(keys->index);

	for (int i = 0; i < keys->num_columns; i++)
		if (!row->nulls[i] && is_toasted(TupleDescAttr(descriptor, i), row->values[i]))
			return true;
	return false;
}

static tuple_shape
measure(const index_keys *keys, const index_row *row)
{
	tuple_shape shape = {0};

	for (int i = 0; i < keys->num_columns; i++)
		shape.any_null |= row->nulls[i];
	shape.header_bytes = MAXALIGN(sizeof(IndexTupleData) + (shape.any_null ? sizeof(IndexAttributeBitMapData) : 0));
	if (row->made == NULL)
		shape.data_bytes = heap_compute_data_size(RelationGetDescr(keys->index), (Datum *) row->values, (bool *) row->nulls);
	shape.tuple_bytes = row->made ? IndexTupleSize(row->made) : MAXALIGN(shape.header_bytes + shape.data_bytes);
	shape.has_rest = keys->are_values && row->made == NULL && !shape.any_null;
	return shape;
}

static void
write_tuple(const index_keys *keys, const index_row *row, const tuple_shape *shape, IndexTuple tuple)
{
	uint16		mask = 0;

	if (row->made)
		memcpy(tuple, row->made, shape->tuple_bytes);
	else
	{
		memset(tuple, 0, shape->tuple_bytes);
		heap_fill_tuple(RelationGetDescr(keys->index), (Datum *) row->values, (bool *) row->nulls,
						(char *) tuple + shape->header_bytes, shape->data_bytes, &mask,
						shape->any_null ? (uint8 *) tuple + sizeof(IndexTupleData) : NULL);
		tuple->t_info = shape->tuple_bytes | (shape->any_null ? INDEX_NULL_MASK : 0) |
			((mask & HEAP_HASVARWIDTH) ? INDEX_VAR_MASK : 0);
	}
	tuple->t_tid = row->place;
}

/* The first value of a tuple without NULLs, behind the bytes that an item has of it. */
static inline const char *
first_value(const index_keys *keys, IndexTuple tuple)
{
	const char *value = (const char *) (tuple + 1);

	return (keys->keys[0].kind == 0 ? VARDATA_ANY(value) : value) + INDEX_ITEM_BYTES - 1;
}

static void
write_entry(index_maker *maker, const index_row *row, const tuple_shape *shape, Size rest_bytes)
{
	index_entry *entry = (index_entry *) (maker->block + maker->block_used);
	IndexTuple	tuple = index_entry_tuple(entry);

	*entry = (index_entry) {rest_bytes, shape->tuple_bytes, row->is_dead, false};
	for (int i = 0; i < maker->keys->num_keys; i++)
		entry->has_null |= row->nulls[i];
	write_tuple(maker->keys, row, shape, tuple);
	if (shape->has_rest)
		entry->rest_at = first_value(maker->keys, tuple) - (char *) tuple;
	else
		memcpy((char *) tuple + shape->tuple_bytes, maker->string + maker->keys->rest_begin, rest_bytes);
}

index_made
index_make(index_maker *maker, const index_row *row, mgpu_u128 *item)
{
	const index_keys *keys = maker->keys;
	tuple_shape shape;
	uint64		code;
	Size		length;
	Size		rest_bytes;

	if (row->made == NULL && any_toasted(keys, row))
		return INDEX_TOASTED;
	shape = measure(keys, row);
	/* PostgreSQL's function raises the error */
	if (shape.tuple_bytes > INDEX_SIZE_MASK)
		return INDEX_TOASTED;
	if (index_keys_space(keys, row->plain, row->nulls) + sizeof(code) > maker->string_space)
		return INDEX_NO_SPACE;
	memset(maker->string, 0, sizeof(code));
	length = index_keys_bytes(keys, row->plain, row->nulls, maker->string);
	if (length == 0 || length > UINT32_MAX / 2)
		return INDEX_MALFORMED;
	rest_bytes = length > keys->rest_begin ? length - keys->rest_begin : 0;
	maker->needed = MAXALIGN(sizeof(index_entry) + shape.tuple_bytes + (shape.has_rest ? 0 : rest_bytes));
	if (maker->block_used + maker->needed > maker->block_bytes)
		return INDEX_NO_ROOM;
	write_entry(maker, row, &shape, rest_bytes);
	memcpy(&code, maker->string, sizeof(code));
	*item = index_string_item(pg_ntoh64(code), shape.tuple_bytes, maker->block_number, maker->block_used);
	maker->block_used += maker->needed;
	return INDEX_MADE;
}
