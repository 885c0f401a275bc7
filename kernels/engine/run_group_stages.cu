/*
 * engine/run_group_stages.cu
 *		A run of MGPU_OP_GROUP from launch on: see run_group.h.
 *
 * All stages work in the compute stream, and use the events of the run's kernels one after the other.
 */
#include "engine/run_group.h"

/* Copy what the kernels found out, behind them. */
static cudaError_t
report(mgpu_engine_run *run)
{
	return cudaMemcpyAsync(&run->group->mailbox->facts, run->arena, sizeof(mgpu_group_facts), cudaMemcpyDeviceToHost,
						   run->device->compute_stream);
}

/* A bit for each column that becomes a part of numbers. */
static uint32_t
packed_columns(const mgpu_group_spec *spec)
{
	uint32_t	mask = 0;

	for (uint32_t i = 0; i < spec->num_keys; i++)
		mask |= 1u << spec->keys[i];
	for (uint32_t i = 0; i < spec->num_orders; i++)
		mask |= 1u << spec->orders[i].column;
	for (uint32_t i = 0; i < spec->num_sorts; i++)
		mask |= 1u << spec->sorts[i].column;
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		if (mgpu_group_is_ranked(spec, i))
			mask |= ((1u << spec->columns[i].num_cells) - 1) << i;
	}
	return mask;
}

extern "C" cudaError_t
mgpu_run_group_launch(mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	cudaError_t code = mgpu_group_decode_added(run);
	mgpu_ranges_request ranges = {group->columns, packed_columns(&group->spec), group->num_launches,
		&mgpu_group_control_of(run)->facts};

	if (code == cudaSuccess)
		code = mgpu_group_await_decodes(run, run->device->compute_stream);
	if (code == cudaSuccess)
		code = mgpu_group_find_ranges(&ranges, run->device->compute_stream);
	return code == cudaSuccess ? report(run) : code;
}

/* A stage's work was enqueued, or not: have poll wait for it. */
static mgpu_status
end_stage(mgpu_engine_run *run, cudaError_t code, mgpu_error *err)
{
	if (code == cudaSuccess)
		code = report(run);
	if (code == cudaSuccess)
		code = cudaEventRecord(run->kernels_end, run->device->compute_stream);
	return code == cudaSuccess ? MGPU_PENDING : mgpu_cuda_error(err, code, "starting the kernels");
}

static cudaError_t
begin_stage(mgpu_engine_run *run, mgpu_group_stage stage)
{
	run->ended = false;
	run->group->stage = stage;
	return cudaEventRecord(run->kernels_begin, run->device->compute_stream);
}

/* Flags of the kernels that have ended. */
static mgpu_status
check_flags(const mgpu_engine_run *run, mgpu_error *err)
{
	uint32_t	flags = run->group->mailbox->facts.flags;

	if ((flags & MGPU_GROUP_DAMAGED) != 0)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a page is damaged, or changed while it was read");
	if ((flags & MGPU_GROUP_FAULT) != 0)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a value is beyond what programs compute");
	if ((flags & MGPU_GROUP_FULL) != 0)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "rows have many more matches than expected");
	if ((flags & MGPU_GROUP_ODD) != 0)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "there are negative zeros, or unusual NaNs");
	if ((flags & MGPU_GROUP_OVERFLOW) != 0)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "a sum overflows");
	return MGPU_OK;
}

/* ------------------------------------------------------------------ groups */

static void *
work_at(const mgpu_group_run *group, uint64_t offset)
{
	return group->work + offset;
}

/* Whether floats are added up, in their order. */
static bool
adds_reals(const mgpu_group_spec *spec)
{
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return true;
	}
	return false;
}

/*
 * One warp adds the floats of a group one after another, six times as slowly as a CPU.  So a group that has more than an
 * eighth of all rows is left to that, unless it is small.
 */
#define ORDERED_ROWS_MIN 50000
#define ORDERED_ROWS_PART 8

static mgpu_status
check_largest(const mgpu_group_run *group, mgpu_error *err)
{
	uint64_t	largest = group->group_bits > 0 ? group->mailbox->facts.largest : group->num_rows;

	if (adds_reals(&group->spec) && largest > ORDERED_ROWS_MIN && largest > group->num_rows / ORDERED_ROWS_PART)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "sums of floats of a large group are faster on the CPU");
	return MGPU_OK;
}

