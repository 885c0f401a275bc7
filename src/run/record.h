/*
 * record.h
 *		What ran, and what mgpu_last_run() shows of it: the calls of a statement.
 *
 * Whoever runs something fills a record of its caller.  Only the caller that has the whole reports
 * it.  Parallel workers keep reports of their own, which end with them: PostgreSQL has no message
 * that would carry them to the leader without a part of the plan that is ours.
 */
#ifndef MGPU_RUN_RECORD_H
#define MGPU_RUN_RECORD_H

#include "core/status.h"

typedef struct run_record
{
	const char *function;		/* SQL name, static; NULL: nothing ran */
	const char *algorithm;		/* static; NULL: none has a name */
	bool		on_gpu;
	bool		gpu_gave_up;	/* a GPU was tried and could not run it; not shown */
	const char *reason;			/* why no GPU ran it: static, or in memory of the call; NULL: one did */
	int			num_threads;	/* on the CPU */
	int64		num_items;
	int64		num_segments;	/* 0: not segmented */
	int64		num_bytes;
	double		marshal_ms;
	double		queue_ms;		/* on the GPU, until others had ended; not shown */
	double		upload_ms;
	double		kernel_ms;
	double		download_ms;
} run_record;

static inline const char *
run_executor_name(bool on_gpu)
{
	return on_gpu ? "gpu" : "cpu";
}

/* Fill a record of what runs on one thread of the CPU, so far without times. */
extern void run_record_cpu(run_record *record, const char *function, const char *algorithm,
						   int64 num_items, int64 num_bytes, const char *reason);

/*
 * A call starts: a SQL function, or an aggregate's sort of a batch.  It may be inside a comparison
 * function of another call, so this is also where too deep a recursion ends with an error.
 */
extern void run_call_start(void);

/*
 * Tell mgpu_last_run() and the counts of all sessions what the current call runs.  A later report of
 * the same call takes the place of this one.  A record of nothing is not reported.
 */
extern void run_report(const run_record *record);

/* Several calls. */
typedef struct run_summary
{
	/* Numbers are sums, num_threads the largest.  function and algorithm are of the call with the most items. */
	run_record	sum;
	int64		num_calls;
	int64		num_gpu_calls;
	int64		most_items;
	int64		most_cpu_items;
	char		reason[MGPU_ERROR_MESSAGE_BYTES];	/* of the call with the most items of those on the CPU; "": none */
} run_summary;

/*
 * The calls of the last statement that had any.  After this was read, the next call starts a new
 * summary, so that a procedural function can look at one call after another.
 */
extern run_summary run_read_summary(void);

#endif							/* MGPU_RUN_RECORD_H */
