/*
 * engine/run_sort.cu
 *		The kernels of one run, in order.  Those of sorts: sort, gather, decode.
 *
 * Keys are encoded chunk by chunk behind their uploads, where the link is the bottleneck, so that
 * sorts see plain codes. 16-byte keys are sorted by two stable passes, low words first; the second
 * sorts the high words in the order of the first, and the two orders are composed.
 */
#include "engine/run_group.h"

extern "C" mgpu_codec
mgpu_run_codec(const mgpu_engine_run *run)
{
	mgpu_codec	codec = {run->job.key_kind, run->job.key_width, run->job.descending};

	return codec;
}

extern "C" cudaError_t
mgpu_run_encode(mgpu_engine_run *run, uint64_t first_item, uint64_t num_items)
{
	mgpu_codec	codec = mgpu_run_codec(run);
	cudaStream_t stream = run->device->copies[MGPU_UPLOAD].stream;
	uint32_t	width = codec.width;
	const char *stored = run->arena + run->layout.stored_keys + first_item * width;

	if (run->job.op == MGPU_OP_MERGE || run->job.op == MGPU_OP_MERGE_PAIRS)
		return cudaSuccess;
	if (width == 16)
		return mgpu_launch_split_bytes(stored, (uint64_t *) (run->arena + run->layout.high) + first_item,
									   (uint64_t *) (run->arena + run->layout.low) + first_item,
									   codec.descending, num_items, stream);
	if (mgpu_codec_is_identity(&codec))
		return cudaSuccess;
	return mgpu_launch_encode(&codec, stored, run->arena + run->layout.keys[0] + first_item * (width < 4 ? 4 : width),
							  num_items, stream);
}

extern "C" void
mgpu_run_add_output(mgpu_engine_run *run, mgpu_output output, const void *d_items, uint32_t item_bytes)
{
	run->outputs[output].d_items = static_cast<const char *>(d_items);
	run->outputs[output].bytes = mgpu_cuda_result_items(&run->job) * item_bytes;
}

extern "C" cudaError_t
mgpu_run_output_keys(mgpu_engine_run *run, void *const keys[2], int current)
{
	mgpu_codec	codec = mgpu_run_codec(run);
	void	   *stored = keys[codec.width < 4 ? current ^ 1 : current];
	cudaError_t code = cudaSuccess;

	if (!mgpu_codec_is_identity(&codec))
		code = mgpu_launch_decode(&codec, keys[current], stored, run->job.num_items, run->device->compute_stream);
	mgpu_run_add_output(run, MGPU_OUTPUT_KEYS, stored, codec.width);
	return code;
}

static mgpu_sort_request
make_request(const mgpu_engine_run *run)
{
	const mgpu_cuda_layout *layout = &run->layout;
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		request.keys[side] = run->arena + layout->keys[side];
		if (layout->indices[side] != MGPU_NO_OFFSET)
			request.indices[side] = (uint32_t *) (run->arena + layout->indices[side]);
	}
	request.key_bits = run->job.key_width == 16 ? 64 : run->job.key_width * 8;
	request.num_items = run->job.num_items;
	request.temp = run->arena + layout->temp;
	request.temp_bytes = layout->temp_bytes;
	request.stream = run->device->compute_stream;
	return request;
}

/* 16-byte keys are not probed: they are sorted in two halves, and usually random. */
static cudaError_t
sort(mgpu_engine_run *run, mgpu_sort_request *request)
{
	if (mgpu_cuda_is_segmented(&run->job))
		return mgpu_run_segmented_sort(run, request);
	if (run->job.algorithm == MGPU_ALGORITHM_AUTO && run->job.key_width != 16)
		return mgpu_auto_sort(run->layout.shape, request, &run->stats.algorithm);
	return mgpu_plain_sort(run->layout.shape, request, &run->stats.algorithm);
}

/* Keys of up to 8 bytes; *indices: their order, or NULL. */
static cudaError_t
sort_words(mgpu_engine_run *run, uint32_t **indices)
{
	mgpu_sort_request request = make_request(run);
	cudaError_t code = sort(run, &request);

	*indices = request.indices[request.current];
	if (code != cudaSuccess || (run->job.outputs & MGPU_OUT_KEYS) == 0)
		return code;
	return mgpu_run_output_keys(run, request.keys, request.current);
}

