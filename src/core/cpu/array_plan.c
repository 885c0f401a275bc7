/*
 * array_plan.c
 *		Chooses the strategy of a run that sorts an array as a whole.
 */
#include "core/cpu/cpu_run.h"
#include "core/unsigned_sort.h"

/* Whether one thread sorts a job's keys by one call. */
static bool
is_direct(const mgpu_job *job)
{
	uint64_t	bytes = job->num_items * job->key_width;

	return bytes <= mgpu_cpu_tunables.radix_bytes ||
		(bytes <= mgpu_cpu_tunables.direct_bytes && !mgpu_radix_is_faster(job->key_width));
}

/* MGPU_ALGORITHM_RADIX gets the default strategy, which sorts by radix where that is faster. */
const mgpu_strategy *
mgpu_array_strategy(const mgpu_job *job, int num_threads)
{
	if (job->op == MGPU_OP_SORT_PAIRS)
		return &mgpu_strategy_pairs;
	if (job->key_width <= 2)
		return job->key_width == 1 || job->num_items >= mgpu_cpu_tunables.count_min_items ?
			&mgpu_strategy_count : &mgpu_strategy_direct;
	if (num_threads == 1 && is_direct(job))
		return &mgpu_strategy_direct;
	return &mgpu_strategy_buckets;
}
