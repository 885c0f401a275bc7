/*
 * element_cursor.c
 *		Moves forward through an array in memory, by one element or by many.
 *
 * Fixed-width elements without NULLs are found by multiplication.  With NULLs, the bitmap's bits
 * between two stops are counted.  Elements of variable width are walked one by one.  Callers only
 * move forward and walk each element once, so no table of offsets is needed.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "array/element_cursor.h"
#include "array/null_map.h"

/* Elements walked between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

void
element_cursor_start(element_cursor *cursor, const array_source *source, const element_type *type)
{
	Assert(source->array != NULL);
	cursor->source = source;
	cursor->type = type;
	cursor->position = 0;
	cursor->offset = 0;
}

static void
walk(element_cursor *cursor, int64 position)
{
	const array_source *source = cursor->source;
	const element_type *type = cursor->type;
	const char *data = array_source_data(source);

	for (; cursor->position < position; cursor->position++)
	{
		if (null_bitmap_present(source->null_bitmap, cursor->position))
		{
			if (cursor->offset >= source->data_bytes)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg("array elements run past the end of the array")));
			cursor->offset = att_addlength_pointer(cursor->offset, type->typlen, data + cursor->offset);
			cursor->offset = att_align_nominal(cursor->offset, type->typalign);
		}
		if (cursor->position % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

void
element_cursor_seek(element_cursor *cursor, int64 position)
{
	Assert(position >= cursor->position && position <= cursor->source->num_items);
	if (cursor->type->stride == 0)
		walk(cursor, position);
	else if (cursor->source->null_bitmap == NULL)
		cursor->offset = (Size) position * cursor->type->stride;
	else
		cursor->offset += (Size) null_bitmap_count(cursor->source->null_bitmap, cursor->position, position) *
			cursor->type->stride;
	cursor->position = position;
}

Datum
element_cursor_datum(const element_cursor *cursor)
{
	return fetch_att(array_source_data(cursor->source) + cursor->offset,
					 cursor->type->typbyval, cursor->type->typlen);
}
