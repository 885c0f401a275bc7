/*
 * planner.h
 *		Chooses how a job runs: pure functions without state.
 *
 * A job is sorted here and now, or runs on the CPU or on a GPU.
 *
 * Times on CPU and GPU are predicted from measured constants (planner.c).  A GPU
 * without a context costs its start-up once, and how many calls follow is unknown.
 * So the planner solves the ski rental problem: it starts the GPU when this call
 * alone gains the start-up time, or when this session's calls together would have
 * gained it by now.  That costs at most twice the optimum.
 */
#ifndef MGPU_PLANNER_H
#define MGPU_PLANNER_H

#include "job.h"

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
	double		cpu_sort_ns;	/* mgpu_unsigned_sort_ns(4) of this machine; 0: taken as the one of planner.c */
	bool		gpu_built;		/* the build has CUDA */
	bool		gpu_failed;		/* poisoned or absent earlier in this process */
	bool		gpu_warm;		/* context exists */
	double		gpu_others_ms;	/* what a job of others that it has to do takes, on average; 0: there are none */
	double		forgone_ms;		/* time the GPU would have saved in this session so far */
} mgpu_plan_input;

typedef struct mgpu_plan
{
	mgpu_executor_choice executor;	/* CPU or GPU */
	double		forgone_ms;		/* add to the session's sum if the CPU runs it */
	const char *reason;			/* why not the GPU, a static string; NULL if it is the GPU */
} mgpu_plan;

/*
 * Why no job can run on the GPU, a static string; NULL if one could.  What is asked for comes
 * first, then what no setting changes.
 */
const char *mgpu_gpu_ruled_out(mgpu_executor_choice requested, bool gpu_built, bool gpu_failed);

/*
 * Whether setting up a run would take longer than sorting: mgpu_cpu_run_now (cpu_sort.h) is for
 * such jobs.  segment_heads are those of the binding.
 */
bool		mgpu_plan_sorts_now(const mgpu_job *job, const uint32_t *segment_heads);

/* Whether a run of the CPU does it all by one call: making a pool and reading the clock would take longer. */
bool		mgpu_plan_is_short(const mgpu_job *job, int num_threads);

/* What a job takes on a warm GPU of its own. */
double		mgpu_predict_gpu_ms(const mgpu_job *job);

/*
 * How long a job keeps the device from others: the longest of its upload, its kernels and its
 * download, since those of different jobs overlap.
 */
double		mgpu_predict_gpu_load_ms(const mgpu_job *job);

/* Never fails: a request for the GPU is planned for the GPU. */
void		mgpu_plan_job(const mgpu_job *job, const mgpu_plan_input *input, mgpu_plan *plan);

#endif							/* MGPU_PLANNER_H */
