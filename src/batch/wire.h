/*
 * wire.h
 *		Rows of a chunk as bytes.
 *
 * The format is used in aggregate states, in messages of workers to a plan node, and in
 * temporary files:
 *
 *	 num_rows, num_columns | of each column: bytes of its values, whether it has nulls |
 *	 of each column: values, then nulls, one bit per row
 *
 * Numbers are uint32.  Values of fixed width are all written, as the cells of the
 * chunk, including those of NULLs.  Values of variable width are written as elements of
 * an array, without NULLs.
 */
#ifndef MGPU_WIRE_H
#define MGPU_WIRE_H

#include "lib/stringinfo.h"

#include "batch/chunk.h"

/* Some rows of a chunk, with the first num_columns columns. */
typedef struct chunk_slice
{
	const chunk *rows;
	int			num_columns;
	uint64		first;			/* row i of the slice is row first + i … */
	const uint32 *numbers;		/* … or, if this is not NULL, row first + numbers[i] */
	uint32		num_rows;
} chunk_slice;

/* A message is a bytea.  message_end sets its length. */
extern void message_start(StringInfo message);
extern bytea *message_end(StringInfo message);

/* Append to a message; ereport(ERROR) above the maximum size of a value. */
extern void message_append(StringInfo message, const void *bytes, Size num_bytes);
extern void message_append_rows(StringInfo message, const chunk_slice *slice);

/*
 * Append the rows of a message to the first num_columns columns of a chunk; the caller
 * fills the other columns.  Returns the bytes read.  The message is not trusted: if it
 * is invalid, the result is 0 and the chunk's content is undefined.
 */
extern Size chunk_read(chunk *rows, int num_columns, const char *bytes, Size num_bytes);

/*
 * Approximate size of a full pack: a quarter of the queue between two processes.  Then
 * a pack can be written while another is read, mostly within the queue.  It also limits
 * the rows that a leader reads itself before it receives workers' packs again.
 */
#define PACK_BYTES (16 * 1024)

/* Number of rows in a full pack if a row takes row_bytes: PACK_BYTES at most, but at least one row. */
static inline uint32
rows_of_pack(Size row_bytes)
{
	return Max(PACK_BYTES / Max(row_bytes, 1), 1);
}

#endif							/* MGPU_WIRE_H */
