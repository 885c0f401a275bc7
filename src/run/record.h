/*
 * record.h
 *		What mgpu_last_run() shows: the calls of a statement.
 *
 * run_last is one call.  A new call first adds it to the sums of the statement.  Parallel workers
 * keep records of their own, which end with them: PostgreSQL has no message that would carry them
 * to the leader without a part of the plan that is ours.
 */
#ifndef MGPU_RUN_RECORD_H
#define MGPU_RUN_RECORD_H

#include "core/status.h"

typedef struct run_record
{
	const char *function;		/* NULL: no call yet */
	const char *executor;		/* the executor's name, or one that stands for both */
	const char *algorithm;
	int64		num_items;
	int64		num_segments;	/* 0: not segmented */
	int64		num_bytes;
	double		marshal_ms;
	double		queue_ms;		/* on the GPU, until others had ended; not shown */
	double		upload_ms;
	double		kernel_ms;
	double		download_ms;
	int			num_threads;	/* on the CPU */
	char		reason[MGPU_ERROR_MESSAGE_BYTES];	/* why the GPU did not run it; "" if it did */
	bool		gpu_gave_up;	/* the GPU was tried and could not run it; not shown */
} run_record;

/* The current or last call: its last job that stands for the whole. */
extern run_record run_last;

/*
 * A call starts: a SQL function, or an aggregate's sort of a batch.  It may be inside a comparison
 * function of another call, so this is also where too deep a recursion ends with an error.
 */
extern void run_call_start(void);

/* Record a job of the current call that runs on the CPU, so far without times. */
extern void run_record_cpu(const char *function, const char *algorithm,
						 int64 num_items, int64 num_bytes, const char *reason);

/* Several calls.  Numbers are sums. */
typedef struct run_summary
{
	/*
	 * function and algorithm are of the call with the most items; reason is of the one with the
	 * most items of those on the CPU; num_threads is the largest number.
	 */
	run_record	sum;
	int64		num_calls;
	int64		most_items;
	int64		most_cpu_items;
} run_summary;

/*
 * The calls of the last statement that had any.  After this was read, the next call starts a new
 * summary, so that a procedural function can look at one call after another.
 */
extern run_summary run_read_summary(void);

#endif							/* MGPU_RUN_RECORD_H */
