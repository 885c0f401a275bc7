/*
 * group_pack.h
 *		Collected rows as bytes, on their way from a parallel worker to the leader.
 *
 * A pack is some rows, columns one after another:
 *
 *	 header | cells of each column | a byte a column: whether it has marks |
 *	 marks, a byte a row, of each column that has any
 *
 * Cells and marks are as group_rows.h has them.
 */
#ifndef MGPU_GROUP_PACK_H
#define MGPU_GROUP_PACK_H

#include "group_rows.h"

/*
 * About what a full pack takes: a quarter of the queue between two processes, so
 * that one is filled while another is read, mostly in the queue itself, and few
 * enough rows for a leader to read that has the workers' packs to receive too.
 */
#define GROUP_PACK_BYTES (16 * 1024)

typedef struct group_pack_header
{
	uint32		num_rows;
	uint32		num_columns;
} group_pack_header;

/* Rows of a full pack, where one has record_bytes: at most GROUP_PACK_BYTES. */
static inline uint32
group_pack_rows(Size record_bytes)
{
	return Max(GROUP_PACK_BYTES / record_bytes, 1);
}

/* All rows, in the current context. */
extern bytea *group_pack(const group_rows *rows);

/* Append a pack's rows.  Nothing in it is trusted: 22P03. */
extern void group_unpack(group_rows *rows, const bytea *pack);

#endif							/* MGPU_GROUP_PACK_H */
