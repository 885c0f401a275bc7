/*
 * run_merge.h
 *		Merges sorted runs of rows.
 */
#ifndef MGPU_BATCH_RUN_MERGE_H
#define MGPU_BATCH_RUN_MERGE_H

#include "batch/piece.h"
#include "batch/row_compare.h"

/* Rows in order: pieces, one after the other. */
typedef struct sorted_run
{
	BufFile    *file;
	int64		offset;			/* of the first piece */
	uint64		num_rows;
	Size		piece_bytes;	/* most memory that a piece takes */
} sorted_run;

/* Memory of a row in a piece, but for its values of variable width. */
extern Size run_merge_row_bytes(const chunk *like);

typedef struct run_merge run_merge;

/*
 * Begin to merge a list of sorted_run, in a context of its own below context.  Rows have the columns of like; of equal ones,
 * those of the first run come first.  *order lives as long.
 */
extern run_merge *run_merge_start(MemoryContext context, const row_compare *order, const chunk *like, const List *runs);

/* The next row of the chunk that is returned, which both are valid until the next call.  NULL: there are no more. */
extern const chunk *run_merge_next(run_merge *merge, uint64 *row);

extern void run_merge_end(run_merge *merge);

#endif							/* MGPU_BATCH_RUN_MERGE_H */
