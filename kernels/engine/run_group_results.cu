/*
 * engine/run_group_results.cu
 *		The results of a grouped run: records, reductions of columns, sorted values.
 *
 * Values are sorted last, in the memory that the order of the groups' rows was in: reductions need it, sorts do not.
 */
#include "engine/run_group.h"

#include <cstring>

/* -------------------------------------------------------------------- sorts */

extern "C" mgpu_sort_request
mgpu_group_request(const mgpu_engine_run *run, const mgpu_group_space *space, uint32_t bits)
{
	char	   *work = run->group->work;
	bool		is_indexed = space->shape == MGPU_SHAPE_U32_INDEX || space->shape == MGPU_SHAPE_U64_INDEX;
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		request.keys[side] = work + space->keys[side];
		request.indices[side] = is_indexed ? (uint32_t *) (work + space->indices[side]) : NULL;
	}
	request.key_bits = bits > 0 ? bits : 1;
	request.num_items = run->group->num_rows;
	request.temp = work + space->temp;
	request.temp_bytes = space->temp_bytes;
	request.stream = run->device->compute_stream;
	return request;
}

extern "C" cudaError_t
mgpu_group_sort_numbers(mgpu_engine_run *run, const mgpu_group_space *space, mgpu_sort_request *request)
{
	bool		is_wide = space->shape == MGPU_SHAPE_U64 || space->shape == MGPU_SHAPE_U64_INDEX;
	mgpu_algorithm algorithm = mgpu_choose_algorithm(space->shape, is_wide ? 8 : 4, request->num_items);

	run->stats.algorithm = algorithm;
	return mgpu_plain_sort(space->shape, request, &algorithm);
}

/* --------------------------------------------------------------- reductions */

static uint64_t *
records_of(const mgpu_engine_run *run)
{
	return (uint64_t *) run->outputs[MGPU_OUTPUT_GROUPS].d_items;
}

/* Of ranks, the least and the greatest become the codes of values. */
static cudaError_t
reduce_ranks(mgpu_engine_run *run, uint32_t head, mgpu_reduce_request *request)
{
	mgpu_group_run *group = run->group;
	cudaStream_t stream = run->device->compute_stream;
	mgpu_extremes_request extremes = {};
	cudaError_t code;

	request->codes = (const uint64_t *) (group->work + group->ranks[head].ranks);
	request->kind = MGPU_KEY_UNSIGNED;
	request->reduction = MGPU_REDUCE_INTEGER;
	code = mgpu_group_reduce(request, stream);
	extremes.order = (const uint32_t *) (group->work + group->ranks[head].order);
	extremes.starts = (const uint32_t *) (group->work + group->ranks[head].starts);
	extremes.num_cells = group->spec.columns[head].num_cells;
	for (uint32_t i = 0; i < extremes.num_cells; i++)
		extremes.codes[i] = group->columns.codes[head + i];
	extremes.num_groups = group->rows.num_groups;
	extremes.words = request->words;
	extremes.record_words = request->record_words;
	return code == cudaSuccess ? mgpu_group_fetch_extremes(&extremes, stream) : code;
}

static cudaError_t
reduce_column(mgpu_engine_run *run, uint32_t number)
{
	mgpu_group_run *group = run->group;
	const mgpu_group_column *column = &group->spec.columns[number];
	mgpu_reduce_request request = {};

	request.rows = group->rows;
	request.codes = group->columns.codes[number];
	request.nulls = group->columns.nulls;
	request.column = number;
	request.kind = column->kind;
	request.width = column->width;
	request.reduction = column->reduction;
	request.words = records_of(run) + group->record.reductions[number];
	request.record_words = group->record.num_words;
	request.flags = &mgpu_group_control_of(run)->facts.flags;
	if (column->reduction == MGPU_REDUCE_EXTREMES)
		return reduce_ranks(run, number, &request);
	if (column->reduction == MGPU_REDUCE_PAIRS)
	{
		request.second_codes = group->columns.codes[number + 1];
		return mgpu_group_reduce_pairs(&request, run->device->compute_stream);
	}
	if (column->reduction == MGPU_REDUCE_REAL || column->reduction == MGPU_REDUCE_SPREAD)
		return mgpu_group_reduce_reals(&request, run->device->compute_stream);
	return mgpu_group_reduce(&request, run->device->compute_stream);
}

