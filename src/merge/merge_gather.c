/*
 * merge_gather.c
 *		Combines the elements of two arrays, keeping each array's own order.
 *
 * Merges use it for any mix of widths and NULLs.  A merge never changes the order within an
 * array.  So both arrays are read from front to back, and one bool for each element says which
 * array comes next.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "compat.h"

#include "array/null_map.h"
#include "merge/merge_gather.h"

/* Elements moved between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

/* How far one of the arrays has been read. */
typedef struct side_reader
{
	const uint8 *bitmap;
	const char *next;
	const char *end;
	int64		position;
} side_reader;

/* Where the elements go. */
typedef struct gather_target
{
	char	   *next;
	uint8	   *bitmap;			/* NULL: all have values */
} gather_target;

/* Bytes that the present elements take. */
static Size
present_bytes(const array_source *source, const element_type *type)
{
	Size		bytes = (Size) (source->num_items - source->num_nulls) * type->stride;

	if (type->stride == 0)
		return source->data_bytes;
	array_source_require(source, bytes);
	return bytes;
}

void
merge_shape(array_shape *shape, const array_source *a, const array_source *b,
			const element_type *type, bool nulls_first)
{
	shape->element_type = a->element_type;
	shape->lower_bound = 1;
	shape->num_items = a->num_items + b->num_items;
	shape->num_nulls = a->num_nulls + b->num_nulls;
	shape->nulls_first = nulls_first;
	shape->data_bytes = present_bytes(a, type) + present_bytes(b, type);
}

static side_reader
open_side(array_source *source)
{
	array_source_load(source);
	return (side_reader) {source->null_bitmap, array_source_data(source), array_source_data(source) + source->data_bytes, 0};
}

/* Bytes of the next element, with its padding. */
static inline Size
next_bytes(const side_reader *side, const element_type *type)
{
	Size		bytes = type->stride;

	if (bytes == 0 && side->next < side->end)
		bytes = att_align_nominal(att_addlength_pointer(0, type->typlen, side->next), type->typalign);
	if (side->next >= side->end || bytes > (Size) (side->end - side->next))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("array elements run past the end of the array")));
	return bytes;
}

static pg_attribute_always_inline char *
interleave(char *dest, side_reader *sides, int width, const bool *from_b, int64 num_items)
{
	const char *next[2] = {sides[0].next, sides[1].next};

	for (int64 i = 0; i < num_items; i++)
	{
		memcpy(dest, next[from_b[i]], width);
		dest += width;
		next[from_b[i]] += width;
	}
	sides[0].next = next[0];
	sides[1].next = next[1];
	return dest;
}

/* Fixed-width elements without NULLs.  The compiler makes one loop for each common width. */
static char *
gather_fixed(char *dest, side_reader *sides, int width, const bool *from_b, int64 num_items)
{
	switch (width)
	{
		case 1:
			return interleave(dest, sides, 1, from_b, num_items);
		case 2:
			return interleave(dest, sides, 2, from_b, num_items);
		case 4:
			return interleave(dest, sides, 4, from_b, num_items);
		case 8:
			return interleave(dest, sides, 8, from_b, num_items);
		case 16:
			return interleave(dest, sides, 16, from_b, num_items);
		default:
			return interleave(dest, sides, width, from_b, num_items);
	}
}

static void
gather_any(gather_target *to, side_reader *sides, const element_type *type, const bool *from_b, int64 begin, int64 end)
{
	char	   *dest = to->next;
	uint8	   *bitmap = to->bitmap;

	for (int64 i = begin; i < end; i++)
	{
		side_reader *side = &sides[from_b[i]];
		Size		bytes;

		if (!null_bitmap_present(side->bitmap, side->position++))
			continue;
		bytes = next_bytes(side, type);
		memcpy(dest, side->next, bytes);
		dest += bytes;
		side->next += bytes;
		if (bitmap)
			bitmap[i / 8] |= 1 << (i % 8);
	}
	to->next = dest;
}

void
merge_gather(ArrayType *result, array_source *a, array_source *b, const element_type *type, const bool *sides)
{
	int64		num_items = a->num_items + b->num_items;
	gather_target to = {ARR_DATA_PTR(result), ARR_NULLBITMAP(result)};
	side_reader readers[2] = {open_side(a), open_side(b)};

	if (to.bitmap)
		memset(to.bitmap, 0, (num_items + 7) / 8);
	for (int64 begin = 0; begin < num_items; begin += STEP_ITEMS)
	{
		int64		end = Min(num_items, begin + STEP_ITEMS);

		if (to.bitmap == NULL && type->stride > 0)
			to.next = gather_fixed(to.next, readers, type->stride, sides + begin, end - begin);
		else
			gather_any(&to, readers, type, sides, begin, end);
		CHECK_FOR_INTERRUPTS();
	}
	SET_VARSIZE(result, to.next - (char *) result);
}
