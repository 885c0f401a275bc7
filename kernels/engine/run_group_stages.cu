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

extern "C" cudaError_t
mgpu_run_group_launch(mgpu_engine_run *run)
{
	cudaError_t code = mgpu_group_await_decodes(run, run->device->compute_stream);

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
		if (spec->columns[i].reduction == MGPU_REDUCE_REAL || spec->columns[i].reduction == MGPU_REDUCE_SPREAD)
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
	uint64_t	largest = group->packing.bits > 0 ? group->mailbox->facts.largest : group->num_rows;

	if (adds_reals(&group->spec) && largest > ORDERED_ROWS_MIN && largest > group->num_rows / ORDERED_ROWS_PART)
		return mgpu_fail(err, MGPU_UNSUPPORTED, "sums of floats of a large group are faster on the CPU");
	return MGPU_OK;
}

/* Pack, sort, find where groups begin. */
static cudaError_t
enqueue_groups(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	cudaStream_t stream = run->device->compute_stream;
	uint32_t	code_bytes = group->packing.bits <= 32 ? 4 : 8;
	mgpu_group_space space;
	mgpu_sort_request request;
	cudaError_t code;

	mgpu_group_plan_space(&space, code_bytes == 4 ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U64_INDEX, group->sorts,
						  group->num_rows);
	request = mgpu_group_request(run, &space, group->packing.bits);
	code = mgpu_group_pack(&group->packing, NULL, request.keys[0], code_bytes, group->num_rows, stream);
	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, &space, &request);
	group->codes = request.keys[request.current];
	group->rows.order = request.indices[request.current];
	if (code == cudaSuccess)
		code = mgpu_group_heads(group->codes, code_bytes, 0, group->num_rows, (uint32_t *) group->work,
								&mgpu_group_control_of(run)->facts.num_groups, work_at(group, group->heads_temp),
								group->heads_temp_bytes, stream);
	if (code == cudaSuccess && adds_reals(&group->spec))
		code = mgpu_group_find_largest((const uint32_t *) group->work, &mgpu_group_control_of(run)->facts.num_groups,
									   group->num_rows, &mgpu_group_control_of(run)->facts.largest, stream);
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
	group->result.num_read = group->mailbox->facts.num_read;
	group->result.num_rows = group->num_rows;
	if (group->num_rows == 0 && (group->spec.num_keys > 0 || mgpu_group_has_limit(group)))
		return MGPU_OK;
	if ((status = mgpu_group_take(run, mgpu_group_plan_work(run), &work, err)) != MGPU_OK)
		return status;
	group->work = static_cast<char *>(work);
	group->rows.starts = static_cast<uint32_t *>(work);
	group->rows.num_rows = group->num_rows;
	code = begin_stage(run, MGPU_STAGE_GROUPS);
	if (code == cudaSuccess && mgpu_group_has_limit(group))
		return end_stage(run, mgpu_group_enqueue_order(run), err);
	if (code == cudaSuccess && group->packing.bits > 0)
		return end_stage(run, enqueue_groups(run), err);
	if (code == cudaSuccess)
		code = cudaMemsetAsync(work, 0, sizeof(uint32_t), run->device->compute_stream);
	group->rows.num_groups = 1;
	return code == cudaSuccess ? mgpu_group_start_results(run, err) : end_stage(run, code, err);
}

/* ----------------------------------------------------------------- results */

/* Memory of records and sorted values, and where they are. */
static mgpu_status
take_results(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	uint64_t	num_groups = group->rows.num_groups;
	uint64_t	offsets[MGPU_GROUP_MAX_SORTS];
	uint64_t	end = 0;
	uint64_t	codes = mgpu_group_place(&end, num_groups * sizeof(uint64_t));
	uint64_t	records = mgpu_group_place(&end, num_groups * group->record.num_words * sizeof(uint64_t));
	void	   *memory;
	mgpu_status status;

	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
		offsets[i] = mgpu_group_place(&end, mgpu_group_sorted_bytes(group, i));
	if ((status = mgpu_group_take(run, end, &memory, err)) != MGPU_OK)
		return status;
	group->group_codes = (uint64_t *) ((char *) memory + codes);
	run->outputs[MGPU_OUTPUT_GROUPS].d_items = (char *) memory + records;
	run->outputs[MGPU_OUTPUT_GROUPS].bytes = num_groups * group->record.num_words * sizeof(uint64_t);
	for (uint32_t i = 0; i < group->spec.num_sorts; i++)
	{
		run->outputs[MGPU_OUTPUT_SORTED + i].d_items = (char *) memory + offsets[i];
		run->outputs[MGPU_OUTPUT_SORTED + i].bytes = mgpu_group_sorted_bytes(group, i);
	}
	return MGPU_OK;
}

/* The number of groups is known. */
extern "C" mgpu_status
mgpu_group_start_results(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_status status;
	cudaError_t code;

	group->result.num_groups = group->rows.num_groups;
	if ((status = check_largest(group, err)) != MGPU_OK || (status = take_results(run, err)) != MGPU_OK)
		return status;
	/* of one group, the stage has begun */
	code = group->packing.bits > 0 ? begin_stage(run, MGPU_STAGE_RESULTS) : cudaSuccess;
	group->stage = MGPU_STAGE_RESULTS;
	if (code == cudaSuccess)
		code = mgpu_group_enqueue_results(run);
	return end_stage(run, code, err);
}

/* The number of rows that come back is known. */
static mgpu_status
start_rows(mgpu_engine_run *run, mgpu_error *err)
{
	mgpu_group_run *group = run->group;
	mgpu_status status;
	cudaError_t code;

	group->result.num_groups = group->mailbox->facts.num_groups;
	group->result.num_returned = group->mailbox->facts.num_returned;
	if ((status = mgpu_group_take_rows(run, err)) != MGPU_OK)
		return status;
	code = begin_stage(run, MGPU_STAGE_RESULTS);
	if (code == cudaSuccess)
		code = mgpu_group_enqueue_rows(run);
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
			if (mgpu_group_has_limit(run->group))
				return start_rows(run, err);
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
