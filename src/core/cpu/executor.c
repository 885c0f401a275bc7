/*
 * executor.c
 *		mgpu_cpu_executor: the table of functions, the choice of a strategy, and the driver of phases.
 *
 * submit starts the threads, unless the run is short; if the strategy takes keys
 * while they arrive, the first slot of keys does.  poll works on the strategy's
 * phases until its time is up.  Nothing else blocks but input_slot, which may wait
 * for a free slot of the ring (input.c).
 */
#include "core/cpu/input.h"
#include "core/planner.h"
#include "core/unsigned_sort.h"

/* ---- how a job is done */

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

/* Whether the tile-based mergesort takes a job: keys alone, and pairs with records of 8 bytes. */
static bool
is_for_tiles(const mgpu_job *job)
{
	return (job->algorithm == MGPU_ALGORITHM_MERGE || job->algorithm == MGPU_ALGORITHM_LOCALITY) &&
		(job->op == MGPU_OP_SORT || job->key_width <= 4);
}

static const mgpu_strategy *
plan_strategy(const mgpu_job *job, int num_threads)
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

static int
plan_threads(const mgpu_job *job, int num_threads)
{
	if (num_threads <= 1 || mgpu_job_moved_bytes(job) < mgpu_cpu_tunables.threads_min_bytes)
		return 1;
	return num_threads < MGPU_MAX_CPU_THREADS ? num_threads : MGPU_MAX_CPU_THREADS;
}

/* ---- the executor */

static mgpu_status
check_binding(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	if ((job->outputs & MGPU_OUT_KEYS) && binding->out_keys == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for keys");
	if ((job->outputs & MGPU_OUT_INDICES) && binding->out_indices == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for indices");
	if ((job->outputs & MGPU_OUT_VALUES) && binding->out_values == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for values");
	if (job->num_segments > 0 && binding->in_segment_heads == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for segment heads");
	if ((job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT) && job->num_b_items > 0 &&
		binding->in_positions == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for positions");
	return MGPU_OK;
}

static void
cpu_cancel(mgpu_run *run)
{
	atomic_store(&run->cancelled, true);
	if (run->pool != NULL)
		mgpu_pool_cancel(run->pool);
}

static void
cpu_release(mgpu_run *run)
{
	if (run == NULL)
		return;
	mgpu_pool_stop(run->pool);
	mgpu_run_free(run);
}

static mgpu_status
cpu_open(const mgpu_job *job, const mgpu_binding *binding,
		 const mgpu_exec_options *options, mgpu_run **run, mgpu_error *err)
{
	mgpu_status status = mgpu_job_validate(job, err);
	int			num_threads = plan_threads(job, options->num_threads);

	*run = NULL;
	if (status == MGPU_OK)
		status = check_binding(job, binding, err);
	if (status != MGPU_OK)
		return status;
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory (injected)");
	*run = mgpu_run_create(job, binding, options, plan_strategy(job, num_threads), num_threads);
	if (*run == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a run");
	if (mgpu_input_allocate(*run))
		return MGPU_OK;
	status = mgpu_run_status(*run, err);
	cpu_release(*run);
	*run = NULL;
	return status;
}

static mgpu_status
cpu_submit(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status;

	if (run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "the run was submitted before");
	if ((status = mgpu_input_bind(run, err)) != MGPU_OK)
		return status;
	if (!mgpu_plan_is_short(&run->job, run->num_threads) && !mgpu_start_threads(run))
		return mgpu_run_status(run, err);
	run->submitted = true;
	run->done = run->job.num_items + run->job.num_b_items == 0;
	return MGPU_OK;
}

/* All phases of a short run.  Without a pool, a phase ends as it begins. */
static mgpu_status
finish(mgpu_run *run, mgpu_error *err)
{
	while (!run->done)
	{
		if (atomic_load(&run->cancelled))
			return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
		run->done = !mgpu_run_next_phase(run);
	}
	return mgpu_run_status(run, err);
}

/* Work until done, or until poll_ms have passed (MGPU_PENDING). */
static mgpu_status
work(mgpu_run *run, double start_ms, mgpu_error *err)
{
	while (!run->done)
	{
		double		budget_ms = start_ms + (double) run->tuning.poll_ms - mgpu_now_ms();

		if (atomic_load(&run->cancelled))
			return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
		if (budget_ms <= 0)
			return MGPU_PENDING;
		if (run->phase_open)
			run->phase_open = !mgpu_pool_work(run->pool, budget_ms);
		else if (!mgpu_run_next_phase(run))
			run->done = true;
	}
	return mgpu_run_status(run, err);
}

static mgpu_status
cpu_poll(mgpu_run *run, mgpu_error *err)
{
	double		start_ms;
	mgpu_status status;

	if (!run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "poll before submit");
	if (run->pool == NULL)
		return finish(run, err);
	start_ms = mgpu_now_ms();
	status = work(run, start_ms, err);
	run->work_ms += mgpu_now_ms() - start_ms;
	return status;
}

static void
cpu_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	*stats = (mgpu_run_stats) {0};
	stats->algorithm = run->strategy->algorithm != MGPU_ALGORITHM_AUTO ? run->strategy->algorithm : run->job.algorithm;
	stats->num_threads = run->num_threads;
	stats->kernel_ms = run->work_ms;
	if (run->strategy->stats != NULL)
		run->strategy->stats(run, stats);
}

static bool
cpu_writes_early(const mgpu_run *run)
{
	return run->binding.in_keys == NULL && run->num_threads > 1 && mgpu_stream_uses_ring(run);
}

const mgpu_executor mgpu_cpu_executor = {
	.name = "cpu",
	.open = cpu_open,
	.input_slot = mgpu_input_slot,
	.input_commit = mgpu_input_commit,
	.submit = cpu_submit,
	.poll = cpu_poll,
	.stats = cpu_stats,
	.cancel = cpu_cancel,
	.release = cpu_release,
	.writes_early = cpu_writes_early,
};
