/*
 * piece.c
 *		Rows in temporary files.
 */
#include "postgres.h"

#include "compat.h"
#include "batch/piece.h"

Size
piece_write(BufFile *file, const chunk_slice *slice)
{
	StringInfoData piece;
	uint32		num_bytes;

	message_start(&piece);
	message_append_rows(&piece, slice);
	num_bytes = piece.len - VARHDRSZ;
	BufFileWrite(file, &num_bytes, sizeof(num_bytes));
	BufFileWrite(file, piece.data + VARHDRSZ, num_bytes);
	pfree(piece.data);
	return sizeof(num_bytes) + num_bytes;
}

static void
read_bytes(BufFile *file, void *dest, Size bytes)
{
	if (BufFileRead(file, dest, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a temporary file of rows")));
}

Size
piece_read(BufFile *file, chunk *rows)
{
	uint32		num_bytes;
	char	   *bytes;

	read_bytes(file, &num_bytes, sizeof(num_bytes));
	bytes = palloc(num_bytes);
	read_bytes(file, bytes, num_bytes);
	if (chunk_read(rows, rows->num_columns, bytes, num_bytes) != num_bytes)
		elog(ERROR, "rows in a temporary file are not as they were written");
	pfree(bytes);
	return sizeof(num_bytes) + num_bytes;
}

void
piece_seek(BufFile *file, int64 offset)
{
	if (BufFileSeek(file, 0, (off_t) offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not position a temporary file of rows")));
}
