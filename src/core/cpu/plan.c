/*
 * plan.c
 *		Chooses a run's strategy and its number of threads.
 */
#include "core/cpu/run.h"

/* Whether the tile-based mergesort takes a job: keys alone, and pairs with records of 8 bytes. */
static bool
is_for_tiles(const mgpu_job *job)
{
	return (job->algorithm == MGPU_ALGORITHM_MERGE || job->algorithm == MGPU_ALGORITHM_LOCALITY) &&
		(job->op == MGPU_OP_SORT || job->key_width <= 4);
}

/* MGPU_ALGORITHM_RADIX gets the default strategy: a radix sort is no faster on the CPU. */
static const mgpu_strategy *
choose_sort(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;

	if (is_for_tiles(job))
		return job->algorithm == MGPU_ALGORITHM_MERGE ? &mgpu_strategy_merge : &mgpu_strategy_locality;
	if (job->num_segments > 0)
		return &mgpu_strategy_segments;
	if (job->op == MGPU_OP_SORT_PAIRS)
		return &mgpu_strategy_pairs;
	if (job->key_width <= 2)
		return job->key_width == 1 || job->num_items >= run->tuning.count_min_items ?
			&mgpu_strategy_count : &mgpu_strategy_direct;
	if (run->num_threads == 1 && job->num_items * job->key_width <= run->tuning.direct_bytes)
		return &mgpu_strategy_direct;
	return &mgpu_strategy_buckets;
}

static const mgpu_strategy *
choose_strategy(const mgpu_run *run)
{
	switch (run->job.op)
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
			return choose_sort(run);
	}
}

static int
plan_threads(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;
	uint64_t	num_items = job->num_items + job->num_b_items;
	uint32_t	item_bytes = job->key_width;

	if (mgpu_job_is_pairs(job))
		item_bytes += sizeof(uint32_t);
	else if (job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT)
		item_bytes = job->value_width;
	if (run->options.num_threads <= 1 || num_items * item_bytes < run->tuning.threads_min_bytes)
		return 1;
	return run->options.num_threads < MGPU_MAX_CPU_THREADS ? run->options.num_threads : MGPU_MAX_CPU_THREADS;
}

void
mgpu_run_plan(mgpu_run *run, const mgpu_job *job, const mgpu_binding *binding,
			  const mgpu_exec_options *options, int num_threads)
{
	run->job = *job;
	run->binding = *binding;
	run->options = *options;
	run->tuning = mgpu_cpu_tunables;
	mgpu_codec_init(&run->codec, job->key_kind, job->key_width, job->descending);
	mgpu_order_watch_init(&run->order, job->op == MGPU_OP_SORT_PAIRS);
	run->num_threads = num_threads > 0 ? num_threads : plan_threads(run);
	run->strategy = choose_strategy(run);
}
