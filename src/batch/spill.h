/*
 * spill.h
 *		Partitions of rows to group, in temporary files.
 *
 * All rows of a group are in the same partition, so partitions are grouped one after
 * another.  A partition that is still too large is split again, unless the hashes of all its
 * rows are the same.
 */
#ifndef MGPU_SPILL_H
#define MGPU_SPILL_H

#include "storage/buffile.h"

#include "batch/chunk.h"

/* The spill closes the files of waiting partitions; the caller closes that of one from spill_next. */
typedef struct partition
{
	BufFile    *file;
	uint64		num_rows;
	int			level;			/* number of splits that led to it, at least 1 */
	bool		one_group;		/* all rows have the same hash: it cannot be split */
	uint64		first_hash;
} partition;

/* The files' buffers take at most this part of the limit, unless that is less than four files. */
#define SPILL_BUFFER_PART 4

/* Hash the keys of num_rows rows.  Another seed gives other hashes. */
typedef void (*spill_hash) (const void *keys, const chunk *rows, uint64 first, uint32 num_rows, uint64 seed,
							uint64 *hashes);

/* A spill without partitions is zero except for context, hash and keys. */
typedef struct spill
{
	MemoryContext context;		/* owned by the spill */
	spill_hash	hash;
	const void *keys;
	List	   *waiting;		/* complete partitions */
	int			num_open;		/* size of open; 0: no partition is being written */
	partition **open;			/* an entry is NULL until its first row */
	int			open_level;

	/* for EXPLAIN */
	int64		num_partitions; /* partitions and bytes written since it was closed */
	int64		num_bytes;
} spill;

/*
 * Write rows to the open partitions and free them.  If no partition is open, open as
 * many as should bring each below limit_bytes when all rows together take num_bytes.
 */
extern void spill_rows(spill *to, chunk *rows, int level, Size num_bytes, Size limit_bytes);

/* Complete the open partitions: they now wait to be read. */
extern void spill_finish(spill *to);

/* The next partition, or NULL; allocated in the spill's context. */
extern partition *spill_next(spill *from);

/* Append one piece of a partition to rows.  The partition must have rows left. */
extern void spill_read(partition *from, chunk *rows);

/* Close all files, and forget what was written. */
extern void spill_close(spill *to);

#endif							/* MGPU_SPILL_H */
