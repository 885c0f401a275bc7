/*
 * wire.h
 *		Rows of a chunk as bytes: in aggregates' states, in what workers send to a
 *		plan node, in temporary files.
 *
 *	 num_rows, num_columns | of each column: bytes of its values, whether it has nulls |
 *	 of each column: values, then nulls, a bit a row
 *
 * Numbers are uint32.  Values of fixed width are all there, cells as the chunk has
 * them; those of variable width that are not NULL, as elements of an array.
 */
#ifndef MGPU_WIRE_H
#define MGPU_WIRE_H

#include "lib/stringinfo.h"

#include "columns/chunk.h"

/* Some rows of a chunk, with its first columns. */
typedef struct chunk_slice
{
	const chunk *rows;
	int			num_columns;
	uint64		first;			/* row i of the slice is first + i … */
	const uint32 *numbers;		/* … or, unless this is NULL, first + numbers[i] */
	uint32		num_rows;
} chunk_slice;

/* A message to append to: a bytea whose length is set by message_end. */
extern void message_start(StringInfo message);
extern bytea *message_end(StringInfo message);

/* ereport(ERROR) where a message becomes larger than a value may be. */
extern void message_append(StringInfo message, const void *bytes, Size num_bytes);
extern void message_append_rows(StringInfo message, const chunk_slice *slice);

/*
 * Append rows that were written, their first num_columns columns; others are the
 * caller's to fill.  Returns how many bytes they took.  Nothing in these is
 * trusted; 0: they are not as they should be, and the chunk has rows without sense.
 */
extern Size chunk_read(chunk *rows, int num_columns, const char *bytes, Size num_bytes);

#endif							/* MGPU_WIRE_H */
