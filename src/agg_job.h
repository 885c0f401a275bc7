/*
 * agg_job.h
 *		A batch as a job.
 */
#ifndef MGPU_AGG_JOB_H
#define MGPU_AGG_JOB_H

#include "agg_batch.h"
#include "run/run.h"

/* All but inputs and outputs: segments are the groups that have rows with a key. */
extern void agg_job_describe(run_request *request, agg_batch *batch, mgpu_op op,
							 uint32 key_kind, uint32 key_width);

/* Record, for mgpu_last_run, a batch that was sorted without a job. */
extern void agg_job_note(agg_batch *batch, const char *algorithm, const char *reason);

/*
 * Whether a batch must be a job, however small.  A sorted plan has a batch a
 * group: under mgpu.executor = gpu its small groups are sorted at once all the
 * same, as a launch for each would take a thousand times as long.
 */
extern bool agg_job_is_forced(const agg_batch *batch);

#endif							/* MGPU_AGG_JOB_H */
