/*
 * spill.h
 *		Rows to group that do not fit in memory: partitions in temporary files.
 *
 * The first column is the key, of 16 bytes at most.  A partition has all rows of its groups, so
 * partitions are grouped one after another.  One that is still too large, and has
 * more than one group, is split again.
 */
#ifndef MGPU_SPILL_H
#define MGPU_SPILL_H

#include "storage/buffile.h"

#include "columns/chunk.h"

/* The file is closed by the spill or by the one who reads it. */
typedef struct partition
{
	BufFile    *file;
	uint64		num_rows;
	int			level;			/* splits that led here, 1 at least */
	bool		one_group;		/* its keys' hashes are equal: it cannot be split */
	uint64		first_hash;
} partition;

/* Zeros, but for context, are a spill without partitions. */
typedef struct spill
{
	MemoryContext context;		/* of its own */
	List	   *waiting;		/* of partitions, finished */
	int			num_open;		/* being written */
	partition **open;			/* NULL: no row yet */
	int			open_level;

	/* for EXPLAIN */
	int64		num_partitions; /* ever written */
	int64		num_bytes;
} spill;

/*
 * Write rows to partitions and forget them.  Open ones are used; where there are
 * none, they are opened, so that num_rows rows would fit limit_bytes each.
 */
extern void spill_rows(spill *to, chunk *rows, int level, uint64 num_rows, Size limit_bytes);

/* No more rows for the open partitions: they wait for their turn. */
extern void spill_finish(spill *to);

/* The next partition, or NULL; in the spill's context. */
extern partition *spill_next(spill *from);

/* Append some rows of a partition that has any left. */
extern void spill_read(partition *from, chunk *rows);

/* Close all files. */
extern void spill_close(spill *to);

#endif							/* MGPU_SPILL_H */
