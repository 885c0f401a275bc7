/*
 * engine/engine.cu
 *		The CUDA engine: its table, and the life of a run.
 *
 * A device has a stream for uploads and the encoding behind them, one for kernels and one for
 * downloads, which all runs share: copies of one run go on beside the kernels of another.  Kernels
 * wait on the device for the uploads in front of them; downloads are asked for when the kernels
 * have ended.  Streams of each run's own were rejected: they share the copy engines and
 * multiprocessors all the same, and sorts are fastest one at a time.
 *
 * Calls return at once, with three exceptions.  A launch of a large sort under `auto` waits for the
 * probe of its keys (mgpu_auto_sort), and so for kernels in front of it.  Polls of segmented sorts
 * and merges, once the kernels have ended, fetch a few words behind the downloads under way.  The
 * release of a run that never got to its end waits for what is left of it.
 */
#include <cstdlib>

#include "engine/run_group.h"

/* Jobs that have kernels.  The CPU runs the others. */
static bool
is_supported(const mgpu_job *job)
{
	return job->op != MGPU_OP_ODD_EVEN_SORT || job->key_width <= 8;
}

/* What every call on a run does first. */
static mgpu_status
enter(mgpu_engine_run *run, mgpu_error *err)
{
	return mgpu_cuda_enter(run->device->ordinal, &run->device, err);
}

/* -------------------------------------------------------------------- open */

static mgpu_status
check_options(const mgpu_exec_options *options, uint64_t needed_bytes, mgpu_error *err)
{
	if (options->inject_fault == MGPU_FAULT_HOST_MEMORY)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory (injected)");
	if (options->inject_fault == MGPU_FAULT_DEVICE_MEMORY)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "out of device memory (injected)");
	if (options->device_memory_limit != 0 && needed_bytes > options->device_memory_limit)
		return mgpu_fail(err, MGPU_DEVICE_MEMORY, "%llu bytes of device memory are needed and the limit is %llu",
						 (unsigned long long) needed_bytes, (unsigned long long) options->device_memory_limit);
	return MGPU_OK;
}

static cudaError_t
create_events(mgpu_engine_run *run)
{
	cudaError_t code = cudaEventCreateWithFlags(&run->uploaded, cudaEventDisableTiming);

	if (code == cudaSuccess)
		code = cudaEventCreateWithFlags(&run->decoded, cudaEventDisableTiming);
	if (code == cudaSuccess)
		code = cudaEventCreate(&run->kernels_begin);
	if (code == cudaSuccess)
		code = cudaEventCreate(&run->kernels_end);
	return code;
}

/* Device memory and events of a run whose layout and device are set.  What was had before a failure stays. */
static mgpu_status
equip(mgpu_engine_run *run, mgpu_error *err)
{
	void	   *arena;
	mgpu_status status;
	cudaError_t code;

	if (run->layout.total_bytes == 0)
		return MGPU_OK;
	status = mgpu_cuda_take_memory(run->device, run->layout.total_bytes, &arena, err);
	if (status != MGPU_OK)
		return status;
	run->arena = static_cast<char *>(arena);
	code = create_events(run);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "starting a run");
}

static cudaError_t
free_events(mgpu_engine_run *run)
{
	cudaEvent_t events[] = {run->uploaded, run->decoded, run->kernels_begin, run->kernels_end};
	cudaError_t code = cudaSuccess;

	for (cudaEvent_t event : events)
	{
		if (code == cudaSuccess && event != NULL)
			code = cudaEventDestroy(event);
	}
	return code;
}

/* Keys may still be encoded if nothing was launched, and a launch that failed halfway may have left kernels. */
static cudaError_t
drain(const mgpu_engine_run *run)
{
	cudaError_t code = cudaSuccess;

	if (!run->ended)
		code = cudaStreamSynchronize(run->device->copies[MGPU_UPLOAD].stream);
	if (code == cudaSuccess && run->group != NULL && !run->ended)
		code = cudaStreamSynchronize(run->device->decode_stream);
	if (code == cudaSuccess && run->launched && !run->ended)
		code = cudaStreamSynchronize(run->device->compute_stream);
	return code;
}