/* ------------------------------------------------------------ sorted values */

/* Positions where another group or value begins, for the count of different ones. */
static cudaError_t
find_different(mgpu_engine_run *run, const mgpu_values_request *values)
{
	mgpu_group_run *group = run->group;
	uint32_t   *starts = (uint32_t *) (group->work + group->different);
	uint64_t   *num_starts = &mgpu_group_control_of(run)->num_different;
	char	   *temp = group->work + group->heads_temp;
	mgpu_sorted_codes sorted = {};
	cudaStream_t stream = run->device->compute_stream;

	if (values->num_values == 0)
		return cudaMemsetAsync(num_starts, 0, sizeof(uint64_t), stream);
	if (values->second_order != NULL)
		return mgpu_group_value_heads(values, starts, num_starts, temp, group->heads_temp_bytes, stream);
	sorted.codes = values->numbers;
	sorted.code_bytes = values->number_bytes;
	return mgpu_group_heads(&sorted, values->num_values, starts, num_starts, temp, group->heads_temp_bytes, stream);
}

/* What records tell of a sort.  second_order: NULL, or of a sort in two steps. */
static cudaError_t
describe_values(mgpu_engine_run *run, uint32_t sort, const void *numbers, uint32_t number_bytes,
				const uint32_t *second_order)
{
	mgpu_group_run *group = run->group;
	const mgpu_group_sort *asked = &group->spec.sorts[sort];
	mgpu_values_request request = {};
	cudaError_t code = cudaSuccess;

	request.values = group->values[sort];
	request.numbers = numbers;
	request.number_bytes = number_bytes;
	request.num_values = group->num_values[sort];
	request.first_order = (const uint32_t *) (group->work + group->first_order);
	request.second_order = second_order;
	request.group_codes = group->group_codes;
	request.num_groups = group->rows.num_groups;
	request.words = records_of(run) + group->record.sorts[sort];
	request.record_words = group->record.num_words;
	request.num_percentiles = asked->num_percentiles;
	memcpy(request.percentiles, asked->percentiles, sizeof(request.percentiles));
	if (mgpu_group_counts_different(group, sort))
	{
		request.different = (const uint32_t *) (group->work + group->different);
		request.num_different = &mgpu_group_control_of(run)->num_different;
		code = find_different(run, &request);
	}
	return code == cudaSuccess ? mgpu_group_describe_values(&request, run->device->compute_stream) : code;
}

/* Group and value in one number. */
static cudaError_t
sort_at_once(mgpu_engine_run *run, uint32_t sort)
{
	mgpu_group_run *group = run->group;
	const mgpu_value_packing *values = &group->values[sort];
	cudaStream_t stream = run->device->compute_stream;
	uint32_t	number_bytes = values->bits <= 32 ? 4 : 8;
	mgpu_group_space space;
	mgpu_sort_request request;
	cudaError_t code;

	mgpu_group_plan_space(&space, number_bytes == 4 ? MGPU_SHAPE_U32 : MGPU_SHAPE_U64, group->sorts, group->num_rows);
	request = mgpu_group_request(run, &space, values->bits);
	code = mgpu_group_pack_values(&group->groups, values, request.keys[0], number_bytes, group->num_rows, stream);
	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, &space, &request);
	if (code == cudaSuccess)
		code = describe_values(run, sort, request.keys[request.current], number_bytes, NULL);
	if (code == cudaSuccess && mgpu_group_value_bytes(&group->spec, &group->result, sort) > 0)
		code = mgpu_group_unpack_values(values, request.keys[request.current], number_bytes,
										group->spec.columns[values->value.column].kind,
										group->spec.columns[values->value.column].width, group->num_values[sort],
										(void *) run->outputs[MGPU_OUTPUT_SORTED + sort].d_items, stream);
	return code;
}

