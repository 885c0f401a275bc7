/*
 * cpu_plan.c
 *		Which strategy a run takes, and with how many threads.
 */
#include "cpu_tiles.h"

bool
mgpu_needs_own_indices(const mgpu_job *job)
{
	return job->op == MGPU_OP_SORT_PAIRS && (job->outputs & MGPU_OUT_INDICES) == 0 &&
		job->value_width < sizeof(uint32_t);
}

/*
 * The requested algorithm, unless what it is sure to take beside input and
 * result is more than a run may have.
 */
static mgpu_algorithm
affordable_algorithm(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;
	bool		is_pairs = job->op == MGPU_OP_SORT_PAIRS;
	uint64_t	bytes = 0;

	if (job->algorithm == MGPU_ALGORITHM_RADIX && (is_pairs || run->binding.in_keys != NULL))
		bytes = mgpu_strategy_radix.scratch_bytes(run);
	else if (is_pairs && job->algorithm != MGPU_ALGORITHM_AUTO)
		bytes = job->num_items * mgpu_record_bytes(run);
	if (mgpu_needs_own_indices(job))
		bytes += job->num_items * sizeof(uint32_t);
	return bytes > run->tuning.scratch_bytes ? MGPU_ALGORITHM_AUTO : (mgpu_algorithm) job->algorithm;
}

static const mgpu_strategy *
choose_sort(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;
	mgpu_algorithm algorithm = affordable_algorithm(run);

	if (algorithm == MGPU_ALGORITHM_MERGE)
		return &mgpu_strategy_merge;
	if (algorithm == MGPU_ALGORITHM_LOCALITY)
		return &mgpu_strategy_locality;
	if (job->num_segments > 0)
		return &mgpu_strategy_segments;
	if (algorithm == MGPU_ALGORITHM_RADIX)
		return &mgpu_strategy_radix;
	if (job->op == MGPU_OP_SORT_PAIRS)
		return &mgpu_strategy_pairs;
	if (job->key_width <= 2)
		return job->key_width == 1 || job->num_items >= run->tuning.count_min_items ?
			&mgpu_strategy_count : &mgpu_strategy_direct;
	if (run->num_threads == 1 && job->num_items * job->key_width <= run->tuning.direct_bytes)
		return &mgpu_strategy_direct;
	return &mgpu_strategy_buckets;
}

const mgpu_strategy *
mgpu_plan_frugal(mgpu_run *run)
{
	run->job.algorithm = MGPU_ALGORITHM_AUTO;
	return choose_sort(run);
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
