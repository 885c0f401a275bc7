/*
 * run_group.c
 *		Has a GPU read pages, and group their rows or put them in order: what such a job needs beside others.
 *
 * Its input is as long as there are pages, and its output's size is known when the rows are in order.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "compat.h"
#include "large_memory.h"
#include "run/run_group.h"

/* Its time counts as that of reading an array does. */
static uint32
fill(group_request *request, char *batch, Size bytes)
{
	instr_time	begin,
				end;
	uint32		num_pages;

	INSTR_TIME_SET_CURRENT(begin);
	num_pages = request->fill(request->fill_context, batch, bytes);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, begin);
	run_last.marshal_ms += INSTR_TIME_GET_MILLISEC(end);
	request->num_pages += num_pages;
	return num_pages;
}

mgpu_status
run_group_feed(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error)
{
	for (;;)
	{
		void	   *batch;
		uint64		bytes;
		uint32		num_pages;
		mgpu_status status = executor->input_slot(run, MGPU_CHANNEL_KEYS, &batch, &bytes, error);

		CHECK_FOR_INTERRUPTS();
		if (status == MGPU_PENDING)
			continue;
		if (status != MGPU_OK)
			return status;
		num_pages = fill(request, batch, bytes);
		status = executor->input_commit(run, MGPU_CHANNEL_KEYS, num_pages * sizeof(mgpu_page_ref), error);
		if (status != MGPU_OK || num_pages == 0)
			return status;
	}
}

mgpu_status
run_group_bind(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error)
{
	uint64		record_bytes;
	uint64		value_bytes[MGPU_GROUP_MAX_VALUES];
	uint64		all_bytes;

	if (request->records != NULL || !executor->group_result(run, &request->result))
		return MGPU_OK;
	record_bytes = mgpu_group_record_bytes(&request->spec, &request->result);
	all_bytes = record_bytes + Max(request->result.num_groups, request->result.num_returned) * request->group_bytes;
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		all_bytes += value_bytes[i] = mgpu_group_value_bytes(&request->spec, &request->result, i);
	if (all_bytes > request->most_bytes)
		return mgpu_fail(error, MGPU_UNSUPPORTED, "the results need more memory than work_mem times hash_mem_multiplier");
	request->records = large_alloc(CurrentMemoryContext, record_bytes + 1);
	for (uint32_t i = 0; i < MGPU_GROUP_MAX_VALUES; i++)
		request->values[i] = value_bytes[i] > 0 ? large_alloc(CurrentMemoryContext, value_bytes[i]) : NULL;
	executor->bind_groups(run, request->records, (void *const *) request->values);
	return MGPU_OK;
}
