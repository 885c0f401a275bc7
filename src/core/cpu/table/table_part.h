/*
 * table_part.h
 *		Of table runs: parts of rows that are grouped one by one, and the values of their groups.
 */
#ifndef MGPU_TABLE_PART_H
#define MGPU_TABLE_PART_H

#include "core/cpu/table/table_groups.h"

/* What a part is at.  Tasks do some work on a part, until all parts are done. */
typedef enum mgpu_part_step
{
	MGPU_PART_NEW,
	MGPU_PART_GROUPS,			/* rows are grouped */
	MGPU_PART_COUNTS,			/* values of a sort are counted, for each group ... */
	MGPU_PART_VALUES,			/* ... and moved behind those of the groups before ... */
	MGPU_PART_SORTS,			/* ... and sorted, group after group */
	MGPU_PART_DISTINCT,			/* or, of several columns, looked up */
	MGPU_PART_BOUNDS,			/* or, of more than may be in memory, counted, with the least and the greatest, ... */
	MGPU_PART_BUCKETS,			/* ... counted by ranges of values ... */
	MGPU_PART_RANGE,			/* ... some of which are moved ... */
	MGPU_PART_RANGE_SORTS,		/* ... and sorted, range after range */
	MGPU_PART_DONE
} mgpu_part_step;

/* Codes from `least` to `greatest` are cut into buckets of 2^shift codes each, the same for all groups of the part. */
typedef struct mgpu_table_ranges
{
	uint64_t	least;
	uint64_t	greatest;
	uint64_t	last;			/* of all values: what lies between is cut later */
	uint32_t	shift;
	uint32_t	num_buckets;	/* so many at most: a power of two */
	uint32_t	begin;			/* buckets whose values are moved and sorted, or about to be */
	uint32_t	end;
	uint64_t   *ranks;			/* of each group, for each bucket and one more: its values before that */
	uint64_t   *places;			/* of each group, for each bucket: where its next value goes, if it is moved */
	uint64_t	most_values;	/* that are moved at a time */
	uint64_t	bytes;			/* of ranks and places */
} mgpu_table_ranges;

/* Where a bucket's values go that are not moved. */
#define MGPU_TABLE_NOWHERE UINT64_MAX

static inline uint64_t *
mgpu_table_ranks(const mgpu_table_ranges *ranges, uint64_t group)
{
	return ranges->ranks + group * (ranges->num_buckets + 1);
}

/* Groups of a part, and the values of sorts, as codes that ascend. */
typedef struct mgpu_table_part
{
	mgpu_table_groups groups;
	uint64_t   *values[MGPU_GROUP_MAX_SORTS];
	uint64_t	num_values[MGPU_GROUP_MAX_SORTS];	/* that come back */

	/* progress */
	mgpu_part_step step;
	uint64_t	bytes;			/* that were counted */
	uint64_t	value_bytes;	/* of values that are there, ... */
	uint64_t	sort_bytes;		/* ... of which this sort's */
	uint64_t	num_kept;		/* its rows */
	uint64_t	num_left;		/* rows or values that this task may still work on */
	const struct mgpu_table_batch *batch;	/* the next */
	uint64_t	num_rows;		/* before it, of this part */
	uint32_t   *numbers;		/* groups of rows in order, if there are sorts, and memory for them */
	uint32_t	sort;
	uint64_t   *ends;			/* of each group's values: one behind them */
	uint64_t   *scratch;		/* for the largest group */
	uint64_t	group;			/* the next */
	uint64_t	num_sorted;		/* values of groups before it */
	uint32_t	large;			/* sorts that have groups which are left to all threads: a bit each */
	mgpu_table_ranges ranges;
	bool		in_file;		/* the records of groups are, from this byte on */
	uint64_t	file_begin;
	mgpu_table_groups different;	/* values of several columns, with their groups' numbers: of these hashes, ... */
	mgpu_table_keys value_keys;
	uint64_t	first_hash;
	uint64_t	last_hash;
	uint64_t	most_different;	/* ... so many at most */
} mgpu_table_part;

/* A group's values that all threads sort together. */
typedef struct mgpu_table_large
{
	struct mgpu_table_large *next;
	uint64_t   *values;
	uint64_t	num_values;
	uint32_t	sort;
	uint64_t   *words;
	_Atomic uint64_t num_different;
} mgpu_table_large;

#endif							/* MGPU_TABLE_PART_H */