extern "C" cudaError_t
mgpu_group_sort_pass(mgpu_engine_run *run, const mgpu_group_passes *by, uint32_t number, const uint32_t **order,
					 const void **codes)
{
	mgpu_group_run *group = run->group;
	const mgpu_group_packing *pass = &by->passes[number];
	uint32_t   *composed = (uint32_t *) work_at(group, group->orders[number % 2]);
	cudaStream_t stream = run->device->compute_stream;
	mgpu_group_space space;
	mgpu_sort_request request;
	const uint32_t *sorted;
	cudaError_t code;

	mgpu_group_plan_space(&space, mgpu_group_pass_shape(pass), group->sorts, group->num_rows);
	request = mgpu_group_request(run, &space, pass->bits);
	code = mgpu_group_pack(pass, *order, request.keys[0], pass->bits <= 32 ? 4 : 8, group->num_rows, stream);
	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, &space, &request);
	*codes = request.keys[request.current];
	sorted = request.indices[request.current];
	if (by->num_passes > 1 && code == cudaSuccess)
	{
		code = *order != NULL ? mgpu_group_compose(*order, sorted, group->num_rows, composed, stream) :
			cudaMemcpyAsync(composed, sorted, group->num_rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream);
		sorted = composed;
	}
	*order = sorted;
	return code;
}

/* All rows are one group, from position 0 on.  The number of groups is 0 so far. */
static cudaError_t
set_one_group(mgpu_engine_run *run)
{
	cudaError_t code = cudaMemsetAsync(run->group->work, 0, sizeof(uint32_t), run->device->compute_stream);

	if (code == cudaSuccess)
		code = cudaMemsetAsync(&mgpu_group_control_of(run)->facts.num_groups, 1, 1, run->device->compute_stream);
	return code;
}

/* In the first pass the rows are in their order.  What it does not tell of wide keys, the columns do. */
static cudaError_t
find_heads(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	mgpu_sorted_codes sorted = {};

	sorted.codes = group->codes;
	sorted.code_bytes = group->by.passes[0].bits <= 32 ? 4 : 8;
	sorted.shift = group->head_shift;
	sorted.order = group->rows.order;
	sorted.keys = mgpu_group_keys_from(group, group->num_key_passes > 1 ? group->by.passes[0].num_keys : group->spec.num_keys);
	return mgpu_group_heads(&sorted, group->num_rows, (uint32_t *) group->work,
							&mgpu_group_control_of(run)->facts.num_groups, work_at(group, group->heads_temp),
							group->heads_temp_bytes, run->device->compute_stream);
}

/* Put the rows in order and find where groups begin. */
static cudaError_t
order_rows(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	cudaError_t code = cudaSuccess;

	for (uint32_t pass = group->by.num_passes; code == cudaSuccess && pass-- > 0;)
		code = mgpu_group_sort_pass(run, &group->by, pass, &group->rows.order, &group->codes);
	if (code != cudaSuccess)
		return code;
	return group->group_bits == 0 ? set_one_group(run) : find_heads(run);
}

static cudaError_t
enqueue_groups(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	mgpu_group_facts *facts = &mgpu_group_control_of(run)->facts;
	cudaError_t code = order_rows(run);

	if (code == cudaSuccess && mgpu_group_has_limit(group))
		code = mgpu_group_enqueue_limit(run);
	if (code == cudaSuccess && adds_reals(&group->spec))
		code = mgpu_group_find_largest((const uint32_t *) group->work, &facts->num_groups, group->num_rows, &facts->largest,
									   run->device->compute_stream);
	return code;
}

