/*
 * present_values.c
 *		The values of an array whose keys, in another one, are not NULL.
 *
 * Where all values have keys an executor moves them as they are.  NULL keys have no
 * place in a job, so their values are left out while the others are read, and go to
 * their own end of the result, in the order they have.  Positions of all elements,
 * by which both could be gathered, were rejected: they take more memory than narrow
 * values do, and more time with all.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "null_map.h"
#include "present_values.h"

/* Values read at a time. */
#define BLOCK_ITEMS (64 * 1024)

static void
start(present_values *reader)
{
	reader->begin = 0;
	reader->end = 0;
	reader->next = 0;
	reader->null_next = reader->null_dest;
}

void
present_values_open(present_values *reader, array_source *vals, const bits8 *key_bitmap,
					int width, void *null_dest)
{
	reader->vals = vals;
	reader->key_bitmap = key_bitmap;
	reader->width = width;
	reader->null_dest = null_dest;
	/* array_source_read wants four bytes in front */
	reader->block = (char *) palloc0(MAXIMUM_ALIGNOF + BLOCK_ITEMS * width) + MAXIMUM_ALIGNOF;
	start(reader);
}

static void
read_block(present_values *reader)
{
	int64		num_items = Min(BLOCK_ITEMS, reader->vals->num_items - reader->next);

	reader->begin = reader->next;
	reader->end = reader->next + num_items;
	array_source_read(reader->vals, (Size) reader->begin * reader->width, (Size) num_items * reader->width,
					  reader->block);
	CHECK_FOR_INTERRUPTS();
}

#define DEFINE_SPLIT(width) \
static char * \
split_##width(present_values *reader, char *dest, const char *dest_end, int64 end) \
{ \
	const bits8 *bitmap = reader->key_bitmap; \
	int64		i = reader->next; \
	for (; i < end && dest < dest_end; i++) \
	{ \
		const char *value = reader->block + (i - reader->begin) * width; \
		if (null_bitmap_present(bitmap, i)) \
		{ \
			memcpy(dest, value, width); \
			dest += width; \
		} \
		else \
		{ \
			memcpy(reader->null_next, value, width); \
			reader->null_next += width; \
		} \
	} \
	reader->next = i; \
	return dest; \
}

DEFINE_SPLIT(1)
DEFINE_SPLIT(2)
DEFINE_SPLIT(4)
DEFINE_SPLIT(8)
DEFINE_SPLIT(16)

/* Values of the block to where they belong, until there is no room for one with a key. */
static char *
split(present_values *reader, char *dest, const char *dest_end)
{
	switch (reader->width)
	{
		case 1:
			return split_1(reader, dest, dest_end, reader->end);
		case 2:
			return split_2(reader, dest, dest_end, reader->end);
		case 4:
			return split_4(reader, dest, dest_end, reader->end);
		case 8:
			return split_8(reader, dest, dest_end, reader->end);
		default:
			Assert(reader->width == 16);
			return split_16(reader, dest, dest_end, reader->end);
	}
}

void
present_values_read(void *context, Size offset, Size bytes, void *dest)
{
	present_values *reader = context;
	char	   *next = dest;
	const char *end = next + bytes;

	if (offset == 0)
		start(reader);
	while (next < end)
	{
		if (reader->next == reader->end)
			read_block(reader);
		next = split(reader, next, end);
	}
}

void
present_values_close(present_values *reader)
{
	char		none[16];

	/* whatever has a key has been read already */
	while (reader->next < reader->vals->num_items)
	{
		if (reader->next == reader->end)
			read_block(reader);
		(void) split(reader, none, none + 1);
	}
	pfree(reader->block - MAXIMUM_ALIGNOF);
}
