/*
 * run.h
 *		One job of one SQL call: plan, feed, submit, wait, clean up.
 */
#ifndef MGPU_RUN_RUN_H
#define MGPU_RUN_RUN_H

#include "core/executor.h"

#include "array/source.h"

/*
 * A job and where its data are.  The caller sets function and job, and then for
 * each input channel the binding's in_ pointer (properly aligned memory), or the
 * source that it is read from; the binding's outputs always.  A job whose
 * algorithm is AUTO gets that of mgpu.algorithm.  All of it must live until
 * run_job returns or throws.
 */
typedef struct run_request
{
	const char *function;		/* SQL name, static */
	mgpu_job	job;
	mgpu_binding binding;
	array_source *sources[MGPU_NUM_CHANNELS];

	/*
	 * NULL: executor as settings and plan choose; else the CPU, and why.  Further
	 * jobs of a call whose GPU has failed must not ask for it again.
	 */
	const char *cpu_reason;

	/* merges: subscripts of the first keys of a and b, for error messages */
	int64		first_subscripts[2];

	mgpu_run_stats stats;		/* out */

	/*
	 * Out, segmented jobs: out_keys has codes' floats, and some had bits of
	 * their own (-0, unusual NaNs), which one run a segment cannot restore.
	 */
	bool		float_bits_lost;
} run_request;

/*
 * Run it on the executor that settings and plan choose, on the CPU if the GPU
 * fails and mgpu.gpu_failure allows.  Returns with the outputs complete, floats
 * with their own bits (but see float_bits_lost); otherwise throws with nothing left running.
 */
extern void run_job(run_request *request);

/* Whether a call so small must still go through run_job (settings force it). */
extern bool run_is_forced(int64 num_items);

/* The same by settings other than mgpu.executor. */
extern bool run_is_probed(int64 num_items);

/* What mgpu_last_run() shows. */
typedef struct run_record
{
	const char *function;		/* NULL: no call yet */
	const char *executor;
	const char *algorithm;
	int64		num_items;
	int64		num_segments;	/* 0: not segmented */
	int64		num_bytes;
	double		marshal_ms;
	double		upload_ms;
	double		kernel_ms;
	double		download_ms;
	char		reason[MGPU_ERROR_MESSAGE_BYTES];	/* why not the GPU, "" if it was */
	bool		gpu_gave_up;	/* it was asked and could not; not shown */
} run_record;

extern run_record run_last;

/* Record a call that ran on the CPU without a job. */
extern void run_note_cpu(const char *function, const char *algorithm,
						 int64 num_items, int64 num_bytes, const char *reason);

#endif							/* MGPU_RUN_RUN_H */
