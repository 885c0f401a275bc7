/*
 * planner.h
 *		Which executor runs a job: a pure function with no state of its own.
 *
 * Times are predicted from measured constants (tuning data in planner.c) for
 * the CPU and the GPU.  A GPU whose context is not made yet costs its start-up
 * once, and nobody knows whether more calls follow, so the planner rents before
 * it buys: it goes to the GPU cold when this call alone gains the start-up, or
 * when the time that eligible calls of this session would have saved so far has
 * reached it.  That costs at most twice what a clairvoyant would pay.
 */
#ifndef MGPU_PLANNER_H
#define MGPU_PLANNER_H

#include "job.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mgpu_executor_choice
{
	MGPU_EXECUTOR_AUTO = 0,
	MGPU_EXECUTOR_CPU,
	MGPU_EXECUTOR_GPU
} mgpu_executor_choice;

typedef struct mgpu_plan_input
{
	mgpu_executor_choice requested; /* mgpu.executor */
	int64_t		gpu_min_items;	/* mgpu.gpu_min_items; -1 asks the model */
	int			num_threads;	/* CPU threads a large call may use */
	bool		gpu_built;		/* the build has CUDA */
	bool		gpu_failed;		/* poisoned or absent earlier in this process */
	bool		gpu_warm;		/* context exists */
	double		forgone_ms;		/* GPU gain passed up in this session so far */
} mgpu_plan_input;

typedef struct mgpu_plan
{
	mgpu_executor_choice executor;	/* CPU or GPU */
	double		cpu_ms;			/* predicted */
	double		gpu_ms;			/* predicted, warm */
	double		forgone_ms;		/* add to the session's sum if the CPU runs it */
	const char *reason;			/* why not the GPU; NULL when it is the GPU.  Static. */
} mgpu_plan;

/* Never fails: a request for the GPU is planned for the GPU. */
void		mgpu_plan_job(const mgpu_job *job, const mgpu_plan_input *input, mgpu_plan *plan);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_PLANNER_H */
