/*
 * cpu_executor.c
 *		mgpu_cpu_executor: the table, input channels, the driver of phases.
 *
 * Streamed input passes through a small slot buffer that stays in cache: the
 * caller fills it, commit encodes keys into the place where the strategy wants
 * codes, and watches their order on the way.  So large memory is touched once,
 * by the pass that had to touch it anyway.  submit starts the threads; poll works
 * on the strategy's phases until its time is up.  Nothing else blocks.
 */
#include "cpu_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Room before the first item, for a reader's header; keeps the alignment. */
#define LEAD_BYTES 64

static mgpu_status
cpu_num_devices(int *count, mgpu_error *err)
{
	(void) err;
	*count = 0;
	return MGPU_OK;
}

static mgpu_status
cpu_describe(int ordinal, mgpu_device *device, mgpu_error *err)
{
	(void) device;
	return mgpu_fail(err, MGPU_NO_DEVICE, "the CPU executor has no device %d", ordinal);
}

static bool
cpu_is_warm(void)
{
	return true;
}

static const mgpu_strategy *
choose_strategy(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;

	if (job->algorithm == MGPU_ALGORITHM_MERGE)
		return &mgpu_strategy_merge;
	if (job->algorithm == MGPU_ALGORITHM_LOCALITY)
		return &mgpu_strategy_locality;
	if (job->algorithm == MGPU_ALGORITHM_RADIX)
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

static int
plan_threads(const mgpu_run *run)
{
	uint32_t	item_bytes = run->job.key_width;

	if (run->job.op == MGPU_OP_SORT_PAIRS)
		item_bytes += sizeof(uint32_t);
	if (run->options.num_threads <= 1 ||
		run->job.num_items * item_bytes < run->tuning.threads_min_bytes)
		return 1;
	return run->options.num_threads < MGPU_MAX_CPU_THREADS ? run->options.num_threads : MGPU_MAX_CPU_THREADS;
}

static void
init_run(mgpu_run *run, const mgpu_job *job, const mgpu_binding *binding,
		 const mgpu_exec_options *options)
{
	run->job = *job;
	run->binding = *binding;
	run->options = *options;
	run->tuning = mgpu_cpu_tunables;
	mgpu_codec_init(&run->codec, job->key_kind, job->key_width, job->descending);
	mgpu_order_watch_init(&run->order, job->op == MGPU_OP_SORT_PAIRS);
	run->num_threads = plan_threads(run);
	run->strategy = choose_strategy(run);
}

/* What open allocates for keys, beside the slot. */
static uint64_t
streamed_codes_bytes(const mgpu_run *run)
{
	return run->strategy->codes_in_result ? 0 : run->job.num_items * run->job.key_width;
}

/* An upper bound: channels are taken to be streamed, indices not to be wanted. */
static uint64_t
cpu_workspace_bytes(const mgpu_job *job, const mgpu_exec_options *options)
{
	mgpu_run	run = {0};
	mgpu_binding binding = {0};
	uint64_t	bytes;

	init_run(&run, job, &binding, options);
	bytes = 2 * run.tuning.slot_bytes + streamed_codes_bytes(&run) + run.strategy->scratch_bytes(&run);
	if (job->outputs & MGPU_OUT_VALUES)
		bytes += job->num_items * job->value_width;
	if (job->op == MGPU_OP_SORT_PAIRS && (job->outputs & MGPU_OUT_INDICES) == 0)
		bytes += job->num_items * sizeof(uint32_t);
	return bytes;
}

static mgpu_status
check_binding(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	if ((job->outputs & MGPU_OUT_KEYS) && binding->out_keys == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for keys");
	if ((job->outputs & MGPU_OUT_INDICES) && binding->out_indices == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for indices");
	if ((job->outputs & MGPU_OUT_VALUES) && binding->out_values == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "no memory bound for values");
	return MGPU_OK;
}

static bool
takes_input(const mgpu_run *run, mgpu_channel channel)
{
	if (channel == MGPU_CHANNEL_KEYS)
		return run->binding.in_keys == NULL;
	return channel == MGPU_CHANNEL_VALUES && (run->job.outputs & MGPU_OUT_VALUES) != 0 &&
		run->binding.in_values == NULL;
}

static bool
allocate_run(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	const mgpu_job *job = &run->job;
	uint64_t	codes_bytes = streamed_codes_bytes(run);

	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		if (takes_input(run, channel) &&
			!mgpu_buffer_allocate(&run->slot[channel], LEAD_BYTES + run->tuning.slot_bytes, status, err))
			return false;
	if (takes_input(run, MGPU_CHANNEL_KEYS) && codes_bytes > 0 &&
		!mgpu_buffer_allocate(&run->codes, codes_bytes, status, err))
		return false;
	if (takes_input(run, MGPU_CHANNEL_VALUES) &&
		!mgpu_buffer_allocate(&run->values, job->num_items * job->value_width, status, err))
		return false;
	if (job->op == MGPU_OP_SORT_PAIRS && (job->outputs & MGPU_OUT_INDICES) == 0 &&
		!mgpu_buffer_allocate(&run->own_indices, job->num_items * sizeof(uint32_t), status, err))
		return false;
	run->indices = run->own_indices.data ? run->own_indices.data : run->binding.out_indices;
	return true;
}

static void
cpu_cancel(mgpu_run *run)
{
	atomic_store(&run->cancelled, true);
	if (run->pool != NULL)
		mgpu_pool_cancel(run->pool);
}

static void
free_slots(mgpu_run *run)
{
	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		mgpu_buffer_free(&run->slot[channel]);
}

static void
cpu_release(mgpu_run *run)
{
	if (run == NULL)
		return;
	mgpu_pool_stop(run->pool);
	if (run->state != NULL)
		run->strategy->release(run);
	free_slots(run);
	mgpu_buffer_free(&run->codes);
	mgpu_buffer_free(&run->values);
	mgpu_buffer_free(&run->own_indices);
	free(run);
}

static mgpu_status
cpu_open(const mgpu_job *job, const mgpu_binding *binding,
		 const mgpu_exec_options *options, mgpu_run **run, mgpu_error *err)
{
	mgpu_status status = mgpu_job_validate(job, err);

	*run = NULL;
	if (status == MGPU_OK)
		status = check_binding(job, binding, err);
	if (status == MGPU_OK && (job->num_segments > 0 || (job->op != MGPU_OP_SORT && job->op != MGPU_OP_SORT_PAIRS)))
		status = mgpu_fail(err, MGPU_UNSUPPORTED, "the CPU executor has no operation %" PRIu32 " of this kind", job->op);
	if (status != MGPU_OK)
		return status;
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory (injected)");
	*run = calloc(1, sizeof(**run));
	if (*run == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a run");
	init_run(*run, job, binding, options);
	if (allocate_run(*run, &status, err))
		return MGPU_OK;
	cpu_release(*run);
	*run = NULL;
	return status;
}

static uint64_t
channel_width(const mgpu_run *run, mgpu_channel channel)
{
	return channel == MGPU_CHANNEL_KEYS ? run->job.key_width : run->job.value_width;
}

static bool
is_complete(const mgpu_run *run, mgpu_channel channel)
{
	return run->bytes_in[channel] == run->job.num_items * channel_width(run, channel);
}

static mgpu_status
cpu_input_slot(mgpu_run *run, mgpu_channel channel,
			   void **slot, uint64_t *slot_bytes, mgpu_error *err)
{
	uint64_t	width;
	uint64_t	missing;
	uint64_t	limit;

	if (run->submitted || !takes_input(run, channel) || is_complete(run, channel))
		return mgpu_fail(err, MGPU_BAD_JOB, "input channel %d takes no more input", (int) channel);
	width = channel_width(run, channel);
	missing = run->job.num_items * width - run->bytes_in[channel];
	limit = run->tuning.slot_bytes / width * width;
	*slot = (char *) run->slot[channel].data + LEAD_BYTES;
	*slot_bytes = missing < limit ? missing : limit;
	run->slot_bytes[channel] = *slot_bytes;
	return MGPU_OK;
}

/* Where codes of the stream go. */
static char *
stream_codes(const mgpu_run *run)
{
	return run->codes.data ? run->codes.data : run->binding.out_keys;
}

static mgpu_status
cpu_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	const char *slot;

	if (!takes_input(run, channel) || bytes > run->slot_bytes[channel] ||
		bytes % channel_width(run, channel) != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "commit of %" PRIu64 " bytes into a slot of %" PRIu64,
						 bytes, run->slot_bytes[channel]);
	if (bytes == 0)
		return MGPU_OK;
	slot = (const char *) run->slot[channel].data + LEAD_BYTES;
	if (channel == MGPU_CHANNEL_KEYS)
	{
		uint64_t	num_items = bytes / run->job.key_width;
		char	   *codes = stream_codes(run) + run->bytes_in[channel];

		mgpu_encode_items(&run->codec, slot, codes, num_items);
		mgpu_order_watch_codes(&run->order, codes, run->job.key_width, num_items);
	}
	else
		memcpy((char *) run->values.data + run->bytes_in[channel], slot, bytes);
	run->bytes_in[channel] += bytes;
	run->slot_bytes[channel] = 0;
	return MGPU_OK;
}

static void
bind_inputs(mgpu_run *run)
{
	if (takes_input(run, MGPU_CHANNEL_KEYS))
	{
		run->keys.data = stream_codes(run);
		mgpu_codec_init_identity(&run->keys.codec, run->job.key_width);
	}
	else
	{
		run->keys.data = run->binding.in_keys;
		run->keys.codec = run->codec;
	}
	run->in_values = run->binding.in_values;
	if (takes_input(run, MGPU_CHANNEL_VALUES))
		run->in_values = run->values.data;
}

static mgpu_status
cpu_submit(mgpu_run *run, mgpu_error *err)
{
	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		if (takes_input(run, channel) && !is_complete(run, channel))
			return mgpu_fail(err, MGPU_BAD_JOB, "input channel %d is not complete", (int) channel);
	if (run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "the run was submitted before");
	bind_inputs(run);
	free_slots(run);
	mgpu_vqsort_prepare();
	run->pool = mgpu_pool_start(run->num_threads);
	if (run->pool == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for threads");
	run->num_threads = mgpu_pool_size(run->pool);
	run->submitted = true;
	run->done = run->job.num_items == 0;
	return MGPU_OK;
}

void
mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks)
{
	run->phase_open = true;
	mgpu_pool_begin(run->pool, function, run, num_tasks);
}

/* Work until done, or until poll_ms have passed, which gives MGPU_PENDING. */
static mgpu_status
work(mgpu_run *run, double start_ms, mgpu_error *err)
{
	mgpu_status status = MGPU_OK;

	while (!run->done)
	{
		double		budget_ms = start_ms + (double) run->tuning.poll_ms - mgpu_now_ms();

		if (atomic_load(&run->cancelled))
			return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
		if (budget_ms <= 0)
			return MGPU_PENDING;
		if (run->phase_open)
			run->phase_open = !mgpu_pool_work(run->pool, budget_ms);
		else if (!run->strategy->advance(run, &status, err))
		{
			if (status != MGPU_OK)
				return status;
			run->done = true;
		}
	}
	return MGPU_OK;
}

static mgpu_status
cpu_poll(mgpu_run *run, mgpu_error *err)
{
	double		start_ms = mgpu_now_ms();
	mgpu_status status;

	if (!run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "poll before submit");
	status = work(run, start_ms, err);
	run->work_ms += mgpu_now_ms() - start_ms;
	return status;
}

static void
cpu_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	*stats = (mgpu_run_stats) {0};
	stats->algorithm = run->strategy->algorithm;
	stats->num_threads = run->num_threads;
	stats->kernel_ms = run->work_ms;
}

static void
cpu_trim(void)
{
}

const mgpu_executor mgpu_cpu_executor = {
	.name = "cpu",
	.num_devices = cpu_num_devices,
	.describe = cpu_describe,
	.is_warm = cpu_is_warm,
	.workspace_bytes = cpu_workspace_bytes,
	.open = cpu_open,
	.input_slot = cpu_input_slot,
	.input_commit = cpu_input_commit,
	.submit = cpu_submit,
	.poll = cpu_poll,
	.stats = cpu_stats,
	.cancel = cpu_cancel,
	.release = cpu_release,
	.trim = cpu_trim,
};
