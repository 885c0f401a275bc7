/*
 * array_plan.c
 *		Chooses the strategy of a run that sorts an array as a whole.
 */
#include "core/cpu/run.h"

/* MGPU_ALGORITHM_RADIX gets the default strategy: a radix sort is no faster on the CPU. */
const mgpu_strategy *
mgpu_array_strategy(const mgpu_job *job, int num_threads)
{
	if (job->op == MGPU_OP_SORT_PAIRS)
		return &mgpu_strategy_pairs;
	if (job->key_width <= 2)
		return job->key_width == 1 || job->num_items >= mgpu_cpu_tunables.count_min_items ?
			&mgpu_strategy_count : &mgpu_strategy_direct;
	if (num_threads == 1 && job->num_items * job->key_width <= mgpu_cpu_tunables.direct_bytes)
		return &mgpu_strategy_direct;
	return &mgpu_strategy_buckets;
}