/* 16-byte keys; *indices: their order. */
static cudaError_t
sort_bytes(mgpu_engine_run *run, uint32_t **indices)
{
	mgpu_sort_request request = make_request(run);
	uint64_t   *high = (uint64_t *) (run->arena + run->layout.high);
	uint64_t   *low = (uint64_t *) (run->arena + run->layout.low);
	uint32_t   *first_indices = (uint32_t *) (run->arena + run->layout.first_indices);
	uint64_t	num_items = request.num_items;
	cudaStream_t stream = request.stream;
	cudaError_t code = cudaMemcpyAsync(request.keys[0], low, num_items * sizeof(*low), cudaMemcpyDeviceToDevice, stream);

	if (code == cudaSuccess)
		code = sort(run, &request);
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(first_indices, request.indices[request.current], num_items * sizeof(uint32_t),
							   cudaMemcpyDeviceToDevice, stream);
	request.current = 0;
	if (code == cudaSuccess)
		code = mgpu_launch_gather(high, first_indices, request.keys[0], sizeof(*high), num_items, stream);
	if (code == cudaSuccess)
		code = sort(run, &request);
	*indices = request.indices[request.current ^ 1];
	if (code == cudaSuccess)
		code = mgpu_launch_gather(first_indices, request.indices[request.current], *indices, sizeof(uint32_t),
								  num_items, stream);
	if (code != cudaSuccess || (run->job.outputs & MGPU_OUT_KEYS) == 0)
		return code;
	mgpu_run_add_output(run, MGPU_OUTPUT_KEYS, run->arena + run->layout.stored_keys, 16);
	return mgpu_launch_join_bytes(high, low, *indices, run->arena + run->layout.stored_keys, run->job.descending,
								  num_items, stream);
}

static cudaError_t
launch_sort(mgpu_engine_run *run)
{
	const mgpu_job *job = &run->job;
	uint32_t   *indices;
	cudaError_t code = job->key_width == 16 ? sort_bytes(run, &indices) : sort_words(run, &indices);

	if (code == cudaSuccess && (job->outputs & MGPU_OUT_INDICES) != 0)
		mgpu_run_add_output(run, MGPU_OUTPUT_INDICES, indices, sizeof(uint32_t));
	if (code == cudaSuccess && (job->outputs & MGPU_OUT_VALUES) != 0)
	{
		void	   *sorted_values = run->arena + run->layout.result_values;

		mgpu_run_add_output(run, MGPU_OUTPUT_VALUES, sorted_values, job->value_width);
		code = mgpu_launch_gather(run->arena + run->layout.values, indices, sorted_values, job->value_width,
								  job->num_items, run->device->compute_stream);
	}
	return code;
}

static cudaError_t
launch_kernels(mgpu_engine_run *run)
{
	switch (run->job.op)
	{
		case MGPU_OP_MERGE:
		case MGPU_OP_MERGE_PAIRS:
			return mgpu_run_merge(run);
		case MGPU_OP_REMOVE:
		case MGPU_OP_INSERT:
			return mgpu_run_bulk(run);
		case MGPU_OP_ODD_EVEN_SORT:
			return mgpu_run_odd_even_sort(run);
		case MGPU_OP_GROUP:
			return mgpu_run_group_launch(run);
		default:
			return launch_sort(run);
	}
}

extern "C" cudaError_t
mgpu_run_launch(mgpu_engine_run *run)
{
	mgpu_cuda_device *device = run->device;
	cudaError_t code = cudaEventRecord(run->uploaded, device->copies[MGPU_UPLOAD].stream);

	if (code == cudaSuccess)
		code = cudaStreamWaitEvent(device->compute_stream, run->uploaded, 0);
	if (code == cudaSuccess)
		code = cudaEventRecord(run->kernels_begin, device->compute_stream);
	if (code == cudaSuccess && run->inject_fault == MGPU_FAULT_DEVICE_STICKY)
		code = mgpu_launch_trap(device->compute_stream);
	if (code == cudaSuccess)
		code = launch_kernels(run);
	if (code == cudaSuccess)
		code = cudaEventRecord(run->kernels_end, device->compute_stream);
	return code;
}
