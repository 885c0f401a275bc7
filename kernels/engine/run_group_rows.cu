/*
 * engine/run_group_rows.cu
 *		The first rows of each group: a grouped run whose spec has a limit.
 *
 * Keys and order columns are packed into numbers of up to 64 bits, and rows are sorted by these.  What does not fit in
 * the first number is sorted before, by numbers of its own: sorts are stable.  Merging rows of all columns was rejected:
 * moving a row number is cheaper than moving the row.
 */
#include "engine/run_group.h"

#include <algorithm>

/* ------------------------------------------------------------------ numbers */

static void
add_column(mgpu_group_packing *packing, const mgpu_packed_column *column)
{
	packing->keys[packing->num_keys++] = *column;
	packing->bits += column->bits;
}

/* Keys are ascending, and their NULLs come last. */
static bool
pack_order(const mgpu_group_run *group, const mgpu_group_order *order, mgpu_packed_column *packed)
{
	bool		has_nulls = group->mailbox->facts.nulls[order->column] > 0;
	uint64_t	range;

	*packed = mgpu_group_pack_column(group, order->column);
	packed->descending = order->descending != 0;
	if (!has_nulls || group->mailbox->facts.nulls[order->column] >= group->num_rows)
		return true;
	range = packed->greatest - packed->least;
	if (range == UINT64_MAX)
		return false;
	packed->bits = mgpu_group_bits_up_to(range + 1);
	if (order->nulls_first)
	{
		packed->null_part = 0;
		packed->first_part = 1;
	}
	return true;
}

static mgpu_status
add_keys(mgpu_group_run *group, mgpu_error *err)
{
	mgpu_group_packing *pass = &group->passes[0];

	for (uint32_t i = 0; i < group->spec.num_keys; i++)
	{
		mgpu_group_order order = {group->spec.keys[i], 0, 0};
		mgpu_packed_column packed;

		if (!pack_order(group, &order, &packed) || pass->bits + packed.bits > 63)
			return mgpu_fail(err, MGPU_UNSUPPORTED, "the keys take more than 63 bits");
		add_column(pass, &packed);
	}
	group->group_bits = pass->bits;
	return MGPU_OK;
}

extern "C" mgpu_status
mgpu_group_plan_passes(mgpu_group_run *group, mgpu_error *err)
{
	mgpu_status status = add_keys(group, err);

	group->num_passes = 1;
	for (uint32_t i = 0; status == MGPU_OK && i < group->spec.num_orders; i++)
	{
		mgpu_packed_column packed;

		if (!pack_order(group, &group->spec.orders[i], &packed))
			return mgpu_fail(err, MGPU_UNSUPPORTED, "a column has NULLs, and values of more than 63 bits");
		if (group->passes[group->num_passes - 1].bits + packed.bits > 64)
			group->num_passes++;
		add_column(&group->passes[group->num_passes - 1], &packed);
	}
	for (uint32_t pass = 0; pass < group->num_passes; pass++)
	{
		mgpu_group_packing *packing = &group->passes[pass];
		uint32_t	shift = packing->bits;

		packing->nulls = group->columns.nulls;
		for (uint32_t i = 0; i < packing->num_keys; i++)
			packing->keys[i].shift = shift -= packing->keys[i].bits;
	}
	return status;
}

/* ------------------------------------------------------------------- memory */

static mgpu_sort_shape
shape_of(const mgpu_group_packing *pass)
{
	return pass->bits <= 32 ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U64_INDEX;
}

extern "C" uint64_t
mgpu_group_plan_rows(mgpu_group_run *group)
{
	uint64_t	num_rows = group->num_rows;
	uint64_t	end = 0;
	uint64_t	most;

	(void) mgpu_group_place(&end, (num_rows + 1) * sizeof(uint32_t));	/* starts of groups */
	group->ends = mgpu_group_place(&end, num_rows * sizeof(uint32_t));
	group->heads_temp_bytes = mgpu_group_heads_temp_bytes(num_rows);
	group->heads_temp = mgpu_group_place(&end, group->heads_temp_bytes);
	group->ends_temp_bytes = mgpu_group_limit_temp_bytes(num_rows);
	group->ends_temp = mgpu_group_place(&end, group->ends_temp_bytes);
	for (int side = 0; side < 2 && group->num_passes > 1; side++)
		group->orders[side] = mgpu_group_place(&end, num_rows * sizeof(uint32_t));
	group->sorts = most = end;
	for (uint32_t pass = 0; pass < group->num_passes; pass++)
	{
		mgpu_group_space space;

		mgpu_group_plan_space(&space, shape_of(&group->passes[pass]), end, num_rows);
		most = std::max(most, space.end);
	}
	return most;
}

/* -------------------------------------------------------------------- order */

