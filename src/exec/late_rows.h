/*
 * late_rows.h
 *		Columns of rows that a job has found, fetched from their tables by TID.
 */
#ifndef MGPU_EXEC_LATE_ROWS_H
#define MGPU_EXEC_LATE_ROWS_H

#include "utils/snapshot.h"

#include "batch/chunk.h"
#include "query/table_job.h"
#include "scan/row_source.h"

typedef struct late_rows
{
	const table_job *job;
	const row_source *source;	/* what it has read, ... */
	Snapshot	snapshot;		/* ... as this sees it */
	chunk	   *rows;			/* whose late columns are filled */
	void	   *context;		/* an argument of whoever knows the TIDs */
} late_rows;

/* The TID of one of the rows, which the job returned in a column of its spec.  false: there is no row, as on a side of an outer join. */
typedef bool (*late_tid) (void *context, int column, uint64 row, int64 *tid);

/* Fetch all columns that come by some TIDs of the job's, by their number (table_job). */
extern void late_rows_fetch(const late_rows *of, int late, late_tid tid_of);

#endif							/* MGPU_EXEC_LATE_ROWS_H */
