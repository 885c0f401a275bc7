/*
 * element_table.c
 *		Random access to the elements of two arrays laid end to end.
 *
 * The general gather behind merges, for any mix of widths and NULLs.  (The
 * gather of one array in array_result.c is the quicker special case that every
 * sort ends in.)
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "element_cursor.h"
#include "element_table.h"
#include "null_map.h"

/* Elements moved between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* One array with what it takes to find its elements. */
typedef struct element_table
{
	const array_source *source;
	int			stride;			/* 0: offsets is set */
	uint32	   *offsets;		/* num_items + 1; a NULL element has no bytes */
	null_map	map;			/* of fixed strides with NULLs */
	bool		has_map;
} element_table;

static void
open_table(element_table *table, const array_source *source, const element_type *type)
{
	table->source = source;
	table->stride = type->stride;
	table->offsets = NULL;
	table->has_map = type->stride > 0 && source->num_nulls > 0;
	if (table->has_map)
		null_map_build(&table->map, source->null_bitmap, source->num_items);
	if (type->stride == 0 && source->num_items > 0)
	{
		element_cursor cursor;

		table->offsets = palloc_extended((source->num_items + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
		element_cursor_start(&cursor, source, type);
		for (int64 i = 0; i <= source->num_items; i++)
		{
			element_cursor_seek(&cursor, i);
			table->offsets[i] = cursor.offset;
		}
	}
}

static void
close_table(element_table *table)
{
	if (table->has_map)
		null_map_free(&table->map);
	if (table->offsets)
		pfree(table->offsets);
}

/* Bytes of the element that is there, with its padding. */
static Size
locate(const element_table *table, int64 position, const char **element)
{
	const char *data = array_source_data(table->source);

	if (table->stride == 0)
	{
		*element = data + table->offsets[position];
		return table->offsets[position + 1] - table->offsets[position];
	}
	if (table->has_map)
		position = null_map_rank(&table->map, position);
	*element = data + (Size) position * table->stride;
	return table->stride;
}

/* An array of no elements may have no dimensions either. */
static Size
present_bytes(const array_source *source, const element_type *type)
{
	if (type->stride > 0)
		return (Size) (source->num_items - source->num_nulls) * type->stride;
	return source->data_bytes;
}

ArrayType *
element_table_gather(const array_source *a, const array_source *b, const element_type *type,
					 const uint32 *positions, int64 num_items)
{
	ArrayType  *result = array_result_create(a->element_type, 1, num_items,
											 a->num_nulls + b->num_nulls, false,
											 present_bytes(a, type) + present_bytes(b, type));
	char	   *dest = ARR_DATA_PTR(result);
	bits8	   *bitmap = ARR_NULLBITMAP(result);
	element_table tables[2];

	open_table(&tables[0], a, type);
	open_table(&tables[1], b, type);
	if (bitmap)
		memset(bitmap, 0, (num_items + 7) / 8);
	for (int64 i = 0; i < num_items; i++)
	{
		bool		from_b = positions[i] >= a->num_items;
		const element_table *table = &tables[from_b];
		int64		position = positions[i] - (from_b ? a->num_items : 0);

		if (null_bitmap_present(table->source->null_bitmap, position))
		{
			const char *element;
			Size		bytes = locate(table, position, &element);

			memcpy(dest, element, bytes);
			dest += bytes;
			if (bitmap)
				bitmap[i / 8] |= 1 << (i % 8);
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	SET_VARSIZE(result, dest - (char *) result);
	close_table(&tables[0]);
	close_table(&tables[1]);
	return result;
}