/* The rows in the order of their values, to first_order. */
static cudaError_t
sort_values_alone(mgpu_engine_run *run, const mgpu_value_packing *values, const mgpu_group_space *space,
				  uint32_t *first_order)
{
	mgpu_group_run *group = run->group;
	cudaStream_t stream = run->device->compute_stream;
	mgpu_sort_request request = mgpu_group_request(run, space, values->value.bits);
	cudaError_t code = mgpu_group_pack_values_alone(&group->groups, values, (uint64_t *) request.keys[0],
													group->num_rows, stream);

	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, space, &request);
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(first_order, request.indices[request.current], group->num_rows * sizeof(uint32_t),
							   cudaMemcpyDeviceToDevice, stream);
	return code;
}

/* Values that fill more bits than groups leave. */
static cudaError_t
sort_in_two_steps(mgpu_engine_run *run, uint32_t sort)
{
	mgpu_group_run *group = run->group;
	const mgpu_value_packing *values = &group->values[sort];
	uint32_t   *first_order = (uint32_t *) (group->work + group->first_order);
	cudaStream_t stream = run->device->compute_stream;
	mgpu_group_space space;
	mgpu_sort_request request;
	cudaError_t code;

	mgpu_group_plan_space(&space, MGPU_SHAPE_U64_INDEX, group->sorts, group->num_rows);
	code = sort_values_alone(run, values, &space, first_order);
	request = mgpu_group_request(run, &space, values->bits);
	if (code == cudaSuccess)
		code = mgpu_group_pack_ordered(&group->groups, values, first_order, (uint64_t *) request.keys[0],
									   group->num_rows, stream);
	if (code == cudaSuccess)
		code = mgpu_group_sort_numbers(run, &space, &request);
	if (code == cudaSuccess)
		code = describe_values(run, sort, request.keys[request.current], sizeof(uint64_t), request.indices[request.current]);
	if (code == cudaSuccess && mgpu_group_value_bytes(&group->spec, &group->result, sort) > 0)
		code = mgpu_group_fetch_values(values->value.codes, first_order, request.indices[request.current],
									   group->spec.columns[values->value.column].kind,
									   group->spec.columns[values->value.column].width, group->num_values[sort],
									   (void *) run->outputs[MGPU_OUTPUT_SORTED + sort].d_items, stream);
	return code;
}

/* What records have in front of their reductions.  The rows of wide keys learn their groups' numbers. */
static cudaError_t
write_records(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	cudaStream_t stream = run->device->compute_stream;
	mgpu_group_keys keys;
	cudaError_t code = cudaSuccess;

	if (!group->is_wide)
		return mgpu_group_records(&group->groups, &group->rows, group->codes, group->groups.bits <= 32 ? 4 : 8,
								  group->group_codes, records_of(run), group->record.num_words, stream);
	if (group->spec.num_sorts > 0)
		code = mgpu_group_number_rows(&group->rows, (uint64_t *) (group->work + group->numbers), stream);
	keys = mgpu_group_keys_from(group, 0);
	return code == cudaSuccess ? mgpu_group_wide_records(&keys, &group->rows, group->group_codes, records_of(run),
														 group->record.num_words, stream) : code;
}

extern "C" cudaError_t
mgpu_group_enqueue_results(mgpu_engine_run *run)
{
	mgpu_group_run *group = run->group;
	cudaError_t code = write_records(run);

	for (uint32_t i = 0; code == cudaSuccess && i < group->spec.num_columns; i++)
	{
		if (group->spec.columns[i].reduction != MGPU_REDUCE_NONE)
			code = reduce_column(run, i);
	}
	for (uint32_t i = 0; code == cudaSuccess && i < group->spec.num_sorts; i++)
	{
		if (group->num_values[i] == 0)
			code = describe_values(run, i, NULL, sizeof(uint64_t), NULL);
		else if (group->values[i].in_two_steps)
			code = sort_in_two_steps(run, i);
		else
			code = sort_at_once(run, i);
	}
	return code;
}
