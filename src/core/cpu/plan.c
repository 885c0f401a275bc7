/*
 * plan.c
 *		Chooses a run's strategy and its number of threads.
 */
#include "core/cpu/cpu_run.h"

/* Whether the tile-based mergesort takes a job: keys alone, and pairs with records of 8 bytes. */
static bool
is_for_tiles(const mgpu_job *job)
{
	return (job->algorithm == MGPU_ALGORITHM_MERGE || job->algorithm == MGPU_ALGORITHM_LOCALITY) &&
		(job->op == MGPU_OP_SORT || job->key_width <= 4);
}

const mgpu_strategy *
mgpu_plan_strategy(const mgpu_job *job, int num_threads)
{
	switch (job->op)
	{
		case MGPU_OP_MERGE:
		case MGPU_OP_MERGE_PAIRS:
			return &mgpu_strategy_lists;
		case MGPU_OP_REMOVE:
			return &mgpu_strategy_remove;
		case MGPU_OP_INSERT:
			return &mgpu_strategy_insert;
		case MGPU_OP_ODD_EVEN_SORT:
			return &mgpu_strategy_odd_even;
		default:
			if (is_for_tiles(job))
				return &mgpu_strategy_tiles;
			return job->num_segments > 0 ? &mgpu_strategy_segments : mgpu_array_strategy(job, num_threads);
	}
}

int
mgpu_plan_threads(const mgpu_job *job, int num_threads)
{
	if (num_threads <= 1 || mgpu_job_moved_bytes(job) < mgpu_cpu_tunables.threads_min_bytes)
		return 1;
	return num_threads < MGPU_MAX_CPU_THREADS ? num_threads : MGPU_MAX_CPU_THREADS;
}
