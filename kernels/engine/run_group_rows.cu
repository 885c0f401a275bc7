/*
 * engine/run_group_rows.cu
 *		The first rows of each group: a grouped run whose spec has a limit.
 *
 * Rows are in the order of their groups and of the order columns.  Moving rows of all columns while they are sorted was
 * rejected: moving a row number is cheaper.
 */
#include "engine/run_group.h"

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

extern "C" cudaError_t
mgpu_group_enqueue_limit(mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	mgpu_limit_request request = limit_request(run);

	return mgpu_group_limit_rows(&request, group->work + group->ends_temp, group->ends_temp_bytes,
								 run->device->compute_stream);
}

extern "C" cudaError_t
mgpu_group_enqueue_rows(mgpu_engine_run *run)
{
	const mgpu_group_run *group = run->group;
	mgpu_limit_request request = limit_request(run);
	mgpu_returned_rows rows = {};

	rows.num_groups = group->result.num_groups;
	rows.num_returned = group->result.num_returned;
	rows.marks = (uint32_t *) run->outputs[MGPU_OUTPUT_GROUPS].d_items;
	for (uint32_t i = 0; i < group->spec.num_columns; i++)
	{
		if (group->spec.columns[i].is_returned)
			rows.values[i] = (void *) run->outputs[MGPU_OUTPUT_SORTED + i].d_items;
	}
	return mgpu_group_return_rows(&request, &rows, run->device->compute_stream);
}
