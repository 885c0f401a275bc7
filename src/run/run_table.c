/*
 * run_table.c
 *		Has a GPU read pages, and group their rows or put them in order: what such a job needs beside others.
 *
 * Its input is as long as there are pages, and its output's size is known when the rows are in order.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "portability/instr_time.h"

#include "compat.h"
#include "large_memory.h"
#include "run/run_table.h"
#include "settings.h"
#include "threads.h"

static int
table_threads_wanted(void)
{
	return mgpu_setting_cpu_threads > 0 ? mgpu_setting_cpu_threads : max_parallel_workers_per_gather + 1;
}

int
run_table_threads(void)
{
	return Min(table_threads_wanted(), threads_allowed());
}

double
run_table_memory(void)
{
	return (double) get_hash_memory_limit() * table_threads_wanted();
}

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
	request->run.marshal_ms += INSTR_TIME_GET_MILLISEC(end);
	return num_pages;
}

/* Send the memory of builds. */
static mgpu_status
feed_builds(const group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error)
{
	uint64		sent = 0;

	while (sent < request->spec.build_bytes)
	{
		void	   *slot;
		uint64		bytes;
		mgpu_status status = executor->input_slot(run, MGPU_CHANNEL_VALUES, &slot, &bytes, error);

		CHECK_FOR_INTERRUPTS();
		if (status == MGPU_PENDING)
			continue;
		if (status != MGPU_OK)
			return status;
		memcpy(slot, request->builds + sent, bytes);
		status = executor->input_commit(run, MGPU_CHANNEL_VALUES, bytes, error);
		if (status != MGPU_OK)
			return status;
		sent += bytes;
	}
	return MGPU_OK;
}

/* Once the pages of a round have been read, begin the next one.  *begins: there is one. */
static mgpu_status
begin_round(group_request *request, const mgpu_executor *executor, mgpu_run *run, bool *begins, mgpu_error *error)
{
	mgpu_status status;

	*begins = false;
	if (request->next_round == NULL)
		return MGPU_OK;
	while ((status = executor->all_read(run, error)) == MGPU_PENDING)
		CHECK_FOR_INTERRUPTS();
	if (status != MGPU_OK)
		return status;
	*begins = request->next_round(request->round_context);
	if (*begins)
		executor->set_builds(run, &request->spec, request->builds);
	return request->fails ? MGPU_HOST_MEMORY : MGPU_OK;
}

/* The next batch of pages, once all questions before it are answered. */
static mgpu_status
next_batch(group_request *request, const mgpu_executor *executor, mgpu_run *run, uint32 *num_pages, mgpu_error *error)
{
	void	   *batch;
	uint64		bytes;
	mgpu_status status = executor->input_slot(run, MGPU_CHANNEL_KEYS, &batch, &bytes, error);

	CHECK_FOR_INTERRUPTS();
	if (status != MGPU_OK)
		return status;
	while ((*num_pages = fill(request, batch, bytes)) == RUN_GROUP_ASKS)
	{
		while ((status = executor->kept_ask(run, error)) == MGPU_PENDING)
			CHECK_FOR_INTERRUPTS();
		if (status != MGPU_OK)
			return status;
	}
	request->num_pages += *num_pages;
	return MGPU_OK;
}

mgpu_status
run_group_feed(group_request *request, const mgpu_executor *executor, mgpu_run *run, mgpu_error *error)
{
	mgpu_status status = request->by_threads ? MGPU_OK : feed_builds(request, executor, run, error);
	bool		goes_on = true;

	request->keeps_pages = mgpu_setting_gpu_cache != 0 && executor->kept_ask != NULL;
	while (status == MGPU_OK && goes_on)
	{
		uint32		num_pages;

		status = next_batch(request, executor, run, &num_pages, error);
		if (status == MGPU_PENDING)
		{
			status = MGPU_OK;
			continue;
		}
		if (status != MGPU_OK)
			return status;
		if (request->fails)
			return mgpu_fail(error, MGPU_HOST_MEMORY, "rows cannot be read in columns");
		status = executor->input_commit(run, MGPU_CHANNEL_KEYS, request->spec.takes_rows ? num_pages : num_pages * sizeof(mgpu_page_ref), error);
		if (num_pages == 0 && status == MGPU_OK)
			status = begin_round(request, executor, run, &goes_on, error);
	}
	return status;
}

/* Give outputs their places. */
static void
place_outputs(group_request *request, const mgpu_executor *executor, mgpu_run *run)
{
	char	   *places[MGPU_GROUP_OUTPUTS];
	uint64		all_bytes = 0;

	for (uint32 i = 0; i < MGPU_GROUP_OUTPUTS; i++)
	{
		request->outputs[i].num_bytes = mgpu_group_output_bytes(&request->spec, &request->result, i);
		all_bytes += request->outputs[i].num_bytes;
	}
	request->in_files = all_bytes > request->most_bytes;
	request->is_bound = true;
	for (uint32 i = 0; i < MGPU_GROUP_OUTPUTS; i++)
	{
		device_output *output = &request->outputs[i];

		if (output->num_bytes == 0)
			;
		else if (request->in_files)
			output->file = BufFileCreateTemp(false);
		else
			output->data = large_alloc(CurrentMemoryContext, output->num_bytes);
		places[i] = output->data;
	}
	executor->bind_groups(run, request->in_files ? NULL : places);
}

void
run_group_take(group_request *request, const mgpu_executor *executor, mgpu_run *run)
{
	mgpu_group_piece piece;

	if (!request->is_bound && executor->group_result(run, &request->result))
		place_outputs(request, executor, run);
	if (!executor->group_piece(run, &piece))
		return;
	BufFileWrite(request->outputs[piece.output].file, (void *) piece.data, piece.num_bytes);
	executor->piece_taken(run);
}

File
run_group_bind_file(const group_request *request, mgpu_binding *binding)
{
	File		file;

	if (request->memory_before_file == UINT64_MAX)
		return -1;
	PrepareTempTablespaces();
	file = OpenTemporaryFile(false);
	binding->has_file = true;
	binding->memory_before_file = request->memory_before_file;
	binding->file = FileGetRawDesc(file);
	binding->file_limit = temp_file_limit < 0 ? UINT64_MAX : (uint64) temp_file_limit * 1024;
	return file;
}

char *
run_group_read(const device_output *output, uint64 offset, uint64 num_bytes, char *buffer)
{
	if (output->file == NULL)
		return output->data + offset;
	if (BufFileSeek(output->file, 0, (off_t) offset, SEEK_SET) != 0 || BufFileRead(output->file, buffer, num_bytes) != num_bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a temporary file with results of the GPU: %m")));
	return buffer;
}

void
run_group_forget(group_request *request)
{
	for (uint32 i = 0; i < MGPU_GROUP_OUTPUTS; i++)
	{
		if (request->outputs[i].file)
			BufFileClose(request->outputs[i].file);
		if (request->outputs[i].data)
			pfree(request->outputs[i].data);
		request->outputs[i] = (device_output) {0};
	}
}