/* All pages are read. */
static mgpu_status
start_groups(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	void	   *work;
	mgpu_status status;
	cudaError_t code = mgpu_group_give(run, 0, group->columns_block);	/* nothing is copied from there now */

	group->num_rows = (uint32_t) group->mailbox->facts.rows[group->num_launches % MGPU_GROUP_TOTALS];
	if (code != cudaSuccess)
		return mgpu_cuda_error(err, code, "starting the kernels");
	if ((status = mgpu_group_plan_packing(run, err)) != MGPU_OK)
		return status;
	for (int i = 0; i < MGPU_GROUP_MAX_SOURCES; i++)
	{
		group->result.read_of_source[i] = group->mailbox->facts.read_of_source[i];
		group->result.rows_of_source[i] = group->mailbox->facts.rows_of_source[i];
		group->result.num_read += group->result.read_of_source[i];
	}
	group->result.num_rows = group->num_rows;
	if (group->num_rows == 0 && (group->spec.num_keys > 0 || mgpu_group_has_limit(group)))
		return MGPU_OK;
	if ((status = mgpu_group_take(run, mgpu_group_plan_work(run), &work, err)) != MGPU_OK)
		return status;
	group->work = static_cast<char *>(work);
	group->rows.starts = static_cast<uint32_t *>(work);
	group->rows.num_rows = group->num_rows;
	mgpu_group_plan_values(group);
	code = begin_stage(run, MGPU_STAGE_GROUPS);
	if (code == cudaSuccess)
		code = mgpu_group_rank_values(run);
	if (code == cudaSuccess && mgpu_group_sorts_rows(group))
		return end_stage(run, enqueue_groups(run), err);
	if (code == cudaSuccess)
		code = cudaMemsetAsync(work, 0, sizeof(uint32_t), run->device->compute_stream);
	group->rows.num_groups = 1;
	return code == cudaSuccess ? mgpu_group_start_results(run, err) : end_stage(run, code, err);
}

/* ----------------------------------------------------------------- results */

/* Memory of what comes back and of the groups' codes, and where they are. */
static mgpu_status
take_outputs(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	uint64_t	offsets[MGPU_NUM_OUTPUTS] = {};
	uint64_t	end = 0;
	uint64_t	codes = mgpu_group_place(&end, mgpu_group_has_limit(group) ? 0 : group->rows.num_groups * sizeof(uint64_t));
	void	   *memory;
	mgpu_status status;

	run->outputs[MGPU_OUTPUT_GROUPS].bytes = mgpu_group_record_bytes(&group->spec, &group->result);
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		run->outputs[MGPU_OUTPUT_SORTED + i].bytes = mgpu_group_value_bytes(&group->spec, &group->result, i);
	for (int i = MGPU_OUTPUT_GROUPS; i < MGPU_NUM_OUTPUTS; i++)
		offsets[i] = mgpu_group_place(&end, run->outputs[i].bytes);
	if ((status = mgpu_group_take(run, end, &memory, err)) != MGPU_OK)
		return status;
	group->group_codes = (uint64_t *) ((char *) memory + codes);
	for (int i = MGPU_OUTPUT_GROUPS; i < MGPU_NUM_OUTPUTS; i++)
		run->outputs[i].d_items = (char *) memory + offsets[i];
	return MGPU_OK;
}

/* The number of groups is known, and with a limit that of the rows that come back. */
extern "C" mgpu_status
mgpu_group_start_results(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_status status;
	cudaError_t code;

	group->result.num_groups = group->rows.num_groups;
	group->result.num_returned = group->mailbox->facts.num_returned;
	if (group->is_wide)
		mgpu_group_plan_numbers(group);
	if ((status = check_largest(group, err)) != MGPU_OK || (status = take_outputs(run, err)) != MGPU_OK)
		return status;
	/* of rows that were not sorted, the stage has begun */
	code = mgpu_group_sorts_rows(group) ? begin_stage(run, MGPU_STAGE_RESULTS) : cudaSuccess;
	group->stage = MGPU_STAGE_RESULTS;
	if (code == cudaSuccess)
		code = mgpu_group_has_limit(group) ? mgpu_group_enqueue_rows(run) : mgpu_group_enqueue_results(run);
	return end_stage(run, code, err);
}

extern "C" mgpu_status
mgpu_run_group_advance(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_status status = check_flags(run, err);

	if (status != MGPU_OK)
		return status;
	switch (run->group->stage)
	{
		case MGPU_STAGE_ROWS:
			return start_groups(run, err);
		case MGPU_STAGE_GROUPS:
			run->group->rows.num_groups = run->group->mailbox->facts.num_groups;
			return mgpu_group_start_results(run, err);
		default:
			return MGPU_OK;
	}
}

extern "C" void
mgpu_run_group_result(const mgpu_engine_run *run, mgpu_group_result *result)
{
	*result = run->group->result;
}
