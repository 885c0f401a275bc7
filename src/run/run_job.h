/*
 * run_job.h
 *		Runs one job of a SQL call.
 */
#ifndef MGPU_RUN_RUN_JOB_H
#define MGPU_RUN_RUN_JOB_H

#include "core/executor.h"

#include "array/source.h"
#include "run/record.h"

struct group_request;

/*
 * A job, its input and its output.  The caller sets function, record and job.  For each input channel it
 * sets either the binding's in_ pointer (aligned memory) or the source to read.  It always sets
 * the binding's outputs.  If the algorithm is AUTO, mgpu.algorithm decides.  All of it must live
 * until run_job returns or throws.
 */
typedef struct run_request
{
	const char *function;		/* SQL name, static */
	run_record *record;			/* out: what ran */
	mgpu_job	job;
	mgpu_binding binding;
	array_source *sources[MGPU_NUM_CHANNELS];

	/*
	 * NULL: settings and plan choose the executor.  Otherwise the job runs on the CPU, for this
	 * reason.  Later jobs of a call whose GPU failed set it, so that they do not try the GPU
	 * again.
	 */
	const char *cpu_reason;

	/* One of many sorts of a query: a small one is sorted at once, even if mgpu.executor is gpu. */
	bool		is_one_of_many;

	/* merges: subscripts of the first keys of a and b, for error messages */
	int64		first_subscripts[2];

	struct group_request *group;	/* GROUP, else NULL (run_table.h) */
	mgpu_run_stats *stats;		/* out; NULL: not wanted */

	/*
	 * Out, segmented jobs of an executor: some floats had bits that codes lose (-0, unusual NaNs), and out_keys
	 * lacks them.  They cannot be restored, because each segment has its own run of such floats.
	 */
	bool		float_bits_lost;
} run_request;

/*
 * Start a request, whose job is for the caller to fill in.  Assigned in parts: to clear all of it, or to
 * copy a job that was just made, takes a tenth of the time in which ten numbers are sorted.
 */
static inline void
run_request_start(run_request *request, const char *function, run_record *record)
{
	request->function = function;
	request->record = record;
	request->job = (mgpu_job) {0};
	request->binding = (mgpu_binding) {0};
	for (int i = 0; i < MGPU_NUM_CHANNELS; i++)
		request->sources[i] = NULL;
	request->cpu_reason = NULL;
	request->is_one_of_many = false;
	request->first_subscripts[0] = request->first_subscripts[1] = 0;
	request->group = NULL;
	request->stats = NULL;
	request->float_bits_lost = false;
}

/*
 * Sort a few items at once.  Run other jobs on the executor that settings and plan choose.  If the
 * GPU fails and mgpu.gpu_failure allows it, the CPU runs the job.  Returns with complete outputs, in
 * which floats have their own bits (but see float_bits_lost).  Otherwise throws, with nothing left
 * running, and what was tried is reported.
 */
extern void run_job(run_request *request);

/* The executor of this server's GPUs: the service's, or this process's own. */
extern const mgpu_executor *run_gpu_executor(void);

/*
 * Whether run_job sorts these items at once, here in the session.  Then the keys of MGPU_OP_SORT may
 * be sorted in place: out_keys may be in_keys.
 */
extern bool run_sorts_now(const run_request *request);

/* Whether settings force even a small call through an executor. */
extern bool run_is_forced(int64 num_items, bool is_one_of_many);

/*
 * Why a call that gets no job did not run on the GPU: what rules the GPU out for any call, or else
 * this reason.
 */
extern const char *run_reason(const char *reason);

#endif							/* MGPU_RUN_RUN_JOB_H */