static void
engine_release(mgpu_engine_run *run)
{
	if (run->arena != NULL && enter(run, NULL) == MGPU_OK)
	{
		cudaError_t code = drain(run);

		if (code == cudaSuccess)
			code = mgpu_run_group_free(run);
		if (code == cudaSuccess)
			code = free_events(run);
		if (code == cudaSuccess)
			code = mgpu_cuda_give_memory(run->device, run->arena);
		/* a lost context frees nothing, and is noted here */
		if (code != cudaSuccess)
			(void) mgpu_cuda_error(NULL, code, "ending a run");
	}
	free(run->group);
	free(run);
}

static mgpu_status
engine_keep(int ordinal, uint64_t bytes, char **memory, mgpu_error *err)
{
	mgpu_cuda_device *device;
	void	   *taken = NULL;
	mgpu_status status = mgpu_cuda_enter(ordinal, &device, err);
	cudaError_t code;

	*memory = NULL;
	if (status != MGPU_OK)
		return status;
	/* beside the pool, which gives memory back */
	code = cudaMalloc(&taken, bytes);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "allocating device memory");
	*memory = static_cast<char *>(taken);
	return MGPU_OK;
}

static mgpu_status
engine_open(int ordinal, const mgpu_job *job, const mgpu_group_source *group, const mgpu_exec_options *options,
			mgpu_engine_run **run_out, mgpu_error *err)
{
	mgpu_cuda_layout layout;
	mgpu_cuda_device *device;
	mgpu_engine_run *run;
	mgpu_status status;

	*run_out = NULL;
	if ((status = mgpu_cuda_enter(ordinal, &device, err)) != MGPU_OK ||
		(status = mgpu_job_validate(job, err)) != MGPU_OK)
		return status;
	if (!is_supported(job))
		return mgpu_fail(err, MGPU_UNSUPPORTED, "this operation has no kernel for the GPU");
	mgpu_cuda_plan_layout(job, &layout);
	if ((status = check_options(options, layout.total_bytes, err)) != MGPU_OK)
		return status;
	run = static_cast<mgpu_engine_run *>(calloc(1, sizeof(mgpu_engine_run)));
	if (run == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
	run->job = *job;
	run->inject_fault = options->inject_fault;
	run->layout = layout;
	run->stats.algorithm = layout.algorithm;
	run->device = device;
	if ((status = equip(run, err)) != MGPU_OK ||
		(job->op == MGPU_OP_GROUP && (status = mgpu_run_group_open(run, group, options, err)) != MGPU_OK))
	{
		engine_release(run);
		return status;
	}
	*run_out = run;
	return MGPU_OK;
}

/* ------------------------------------------------------------------ copies */

/* Where an input goes in device memory. */
static uint64_t
input_offset(const mgpu_cuda_layout *layout, int input)
{
	switch (input)
	{
		case MGPU_CHANNEL_KEYS:
			return layout->stored_keys;
		case MGPU_CHANNEL_VALUES:
			return layout->values;
		case MGPU_CHANNEL_B_KEYS:
			return layout->b_keys;
		case MGPU_CHANNEL_B_VALUES:
			return layout->b_values;
		case MGPU_INPUT_POSITIONS:
			return layout->positions;
		default:
			return layout->segment_heads;
	}
}

static mgpu_status
check_room(const mgpu_copies *copies, mgpu_error *err)
{
	if (copies->num_sent - copies->num_landed < MGPU_MAX_COPIES)
		return MGPU_OK;
	return mgpu_fail(err, MGPU_BAD_JOB, "%d copies are under way already", MGPU_MAX_COPIES);
}

static mgpu_status
engine_upload(mgpu_engine_run *run, int input, const void *source, uint64_t bytes, mgpu_error *err)
{
	mgpu_copies *copies = &run->device->copies[MGPU_UPLOAD];
	mgpu_status status = enter(run, err);
	cudaError_t code;

	if (status == MGPU_OK)
		status = check_room(copies, err);
	if (status != MGPU_OK)
		return status;
	if (run->job.op == MGPU_OP_GROUP)
		return input == MGPU_CHANNEL_VALUES ? mgpu_run_group_upload_builds(run, source, bytes, err) :
			mgpu_run_group_upload(run, source, bytes, err);
	code = mgpu_copies_send(copies, run->arena + input_offset(&run->layout, input) + run->sent_bytes[input], source,
							bytes, &run->stats.upload_ms);
	if (code == cudaSuccess && input == MGPU_CHANNEL_KEYS)
	{
		code = mgpu_run_encode(run, run->sent_bytes[input] / run->job.key_width, bytes / run->job.key_width);
		if (code != cudaSuccess)
			mgpu_copies_retract(copies);
	}
	run->sent_bytes[input] += bytes;
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "uploading");
}