/* Sort the rows, which are in this order so far; *codes: the sorted numbers. */
static cudaError_t
sort_pass(mgpu_engine_run *run, uint32_t number, const uint32_t **order, const void **codes)
{
	mgpu_group_run *group = run->group;
	const mgpu_group_packing *pass = &group->passes[number];
	uint32_t   *composed = (uint32_t *) (group->work + group->orders[number % 2]);
	cudaStream_t stream = run->device->compute_stream;
	mgpu_group_space space;
	mgpu_sort_request request;
	const uint32_t *sorted;
	cudaError_t code;

	mgpu_group_plan_space(&space, shape_of(pass), group->sorts, group->num_rows);
	request = mgpu_group_request(run, &space, pass->bits);
	code = mgpu_group_pack(pass, *order, request.keys[0], pass->bits <= 32 ? 4 : 8, group->num_rows, stream);
	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, &space, &request);
	*codes = request.keys[request.current];
	sorted = request.indices[request.current];
	if (group->num_passes > 1 && code == cudaSuccess)
	{
		code = *order != NULL ? mgpu_group_compose(*order, sorted, group->num_rows, composed, stream) :
			cudaMemcpyAsync(composed, sorted, group->num_rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream);
		sorted = composed;
	}
	*order = sorted;
	return code;
}

static mgpu_limit_request
limit_request(const mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	mgpu_limit_request request = {};

	request.spec = &group->spec;
	request.columns = group->columns;
	request.order = group->rows.order;
	request.starts = group->rows.starts;
	request.num_groups = &mgpu_group_control_of(run)->facts.num_groups;
	request.num_rows = group->num_rows;
	request.ends = (uint32_t *) (group->work + group->ends);
	request.num_returned = &mgpu_group_control_of(run)->facts.num_returned;
	return request;
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

/* Pack, sort, find where groups begin, and how many rows of each are kept. */
extern "C" cudaError_t
mgpu_group_enqueue_order(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	uint32_t	bits = group->passes[0].bits;
	const uint32_t *order = NULL;
	const void *codes = NULL;
	mgpu_limit_request request;
	cudaError_t code = cudaSuccess;

	for (uint32_t pass = group->num_passes; code == cudaSuccess && pass-- > 0;)
		code = sort_pass(run, pass, &order, &codes);
	group->rows.order = order;
	request = limit_request(run);
	if (code == cudaSuccess)
		code = group->group_bits == 0 ? set_one_group(run) :
			mgpu_group_heads(codes, bits <= 32 ? 4 : 8, bits - group->group_bits, group->num_rows, (uint32_t *) group->work,
							 (uint64_t *) request.num_groups, group->work + group->heads_temp, group->heads_temp_bytes,
							 run->device->compute_stream);
	if (code == cudaSuccess)
		code = mgpu_group_limit_rows(&request, group->work + group->ends_temp, group->ends_temp_bytes,
									 run->device->compute_stream);
	return code;
}

/* --------------------------------------------------------------------- rows */

extern "C" mgpu_status
mgpu_group_take_rows(mgpu_engine_run *run, mgpu_error *err)
{
	const mgpu_group_run *group = run->group;
	uint64_t	offsets[MGPU_NUM_OUTPUTS] = {};
	uint64_t	end = 0;
	void	   *memory;
	mgpu_status status;

	run->outputs[MGPU_OUTPUT_GROUPS].bytes = mgpu_group_record_bytes(&group->spec, &group->result);
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_COLUMNS; i++)
		run->outputs[MGPU_OUTPUT_SORTED + i].bytes = mgpu_group_value_bytes(&group->spec, &group->result, i);
	for (int i = MGPU_OUTPUT_GROUPS; i < MGPU_NUM_OUTPUTS; i++)
		offsets[i] = mgpu_group_place(&end, run->outputs[i].bytes);
	if ((status = mgpu_group_take(run, end, &memory, err)) != MGPU_OK)
		return status;
	for (int i = MGPU_OUTPUT_GROUPS; i < MGPU_NUM_OUTPUTS; i++)
		run->outputs[i].d_items = (char *) memory + offsets[i];
	return MGPU_OK;
}

extern "C" cudaError_t
mgpu_group_enqueue_rows(mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	mgpu_limit_request request = limit_request(run);
	mgpu_returned_rows rows = {};

	rows.num_groups = group->result.num_groups;
	rows.num_returned = group->result.num_returned;
	rows.marks = (uint16_t *) run->outputs[MGPU_OUTPUT_GROUPS].d_items;
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (group->spec.columns[i].is_returned)
			rows.values[i] = (void *) run->outputs[MGPU_OUTPUT_SORTED + i].d_items;
	}
	return mgpu_group_return_rows(&request, &rows, run->device->compute_stream);
}
