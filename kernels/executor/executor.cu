/*
 * executor/executor.cu
 *		The CUDA executor: runs jobs on a device of this process.
 *
 * The executor's table and the life of a run: open, input, cancel, release.  What happens between
 * submit and the end is in poll.cu.  Data go up through the pinned ring while the caller reads the
 * next slice.  A helper thread that waits for the device was rejected: a PostgreSQL backend is one
 * thread, and polling costs nothing that it would not spend waiting.
 */
#include <cstdlib>
#include <cstring>

#include "executor/run.h"

/* A failed call leaves a run that can only be released. */
static mgpu_status
fail_run(mgpu_run *run, mgpu_error *err, cudaError_t code, const char *doing)
{
	run->state = MGPU_RUN_FAILED;
	return mgpu_cuda_error(err, code, doing);
}

extern "C" mgpu_status
mgpu_run_enter(mgpu_run *run, mgpu_run_state from, mgpu_run_state to, const char *call, mgpu_error *err)
{
	mgpu_status status = mgpu_cuda_check_process(err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	if (run->cancelled)
		return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
	if (run->state < from || run->state > to)
		return mgpu_fail(err, MGPU_BAD_JOB, "%s does not go with the run's state %d", call, (int) run->state);
	code = cudaSetDevice(run->device->ordinal);
	if (code != cudaSuccess)
		return fail_run(run, err, code, "selecting the device");
	return MGPU_OK;
}

/* ----------------------------------------------------------------- devices */

static mgpu_status
cuda_num_devices(int *count, mgpu_error *err)
{
	mgpu_status status = mgpu_cuda_check_process(err);

	*count = 0;
	return status != MGPU_OK ? status : mgpu_cuda_count_devices(count, err);
}

static mgpu_status
cuda_describe(int ordinal, mgpu_device *facts, mgpu_error *err)
{
	mgpu_cuda_device *device;
	mgpu_status status = mgpu_cuda_open_device(ordinal, &device, err);

	return status != MGPU_OK ? status : mgpu_cuda_describe(device, facts, err);
}

/* Jobs that have kernels.  The CPU runs the others. */
static bool
is_supported(const mgpu_job *job)
{
	return job->op != MGPU_OP_ODD_EVEN_SORT || job->key_width <= 8;
}

/* -------------------------------------------------------------------- open */

static mgpu_status
check_binding(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	bool		has_positions = job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT;

	if (job->num_segments > 0 && binding->in_segment_heads == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no segment heads");
	if (has_positions && job->num_b_items > 0 && binding->in_positions == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no positions");
	if (mgpu_cuda_result_items(job) == 0)
		return MGPU_OK;
	if ((job->outputs & MGPU_OUT_KEYS) != 0 && binding->out_keys == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for keys");
	if ((job->outputs & MGPU_OUT_INDICES) != 0 && binding->out_indices == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for indices");
	if ((job->outputs & MGPU_OUT_VALUES) != 0 && binding->out_values == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for values");
	return MGPU_OK;
}

static mgpu_status
check_faults(const mgpu_exec_options *options, mgpu_error *err)
{
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory (injected)");
	if (options->inject_fault == MGPU_FAULT_DEVICE_MEMORY)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "out of device memory (injected)");
	return MGPU_OK;
}

static mgpu_status
check_limit(uint64_t needed_bytes, uint64_t limit_bytes, mgpu_error *err)
{
	if (limit_bytes != 0 && needed_bytes > limit_bytes)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed and the limit is %llu",
						 (unsigned long long) needed_bytes, (unsigned long long) limit_bytes);
	return MGPU_OK;
}

static void
init_input(mgpu_run *run, int number, const void *whole, uint64_t num_items, uint32_t item_bytes, uint64_t offset)
{
	mgpu_run_input *input = &run->inputs[number];

	input->item_bytes = item_bytes;
	input->total_bytes = num_items * item_bytes;
	input->whole = static_cast<const char *>(whole);
	input->d_items = run->arena + offset;
	input->held_slot = -1;
}

/* An input that the job does not have has items of 0 bytes. */
static void
init_inputs(mgpu_run *run)
{
	const mgpu_job *job = &run->job;
	const mgpu_binding *binding = &run->binding;
	const mgpu_cuda_layout *layout = &run->layout;
	bool		merges = job->op == MGPU_OP_MERGE || job->op == MGPU_OP_MERGE_PAIRS;
	bool		removes = job->op == MGPU_OP_REMOVE;
	bool		inserts = job->op == MGPU_OP_INSERT;

	init_input(run, MGPU_CHANNEL_KEYS, binding->in_keys, job->num_items, job->key_width, layout->stored_keys);
	init_input(run, MGPU_CHANNEL_VALUES, binding->in_values, job->num_items, job->value_width, layout->values);
	init_input(run, MGPU_CHANNEL_B_KEYS, binding->in_b_keys, job->num_b_items, merges ? job->key_width : 0,
			   layout->b_keys);
	init_input(run, MGPU_CHANNEL_B_VALUES, binding->in_b_values, job->num_b_items,
			   merges || inserts ? job->value_width : 0, layout->b_values);
	init_input(run, MGPU_INPUT_POSITIONS, binding->in_positions, job->num_b_items,
			   removes || inserts ? sizeof(uint32_t) : 0, layout->positions);
	init_input(run, MGPU_INPUT_SEGMENT_HEADS, binding->in_segment_heads, job->num_segments, sizeof(uint32_t),
			   layout->segment_heads);
}

static cudaError_t
create_events(mgpu_run *run)
{
	cudaError_t code = cudaEventCreateWithFlags(&run->uploaded, cudaEventDisableTiming);

	if (code == cudaSuccess)
		code = cudaEventCreate(&run->kernels_begin);
	if (code == cudaSuccess)
		code = cudaEventCreate(&run->kernels_end);
	return code;
}

static void
destroy_events(mgpu_run *run)
{
	if (run->uploaded != NULL)
		(void) cudaEventDestroy(run->uploaded);
	if (run->kernels_begin != NULL)
		(void) cudaEventDestroy(run->kernels_begin);
	if (run->kernels_end != NULL)
		(void) cudaEventDestroy(run->kernels_end);
}

/* Device memory and events of a run whose job, layout and device are set. */
static mgpu_status
equip_run(mgpu_run *run, uint64_t limit_bytes, mgpu_error *err)
{
	void	   *arena = NULL;
	cudaError_t code;

	if (run->layout.total_bytes != 0)
	{
		mgpu_status status;

		run->arena_bytes = run->layout.total_bytes;
		status = mgpu_arena_take(run->device, limit_bytes, &arena, &run->arena_bytes, err);
		if (status != MGPU_OK)
			return status;
		run->arena = static_cast<char *>(arena);
	}
	code = create_events(run);
	if (code == cudaSuccess)
		return MGPU_OK;
	destroy_events(run);
	if (arena != NULL)
		mgpu_arena_give(run->device, arena, run->arena_bytes, true);
	return mgpu_cuda_error(err, code, "starting a run");
}

static mgpu_status
cuda_open(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options,
		  mgpu_run **run_out, mgpu_error *err)
{
	mgpu_cuda_layout layout;
	mgpu_cuda_device *device;
	mgpu_run   *run;
	mgpu_status status;

	*run_out = NULL;
	if ((status = mgpu_job_validate(job, err)) != MGPU_OK)
		return status;
	if (!is_supported(job))
		return mgpu_fail(err, MGPU_UNSUPPORTED, "this operation has no kernel for the GPU");
	if ((status = check_binding(job, binding, err)) != MGPU_OK ||
		(status = mgpu_cuda_open_device(options->device, &device, err)) != MGPU_OK ||
		(status = check_faults(options, err)) != MGPU_OK)
		return status;
	mgpu_cuda_plan_layout(job, &layout);
	if ((status = check_limit(layout.total_bytes, options->device_memory_limit, err)) != MGPU_OK)
		return status;
	run = static_cast<mgpu_run *>(calloc(1, sizeof(mgpu_run)));
	if (run == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
	run->job = *job;
	run->binding = *binding;
	run->inject_fault = options->inject_fault;
	run->num_threads = options->num_threads;
	run->num_threads_used = 1;
	run->layout = layout;
	run->algorithm = layout.algorithm;
	run->device = device;
	status = equip_run(run, options->device_memory_limit, err);
	if (status != MGPU_OK)
	{
		free(run);
		return status;
	}
	init_inputs(run);
	*run_out = run;
	return MGPU_OK;
}

/* ------------------------------------------------------------------- input */

/* Is anything still to come through this channel's slots? */
static mgpu_status
check_channel(const mgpu_run *run, mgpu_channel channel, mgpu_error *err)
{
	const mgpu_run_input *input = &run->inputs[channel];

	if (input->item_bytes == 0 || input->whole != NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d takes no slots", (int) channel);
	if (input->sent_bytes == input->total_bytes)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has all its items", (int) channel);
	return MGPU_OK;
}

static mgpu_status
cuda_input_slot(mgpu_run *run, mgpu_channel channel, void **slot, uint64_t *slot_bytes, mgpu_error *err)
{
	mgpu_run_input *input = &run->inputs[channel];
	mgpu_status status = mgpu_run_enter(run, MGPU_RUN_FILLING, MGPU_RUN_FILLING, "input_slot", err);

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status == MGPU_OK && input->held_slot < 0)
	{
		status = mgpu_ring_hold(&input->held_slot, err);
		if (status != MGPU_OK)
		{
			input->held_slot = -1;
			run->state = MGPU_RUN_FAILED;
		}
	}
	if (status != MGPU_OK)
		return status;
	*slot = mgpu_ring_memory(input->held_slot);
	*slot_bytes = input->total_bytes - input->sent_bytes;
	if (*slot_bytes > MGPU_RING_SLOT_BYTES)
		*slot_bytes = MGPU_RING_SLOT_BYTES;
	return MGPU_OK;
}

extern "C" cudaError_t
mgpu_run_advance(mgpu_run *run, int number, uint64_t bytes)
{
	mgpu_run_input *input = &run->inputs[number];
	uint64_t	first_item = input->sent_bytes / input->item_bytes;

	input->sent_bytes += bytes;
	if (number != MGPU_CHANNEL_KEYS)
		return cudaSuccess;
	return mgpu_run_encode(run, first_item, bytes / input->item_bytes);
}

extern "C" cudaError_t
mgpu_run_send(mgpu_run *run, int number, int slot, uint64_t bytes)
{
	mgpu_run_input *input = &run->inputs[number];
	cudaError_t code = mgpu_ring_send(slot, run->device, input->d_items + input->sent_bytes, bytes, &run->upload_ms);

	return code != cudaSuccess ? code : mgpu_run_advance(run, number, bytes);
}

static mgpu_status
cuda_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	mgpu_run_input *input = &run->inputs[channel];
	mgpu_status status = mgpu_run_enter(run, MGPU_RUN_FILLING, MGPU_RUN_FILLING, "input_commit", err);
	int			slot = input->held_slot;
	cudaError_t code = cudaSuccess;

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status != MGPU_OK)
		return status;
	if (slot < 0 || bytes > MGPU_RING_SLOT_BYTES || bytes > input->total_bytes - input->sent_bytes ||
		bytes % input->item_bytes != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "%llu bytes do not go with the slot of channel %d",
						 (unsigned long long) bytes, (int) channel);
	input->held_slot = -1;
	if (bytes == 0)
		mgpu_ring_drop(slot);
	else
		code = mgpu_run_send(run, channel, slot, bytes);
	return code == cudaSuccess ? MGPU_OK : fail_run(run, err, code, "uploading");
}

static mgpu_status
cuda_submit(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status = mgpu_run_enter(run, MGPU_RUN_FILLING, MGPU_RUN_FILLING, "submit", err);

	if (status != MGPU_OK)
		return status;
	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		const mgpu_run_input *input = &run->inputs[channel];

		if (input->whole == NULL && input->sent_bytes != input->total_bytes)
			return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has %llu of %llu bytes", channel,
							 (unsigned long long) input->sent_bytes, (unsigned long long) input->total_bytes);
	}
	run->state = run->arena == NULL ? MGPU_RUN_DONE : MGPU_RUN_UPLOADING;
	return MGPU_OK;
}

/* --------------------------------------------------------- stats, the end */

static void
cuda_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->algorithm = run->algorithm;
	stats->num_threads = run->num_threads_used;
	stats->upload_ms = run->upload_ms;
	stats->kernel_ms = run->kernel_ms;
	stats->download_ms = run->download_ms;
	stats->num_tiles = run->num_tiles;
	stats->num_passes = run->num_passes;
	memcpy(stats->passes, run->passes, sizeof(stats->passes));
	stats->unsorted_input = run->unsorted_input;
	stats->unsorted_position = run->unsorted_position;
}

