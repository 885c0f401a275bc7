/*
 * engine/run_group_ranks.cu
 *		Values of several columns as numbers: their ranks among all rows.
 *
 * Rows are sorted by a head's columns, as by wide keys.  From then on a rank stands for the value: it takes few bits, is counted
 * and reduced as any number is, and leads back to a row that has the value.  Hashing was rejected: it tells nothing of the least value.
 * NULLs are the last ones; nobody asks for their ranks.
 */
#include "engine/run_group.h"

/* Columns of a head that the numbers of the first pass do not tell. */
static mgpu_group_keys
later_cells(const mgpu_group_run *group, uint32_t head)
{
	mgpu_group_keys keys = {};

	keys.nulls = group->columns.nulls;
	for (uint32_t i = group->by_cells.passes[0].num_keys; i < group->spec.columns[head].num_cells; i++)
	{
		keys.columns[keys.num_keys] = head + i;
		keys.codes[keys.num_keys++] = group->columns.codes[head + i];
	}
	return keys;
}

/* Rows in the order of their values: number these. */
static cudaError_t
number_values(mgpu_engine_run *run, uint32_t head, const uint32_t *order, const void *codes)
{
	mgpu_group_run *group = run->group;
	uint32_t   *starts = (uint32_t *) (group->work + group->ranks[head].starts);
	mgpu_sorted_codes sorted = {};
	mgpu_grouped_rows rows = {};
	cudaStream_t stream = run->device->compute_stream;
	cudaError_t code;

	sorted.codes = codes;
	sorted.code_bytes = group->by_cells.passes[0].bits <= 32 ? 4 : 8;
	sorted.order = order;
	sorted.keys = later_cells(group, head);
	/* how many there are, only the device knows: behind them are positions that no row has */
	code = cudaMemsetAsync(starts, 0xFF, group->num_rows * sizeof(uint32_t), stream);
	if (code == cudaSuccess)
		code = mgpu_group_heads(&sorted, group->num_rows, starts, &mgpu_group_control_of(run)->num_different,
								group->work + group->heads_temp, group->heads_temp_bytes, stream);
	rows.starts = starts;
	rows.order = order;
	rows.num_rows = rows.num_groups = group->num_rows;
	return code == cudaSuccess ?
		mgpu_group_number_rows(&rows, (uint64_t *) (group->work + group->ranks[head].ranks), stream) : code;
}

static cudaError_t
rank_values(mgpu_engine_run *run, uint32_t head)
{
	mgpu_group_run *group = run->group;
	uint32_t   *kept_order = (uint32_t *) (group->work + group->ranks[head].order);
	const uint32_t *order = NULL;
	const void *codes = NULL;
	cudaError_t code = cudaSuccess;

	/* it was planned before, to find out how much memory it takes */
	(void) mgpu_group_plan_cells(group, head, NULL);
	for (uint32_t pass = group->by_cells.num_passes; code == cudaSuccess && pass-- > 0;)
		code = mgpu_group_sort_pass(run, &group->by_cells, pass, &order, &codes);
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(kept_order, order, group->num_rows * sizeof(uint32_t), cudaMemcpyDeviceToDevice,
							   run->device->compute_stream);
	return code == cudaSuccess ? number_values(run, head, kept_order, codes) : code;
}

extern "C" cudaError_t
mgpu_group_rank_values(mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	cudaError_t code = cudaSuccess;

	for (uint32_t i = 0; code == cudaSuccess && group->num_rows > 0 && i < group->spec.num_columns; i++)
	{
		if (mgpu_group_is_ranked(&group->spec, i))
			code = rank_values(run, i);
	}
	return code;
}
