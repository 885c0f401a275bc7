/*
 * group_spill.h
 *		Rows to group that do not fit in memory: partitions in temporary files.
 *
 * A partition has all rows of its groups, so partitions are grouped one after
 * another.  One that is still too large, and has more than one group, is split
 * again.
 */
#ifndef MGPU_GROUP_SPILL_H
#define MGPU_GROUP_SPILL_H

#include "storage/buffile.h"

#include "group_rows.h"

/* A finished partition.  The file is closed by the spill or by the one who reads it. */
typedef struct group_partition
{
	BufFile    *file;
	uint64		num_rows;
	int			level;			/* splits that led here, 1 at least */
	bool		one_group;		/* it cannot be split */
} group_partition;

/* Zeros, but for context, are a spill without partitions. */
typedef struct group_spill
{
	MemoryContext context;
	List	   *waiting;		/* of group_partition, finished */
	int			num_open;		/* being written */
	struct open_partition *open;
	int			open_level;

	/* for EXPLAIN */
	int64		num_partitions; /* ever written */
	int64		num_bytes;
} group_spill;

/*
 * Write rows to partitions and forget them.  Open ones are used; where there are
 * none, they are opened, so that num_rows rows would fit limit_bytes each.
 */
extern void group_spill_rows(group_spill *spill, group_rows *rows, int level, uint64 num_rows, Size limit_bytes);

/* No more rows for the open partitions: they wait for their turn. */
extern void group_spill_finish(group_spill *spill);

/* The next partition, or NULL; in the spill's context. */
extern group_partition *group_spill_next(group_spill *spill);

/* Append up to num_rows rows from a partition's file. */
extern void group_spill_read(group_partition *partition, group_rows *rows, uint64 num_rows);

/* Close all files. */
extern void group_spill_close(group_spill *spill);

#endif							/* MGPU_GROUP_SPILL_H */