static void
cuda_cancel(mgpu_run *run)
{
	run->cancelled = true;
}

/* Wait for what is in flight and free what the run holds on the device. */
static void
dismantle_run(mgpu_run *run)
{
	cudaError_t code = cudaSetDevice(run->device->ordinal);

	if (code == cudaSuccess)
		code = cudaStreamSynchronize(run->device->copy_stream);
	if (code == cudaSuccess)
		code = cudaStreamSynchronize(run->device->compute_stream);
	if (code != cudaSuccess)
	{
		/* a lost context frees nothing, and its memory is not written again */
		(void) mgpu_cuda_error(NULL, code, "waiting for the device");
		if (mgpu_cuda_check_process(NULL) != MGPU_OK)
			return;
	}
	mgpu_ring_settle(&run->upload_ms);
	destroy_events(run);
	if (run->arena != NULL)
		mgpu_arena_give(run->device, run->arena, run->arena_bytes, run->state == MGPU_RUN_DONE && !run->cancelled);
}

static void
cuda_release(mgpu_run *run)
{
	if (run == NULL)
		return;
	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		if (run->inputs[channel].held_slot >= 0)
			mgpu_ring_drop(run->inputs[channel].held_slot);
	}
	mgpu_download_stop(run->download);
	if (mgpu_cuda_check_process(NULL) == MGPU_OK)
		dismantle_run(run);
	mgpu_download_end(run->download);
	free(run);
}

extern "C" const mgpu_executor mgpu_cuda_executor = {
	"gpu",
	cuda_num_devices,
	cuda_describe,
	mgpu_cuda_is_ready,
	cuda_open,
	cuda_input_slot,
	cuda_input_commit,
	cuda_submit,
	mgpu_run_poll,
	cuda_stats,
	cuda_cancel,
	cuda_release,
	NULL
};
