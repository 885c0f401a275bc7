/*
 * run_table.h
 *		Has a GPU read pages, and group their rows or put them in order.
 */
#ifndef MGPU_RUN_RUN_TABLE_H
#define MGPU_RUN_RUN_TABLE_H

#include "storage/buffile.h"

#include "core/group_spec.h"
#include "run/run_job.h"

#define RUN_GROUP_ASKS PG_UINT32_MAX

/*
 * Write a batch of pages (core/group_spec.h) of at most so many bytes, and return how many pages it has; 0: there are no
 * more.  A batch that was written to the same memory before has been read.  RUN_GROUP_ASKS: the memory has a question about kept
 * pages instead, and at the next call its answer.  Of a spec that takes rows: the bytes of the next batch of these.
 */
typedef uint32 (*group_fill_fn) (void *context, char *batch, Size bytes);

/* Make the builds of the next round, which the pages from the first on are to meet.  false: there is none. */
typedef bool (*group_round_fn) (void *context);

/* One of a job's outputs (core/group_spec.h): in memory, or in a temporary file.  Neither: it has no bytes. */
typedef struct device_output
{
	char	   *data;
	BufFile    *file;
	uint64		num_bytes;
} device_output;

typedef struct group_request
{
	mgpu_group_spec spec;
	const char *builds;			/* the memory of its builds, or NULL */
	struct mgpu_names *names;	/* of named columns, or NULL */
	uint64		expected_rows;
	bool		is_for_threads;	/* of this process, where no GPU runs it */
	bool		only_threads;	/* no GPU is to run it: it has rounds, is not for one, or one could not */
	uint64		memory_before_file;	/* from which on threads write rows to a temporary file; UINT64_MAX: none will be wanted */
	const char *function;		/* the node's name, for mgpu_last_run() */
	uint64		most_bytes;		/* that outputs may have in memory; of groups at hand, with the next for each */
	uint64		group_bytes;
	group_fill_fn fill;
	void	   *fill_context;
	group_round_fn next_round;	/* NULL: there is one round */
	void	   *round_context;

	uint64		num_shared_pages;	/* out, before the first batch: shared buffers that are read where they are, from the first on */
	bool		fails;			/* next_round has no builds for rows that are left, or fill has no rows */
	bool		keeps_pages;	/* out, before the first batch: questions about kept pages are answered */
	bool		is_beyond;		/* out: an executor gave up because of what it read */
	bool		by_threads;		/* out: threads of this process ran it */
	const char *no_gpu;			/* out: why no GPU ran it, static or in memory of the current context; NULL: one did */
	uint64		file_bytes;		/* out: of rows that they have written */

	/* Out, in memory of the current context. */
	run_record	run;			/* reported */
	uint64		num_pages;		/* that were sent */
	mgpu_group_result result;
	mgpu_group_record record;
	bool		in_files;		/* the outputs are, since they have more bytes */
	bool		is_bound;		/* they have their places */
	device_output outputs[MGPU_GROUP_OUTPUTS];	/* with a limit, the rows' marks */
} group_request;

/* Whether a GPU could run such a job. */
extern bool run_may_use_gpu(void);

/* Why no GPU can, though the build and mgpu.executor want one to; else NULL. */
extern const char *run_lack_of_service(void);

/* Whether one would run there that reads so many rows. */
extern bool run_would_use_gpu(double num_rows);

/* Threads for such a job where no GPU runs it, this one included: no more than PostgreSQL would have processes. */
extern int	run_table_threads(void);

/* Bytes that such a job may keep, or its builds: as PostgreSQL's processes may, though some of these may have no core of their own. */
extern double run_table_memory(void);

/*
 * Run the job on a GPU, if settings and prediction choose it, or by threads.  False: neither could, and mgpu.gpu_failure allows to go on
 * without.
 */
extern bool run_group(group_request *request);

/* Bytes of an output from offset on: where they are, or read to buffer. */
extern char *run_group_read(const device_output *output, uint64 offset, uint64 num_bytes, char *buffer);

/* Free outputs, also those of a job that failed. */
extern void run_group_forget(group_request *request);

/* Open the file of rows beyond threads' memory, to be closed by the caller.  -1: none is wanted. */
extern File run_group_bind_file(const group_request *request, mgpu_binding *binding);

/* What drive.c does for such a job: feed pages; tell where outputs go once their sizes are known, and take their pieces. */
extern mgpu_status run_group_feed(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error);
extern void run_group_take(group_request *request, const mgpu_executor *executor, mgpu_run *run);

#endif							/* MGPU_RUN_RUN_TABLE_H */
