/*
 * top_rows.h
 *		Keeps the first rows of each partition, as they come.
 */
#ifndef MGPU_EXEC_TOP_ROWS_H
#define MGPU_EXEC_TOP_ROWS_H

#include "batch/group_keys.h"
#include "batch/row_compare.h"
#include "query/query.h"

/* What to keep. */
typedef struct top_limit
{
	const group_keys *partitions;	/* no keys: all rows are one partition */
	const row_compare *order;
	top_rule	rule;
	uint32		count;			/* the last number that is wanted, at least 1 */
} top_limit;

typedef struct top_rows top_rows;

/* Make one in context, for rows with the columns of like.  *limit lives as long. */
extern top_rows *top_rows_create(MemoryContext context, const top_limit *limit, const chunk *like);

/* Forget all rows. */
extern void top_rows_start(top_rows *top);

/*
 * Look at more rows: find those that may be among the first, in the order in which they came, and then add these.  Until the
 * latter, only keys have to be there.
 */
extern const uint32 *top_rows_find(top_rows *top, const chunk *rows, uint64 *num_found);
extern void top_rows_add(top_rows *top, const chunk *rows);

/* Drop what is not wanted any more and return the rest, equal rows of a partition in the order in which they came. */
extern chunk *top_rows_kept(top_rows *top);

/* After the last row: the rows are returned by the next function, partition by partition, in order. */
extern void top_rows_finish(top_rows *top);

/* Return them again, from the first on. */
extern void top_rows_restart(top_rows *top);

/* The next row of the chunk that is returned, and its number.  NULL: there are no more. */
extern const chunk *top_rows_next(top_rows *top, uint64 *row, int64 *number);

/* Memory of all rows, partitions of the last rows. */
extern Size top_rows_bytes(const top_rows *top);
extern uint32 top_rows_partitions(const top_rows *top);

#endif							/* MGPU_EXEC_TOP_ROWS_H */
