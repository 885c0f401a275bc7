/*
 * sort_runs.h
 *		Sorted rows in temporary files: runs, which are merged as the rows are read.
 */
#ifndef MGPU_BATCH_SORT_RUNS_H
#define MGPU_BATCH_SORT_RUNS_H

#include "batch/chunk.h"
#include "batch/row_compare.h"

typedef struct sort_runs sort_runs;

/* How many runs are merged at a time, at least two, unless single rows take much of the memory. */
extern int	sort_runs_at_once(void);

/* In a context of its own below context, for rows with the columns of like.  *order lives as long. */
extern sort_runs *sort_runs_create(MemoryContext context, const row_compare *order, const chunk *like);

/* Write all rows of a chunk, whose numbers are given in order, as a run.  Equal rows come in the order of their runs. */
extern void sort_runs_add(sort_runs *runs, const chunk *rows, const uint32 *numbers);

/* Between runs: merge some if later ones need the memory.  Frees the chunk's rows before. */
extern void sort_runs_make_room(sort_runs *runs, chunk *rows);

/* After the last run, and to read all rows once more. */
extern void sort_runs_start(sort_runs *runs);

/* The next row of the chunk that is returned, which both are valid until the next call.  NULL: there are no more. */
extern const chunk *sort_runs_next(sort_runs *runs, uint64 *row);

/* Close all files. */
extern void sort_runs_free(sort_runs *runs);

/* For EXPLAIN: runs that were added, most bytes of the files, and of memory. */
extern int64 sort_runs_count(const sort_runs *runs);
extern int64 sort_runs_disk_bytes(const sort_runs *runs);
extern Size sort_runs_bytes(const sort_runs *runs);

#endif							/* MGPU_BATCH_SORT_RUNS_H */
