/*
 * piece.h
 *		Rows in temporary files: pieces, one after the other, each some rows as bytes (wire.h) behind their number.
 *
 * The files are PostgreSQL's: they count towards temp_file_limit, and they are deleted at the end of the query, also
 * after an error.
 */
#ifndef MGPU_PIECE_H
#define MGPU_PIECE_H

#include "storage/buffile.h"

#include "batch/wire.h"

/* Write rows where the file stands.  Returns the piece's bytes. */
extern Size piece_write(BufFile *file, const chunk_slice *slice);

/* Append the rows of the piece where the file stands.  Returns its bytes. */
extern Size piece_read(BufFile *file, chunk *rows);

/* Go to where a piece begins. */
extern void piece_seek(BufFile *file, int64 offset);

#endif							/* MGPU_PIECE_H */
