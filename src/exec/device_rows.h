/*
 * device_rows.h
 *		Rows of a table in order, or the first of each partition, from a GPU.
 */
#ifndef MGPU_EXEC_DEVICE_ROWS_H
#define MGPU_EXEC_DEVICE_ROWS_H

#include "exec/device_query.h"
#include "exec/node.h"
#include "exec/top_rows.h"
#include "scan/row_source.h"

/* What a GPU has returned.  All 0: nothing. */
typedef struct device_rows
{
	device_query *query;		/* NULL: nothing */
	row_source *source;			/* what it was asked of, ... */
	Snapshot	snapshot;		/* ... as this sees it */
	uint64		num_rows;		/* in order, the partitions one after the other */
	chunk	   *rows;			/* those at hand: all, or some of those that are in files, from the next on */
	uint64		first;
	char	   *cells[MGPU_GROUP_MAX_COLUMNS];	/* of the spec's columns, while rows are taken ... */
	int			owners[MGPU_GROUP_MAX_COLUMNS]; /* ... and which of the chunk's keeps them, or -1 */
	uint32	   *marks;			/* of each row at hand (core/group_spec.h) */
	uint64		place;			/* of the next row to return */
	int64		number_of_row;	/* of the row returned last: its place in its partition ... */
	int64		number;			/* ... and its number by the rule */
} device_rows;

/*
 * Have a GPU or threads read all rows of a node's child, and return those that it wants.  They come as the node's rows, which are
 * empty: some at a time, if they need more memory than there is.  A query with a count of 0 wants all rows.  False: it does not, or
 * cannot, and nothing was read.
 */
extern bool device_rows_read(device_rows *answer, const node_state *node);

/* The next row and its number by the rule.  NULL: there are no more. */
extern const chunk *device_rows_next(device_rows *answer, top_rule rule, uint64 *row, int64 *number);

/* Most memory of rows at hand. */
extern Size device_rows_bytes(const device_rows *answer);

/* Start again from the first row; forget all but the chunk, which is the caller's. */
extern void device_rows_rescan(device_rows *answer);
extern void device_rows_forget(device_rows *answer);

#endif							/* MGPU_EXEC_DEVICE_ROWS_H */
