/*
 * run_group.h
 *		Has a GPU read pages, and group their rows or put them in order.
 */
#ifndef MGPU_RUN_RUN_GROUP_H
#define MGPU_RUN_RUN_GROUP_H

#include "core/group_spec.h"

#include "run/run.h"

/*
 * Write a batch of pages (core/group_spec.h) of at most so many bytes, and return how many pages it has; 0: there are no
 * more.  A batch that was written to the same memory before has been read.
 */
typedef uint32 (*group_fill_fn) (void *context, char *batch, Size bytes);

typedef struct group_request
{
	mgpu_group_spec spec;
	uint64		expected_rows;
	const char *function;		/* the node's name, for mgpu_last_run() */
	uint64		most_bytes;		/* that outputs may have, with the next for each group or row */
	uint64		group_bytes;
	group_fill_fn fill;
	void	   *fill_context;

	const char *no_gpu;			/* out, if no GPU ran it: why, a string that lives until the next run */

	/* Out, in memory of the current context. */
	uint64		num_pages;		/* that were sent */
	mgpu_group_result result;
	mgpu_group_record record;
	uint64	   *records;		/* or, with a limit, the rows' marks: 16 bits each */
	char	   *values[MGPU_GROUP_MAX_VALUES];	/* of each sort; with a limit, of each column */
} group_request;

/* Whether a GPU could run such a job. */
extern bool run_may_use_gpu(void);

/* Why no GPU can, though the build and mgpu.executor want one to; else NULL. */
extern const char *run_lack_of_service(void);

/* Whether one would run there that reads so many rows. */
extern bool run_would_use_gpu(double num_rows);

/*
 * Run the job if settings and prediction choose the GPU.  False: they do not, or the GPU failed and mgpu.gpu_failure
 * allows to go on without.
 */
extern bool run_group(group_request *request);

/* What drive.c does for such a job: feed pages, and tell where outputs go once their sizes are known. */
extern mgpu_status run_group_feed(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error);
extern mgpu_status run_group_bind(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error);

#endif							/* MGPU_RUN_RUN_GROUP_H */