static mgpu_status
engine_download(mgpu_engine_run *run, mgpu_output output, uint64_t offset, void *target, uint64_t bytes,
				mgpu_error *err)
{
	mgpu_copies *copies = &run->device->copies[MGPU_DOWNLOAD];
	const mgpu_run_output *source = &run->outputs[output];
	mgpu_status status = enter(run, err);
	cudaError_t code;

	if (status == MGPU_OK)
		status = check_room(copies, err);
	if (status != MGPU_OK)
		return status;
	if (offset > source->bytes || bytes > source->bytes - offset)
		return mgpu_fail(err, MGPU_BAD_JOB, "%llu bytes from %llu on are not in an output of %llu",
						 (unsigned long long) bytes, (unsigned long long) offset, (unsigned long long) source->bytes);
	code = mgpu_copies_send(copies, target, source->d_items + offset, bytes, &run->stats.download_ms);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "downloading");
}

static mgpu_status
engine_landed(int ordinal, mgpu_direction direction, uint64_t *landed, mgpu_error *err)
{
	mgpu_cuda_device *device;
	mgpu_status status = mgpu_cuda_enter(ordinal, &device, err);
	cudaError_t code;

	if (status != MGPU_OK)
		return status;
	code = mgpu_copies_land(&device->copies[direction]);
	*landed = device->copies[direction].num_landed;
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "copying");
}

/* ----------------------------------------------------------------- kernels */

static mgpu_status
engine_launch(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_status status = enter(run, err);
	cudaError_t code;

	if (status != MGPU_OK || run->arena == NULL)
		return status;
	run->launched = true;
	code = mgpu_run_launch(run);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "starting the kernels");
}

extern "C" cudaError_t
mgpu_run_fetch(const mgpu_engine_run *run, void *target, uint64_t offset, uint64_t bytes)
{
	cudaStream_t stream = run->device->copies[MGPU_DOWNLOAD].stream;
	cudaError_t code = cudaMemcpyAsync(target, run->arena + offset, bytes, cudaMemcpyDeviceToHost, stream);

	return code != cudaSuccess ? code : cudaStreamSynchronize(stream);
}

static mgpu_status
engine_poll(mgpu_engine_run *run, mgpu_error *err)
{
	float		milliseconds = 0;
	mgpu_status status = enter(run, err);
	cudaError_t code;

	if (status != MGPU_OK || run->arena == NULL)
		return status;
	code = cudaEventQuery(run->kernels_end);
	if (code == cudaErrorNotReady)
	{
		(void) cudaGetLastError();
		return MGPU_PENDING;
	}
	if (code == cudaSuccess)
		code = cudaEventElapsedTime(&milliseconds, run->kernels_begin, run->kernels_end);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "running the kernels");
	run->ended = true;
	run->stats.kernel_ms += milliseconds;
	if (run->job.op == MGPU_OP_GROUP)
		return mgpu_run_group_advance(run, err);
	return mgpu_cuda_is_segmented(&run->job) ? mgpu_run_read_passes(run, err) : mgpu_run_check_order(run, err);
}

static void
engine_stats(const mgpu_engine_run *run, mgpu_run_stats *stats)
{
	int			num_threads = stats->num_threads;

	*stats = run->stats;
	stats->num_threads = num_threads;
}

extern "C" const mgpu_engine mgpu_cuda_engine = {
	mgpu_cuda_is_present,
	mgpu_cuda_num_devices,
	mgpu_cuda_start,
	mgpu_cuda_is_started,
	mgpu_cuda_check_process,
	mgpu_cuda_describe,
	mgpu_cuda_pin,
	engine_keep,
	engine_open,
	engine_upload,
	engine_launch,
	engine_poll,
	mgpu_run_group_result,
	engine_download,
	engine_landed,
	engine_stats,
	engine_release
};
