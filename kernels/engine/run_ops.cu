/*
 * engine/run_ops.cu
 *		The kernels of merges, bulk remove and insert, and the odd-even network.
 *
 * Merges move stored bytes, so nothing is encoded.  Wanted indices are made here and merged along
 * with the keys; values follow by a gather, which runs only if both inputs were sorted, since
 * otherwise some indices were never written.  Carrying both through the merge was rejected: its
 * kernels take one width of values.
 */
#include "engine/run.h"
#include "merge/ops.h"

static mgpu_merge_request
make_merge(const mgpu_engine_run *run)
{
	const mgpu_job *job = &run->job;
	const mgpu_cuda_layout *layout = &run->layout;
	char	   *arena = run->arena;
	mgpu_merge_request request = {};

	request.codec = mgpu_run_codec(run);
	request.value_width = mgpu_cuda_carried_width(job);
	request.a_keys = arena + layout->stored_keys;
	request.b_keys = arena + layout->b_keys;
	request.out_keys = arena + layout->merged_keys;
	if (job->outputs & MGPU_OUT_INDICES)
	{
		request.a_values = arena + layout->all_indices;
		request.b_values = arena + layout->all_indices + job->num_items * sizeof(uint32_t);
		request.out_values = arena + layout->merged_indices;
	}
	else if (job->outputs & MGPU_OUT_VALUES)
	{
		request.a_values = arena + layout->values;
		request.b_values = arena + layout->b_values;
		request.out_values = arena + layout->result_values;
	}
	request.num_a_items = job->num_items;
	request.num_b_items = job->num_b_items;
	request.check = (mgpu_order_check *) (arena + layout->order_check);
	request.temp = arena + layout->temp;
	request.stream = run->device->compute_stream;
	return request;
}

static void
add_merge_outputs(mgpu_engine_run *run)
{
	const mgpu_job *job = &run->job;

	if (job->outputs & MGPU_OUT_KEYS)
		mgpu_run_add_output(run, MGPU_OUTPUT_KEYS, run->arena + run->layout.merged_keys, job->key_width);
	if (job->outputs & MGPU_OUT_INDICES)
		mgpu_run_add_output(run, MGPU_OUTPUT_INDICES, run->arena + run->layout.merged_indices, sizeof(uint32_t));
	if (job->outputs & MGPU_OUT_VALUES)
		mgpu_run_add_output(run, MGPU_OUTPUT_VALUES, run->arena + run->layout.result_values, job->value_width);
}

extern "C" cudaError_t
mgpu_run_merge(mgpu_engine_run *run)
{
	const mgpu_job *job = &run->job;
	const mgpu_cuda_layout *layout = &run->layout;
	uint64_t	num_items = mgpu_cuda_result_items(job);
	mgpu_merge_request request = make_merge(run);
	bool		indexed = (job->outputs & MGPU_OUT_INDICES) != 0;
	cudaError_t code = cudaMemsetAsync(request.check, 0xFF, sizeof(*request.check), request.stream);

	if (code == cudaSuccess && indexed)
		code = mgpu_launch_iota((uint32_t *) (run->arena + layout->all_indices), num_items, request.stream);
	if (code == cudaSuccess)
		code = mgpu_launch_merge(&request);
	if (code == cudaSuccess)
		code = mgpu_launch_find_unsorted(&request);
	if (code == cudaSuccess && indexed && (job->outputs & MGPU_OUT_VALUES) != 0)
		code = mgpu_launch_gather_if(&request.check->suspect, run->arena + layout->values,
									 (const uint32_t *) request.out_values, run->arena + layout->result_values,
									 job->value_width, num_items, request.stream);
	add_merge_outputs(run);
	return code;
}

extern "C" mgpu_status
mgpu_run_check_order(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_order_check check;
	cudaError_t code;

	if (!mgpu_job_is_merge(&run->job))
		return MGPU_OK;
	code = mgpu_run_fetch(run, &check, run->layout.order_check, sizeof(check));
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "looking at the inputs' order");
	for (int input = 0; input < 2; input++)
	{
		if (check.position[input] == UINT64_MAX)
			continue;
		run->stats.unsorted_input = input;
		run->stats.unsorted_position = check.position[input];
		return mgpu_fail(err, MGPU_NOT_SORTED, "item %llu of the %s input sorts before the one in front of it",
						 (unsigned long long) check.position[input], input == 0 ? "first" : "second");
	}
	return MGPU_OK;
}

extern "C" cudaError_t
mgpu_run_bulk(mgpu_engine_run *run)
{
	const mgpu_job *job = &run->job;
	const mgpu_cuda_layout *layout = &run->layout;
	mgpu_bulk_request request = {};

	request.width = job->value_width;
	request.items = run->arena + layout->values;
	request.num_items = job->num_items;
	request.positions = (const uint32_t *) (run->arena + layout->positions);
	request.num_positions = job->num_b_items;
	request.inserted = run->arena + layout->b_values;
	request.out = run->arena + layout->result_values;
	request.temp = run->arena + layout->temp;
	request.stream = run->device->compute_stream;
	mgpu_run_add_output(run, MGPU_OUTPUT_VALUES, request.out, request.width);
	return job->op == MGPU_OP_INSERT ? mgpu_launch_insert(&request) : mgpu_launch_remove(&request);
}

extern "C" cudaError_t
mgpu_run_odd_even_sort(mgpu_engine_run *run)
{
	const mgpu_cuda_layout *layout = &run->layout;
	mgpu_odd_even_request request = {};
	cudaError_t code;

	request.key_width = layout->shape == MGPU_SHAPE_U32 ? 4 : 8;
	for (int side = 0; side < 2; side++)
		request.keys[side] = run->arena + layout->keys[side];
	request.num_items = run->job.num_items;
	request.stream = run->device->compute_stream;
	code = mgpu_launch_odd_even_sort(&request);
	return code != cudaSuccess ? code : mgpu_run_output_keys(run, request.keys, request.current);
}
