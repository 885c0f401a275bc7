/*
 * executor/poll.cu
 *		What a run does between submit and its end, one piece a call.
 *
 * The driver's copies move at most MGPU_COPY_CHUNK_BYTES a call, large downloads take
 * MGPU_DOWNLOAD_POLL_MS, and kernels are enqueued at once and asked after later.  So the caller
 * sees its interrupts between two calls; one call that waits for the device was rejected.
 */
#include "core/cpu_threads.h"
#include "executor/run.h"

/* Move one chunk by the driver, which returns once it has read the source. */
static mgpu_status
upload_by_driver(mgpu_run *run, int number, uint64_t bytes, mgpu_error *err)
{
	mgpu_run_input *input = &run->inputs[number];
	double		begin_ms = mgpu_now_ms();
	cudaError_t code = cudaMemcpyAsync(input->d_items + input->sent_bytes, input->whole + input->sent_bytes, bytes,
									   cudaMemcpyHostToDevice, run->device->copy_stream);

	run->upload_ms += mgpu_now_ms() - begin_ms;
	if (code == cudaSuccess)
		code = mgpu_run_advance(run, number, bytes);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "uploading");
}

/* Send the next chunk of an input that the binding holds whole. */
static mgpu_status
poll_upload(mgpu_run *run, mgpu_error *err)
{
	for (int number = 0; number < MGPU_NUM_INPUTS; number++)
	{
		mgpu_run_input *input = &run->inputs[number];
		uint64_t	bytes = input->total_bytes - input->sent_bytes;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_COPY_CHUNK_BYTES)
			bytes = MGPU_COPY_CHUNK_BYTES;
		return upload_by_driver(run, number, bytes, err);
	}
	run->state = MGPU_RUN_LAUNCHING;
	return MGPU_OK;
}

/* Threads for the results start while the kernels run. */
static mgpu_status
poll_launch(mgpu_run *run, mgpu_error *err)
{
	cudaError_t code = mgpu_run_launch(run);
	uint64_t	result_bytes = 0;

	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "starting the kernels");
	for (int i = 0; i < run->num_outputs; i++)
		result_bytes += run->outputs[i].total_bytes;
	run->download = mgpu_download_start(result_bytes, run->num_threads);
	if (run->download != NULL)
		run->num_threads_used = mgpu_download_num_threads(run->download);
	run->state = MGPU_RUN_RUNNING;
	return MGPU_OK;
}

/* Poll for the end of the kernels as long as a sleep is not worth it. */
static mgpu_status
poll_kernels(mgpu_run *run, mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + MGPU_POLL_SPIN_US * 1e-3;
	float		milliseconds = 0;
	cudaError_t code;

	do
		code = cudaEventQuery(run->kernels_end);
	while (code == cudaErrorNotReady && mgpu_now_ms() < end_ms);
	if (code == cudaErrorNotReady)
	{
		(void) cudaGetLastError();
		return MGPU_PENDING;
	}
	if (code == cudaSuccess)
		code = cudaEventElapsedTime(&milliseconds, run->kernels_begin, run->kernels_end);
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "running the kernels");
	mgpu_ring_settle(&run->upload_ms);
	run->kernel_ms = milliseconds;
	run->state = MGPU_RUN_DOWNLOADING;
	if (mgpu_cuda_is_segmented(&run->job))
		return mgpu_run_read_passes(run, err);
	return mgpu_run_check_order(run, err);
}

/* Fetch one chunk by the driver, which returns when it has arrived. */
static mgpu_status
download_by_driver(mgpu_run *run, const mgpu_run_output *output, uint64_t bytes, mgpu_error *err)
{
	cudaError_t code = cudaMemcpyAsync(output->items + output->received_bytes, output->d_items + output->received_bytes,
									   bytes, cudaMemcpyDeviceToHost, run->device->compute_stream);

	if (code == cudaSuccess)
		code = cudaStreamSynchronize(run->device->compute_stream);
	return code == cudaSuccess ? MGPU_OK : mgpu_cuda_error(err, code, "downloading");
}

/* Download for a while with several threads. */
static mgpu_status
download_by_threads(mgpu_run *run, mgpu_error *err)
{
	double		begin_ms = mgpu_now_ms();
	mgpu_status status = mgpu_download_run(run->download, run->device, run->outputs, run->num_outputs, err);

	run->download_ms += mgpu_now_ms() - begin_ms;
	if (status == MGPU_OK || status == MGPU_HOST_MEMORY)
	{
		/* done, or no slots available: the driver copies the rest */
		mgpu_download_end(run->download);
		run->download = NULL;
		status = MGPU_OK;
	}
	return status;
}

/* Fetch the next chunk of the first output that is not complete. */
static mgpu_status
download_next_chunk(mgpu_run *run, mgpu_error *err)
{
	double		begin_ms = mgpu_now_ms();

	for (int i = 0; i < run->num_outputs; i++)
	{
		mgpu_run_output *output = &run->outputs[i];
		uint64_t	bytes = output->total_bytes - output->received_bytes;
		mgpu_status status;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_COPY_CHUNK_BYTES)
			bytes = MGPU_COPY_CHUNK_BYTES;
		status = download_by_driver(run, output, bytes, err);
		output->received_bytes += bytes;
		run->download_ms += mgpu_now_ms() - begin_ms;
		return status;
	}
	run->state = MGPU_RUN_DONE;
	return MGPU_OK;
}

/* Is it time to let the caller check its interrupts? */
static bool
is_chunk_due(const mgpu_run *run, uint64_t moved_bytes)
{
	return run->state != MGPU_RUN_DONE && moved_bytes >= MGPU_COPY_CHUNK_BYTES;
}

/* Bytes moved so far, in and out. */
static uint64_t
moved_bytes(const mgpu_run *run)
{
	uint64_t	bytes = 0;

	for (int number = 0; number < MGPU_NUM_INPUTS; number++)
		bytes += run->inputs[number].sent_bytes;
	for (int i = 0; i < run->num_outputs; i++)
		bytes += run->outputs[i].received_bytes;
	return bytes;
}

extern "C" mgpu_status
mgpu_run_poll(mgpu_run *run, mgpu_error *err)
{
	mgpu_status status = mgpu_run_enter(run, MGPU_RUN_UPLOADING, MGPU_RUN_DONE, "poll", err);
	uint64_t	begin_bytes = moved_bytes(run);

	while (status == MGPU_OK && run->state != MGPU_RUN_DONE)
	{
		if (run->state == MGPU_RUN_UPLOADING)
			status = poll_upload(run, err);
		else if (run->state == MGPU_RUN_LAUNCHING)
			status = poll_launch(run, err);
		else if (run->state == MGPU_RUN_RUNNING)
			status = poll_kernels(run, err);
		else if (run->download != NULL)
			status = download_by_threads(run, err);
		else
			status = download_next_chunk(run, err);
		if (status == MGPU_OK && is_chunk_due(run, moved_bytes(run) - begin_bytes))
			status = MGPU_PENDING;
	}
	if (status != MGPU_OK && status != MGPU_PENDING && !run->cancelled)
		run->state = MGPU_RUN_FAILED;
	return status;
}
