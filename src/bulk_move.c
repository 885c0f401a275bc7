/*
 * bulk_move.c
 *		Bulk remove and bulk insert by an executor.
 *
 * Positions that come in blocks cut the array into slices, each a job of its own,
 * whose results lie one behind the other.
 */
#include "postgres.h"

#include "bulk_move.h"
#include "run_series.h"
#include "source_slice.h"

/* Elements [begin, end) of the source, and a block's positions, which lie there; to is their place in the result. */
static void
run_slice(const bulk_move *move, run_series *series, const position_blocks *blocks, int64 begin, int64 end, int64 to)
{
	int			width = move->type->stride;
	source_slice values = {move->source, (Size) begin * width};
	source_slice inserted = {move->inserted, (Size) blocks->num_before * width};
	char	   *dest = ARR_DATA_PTR(move->result) + (Size) to * width;
	run_request request;

	if (begin == end)
	{
		array_source_read(move->inserted, inserted.begin, (Size) blocks->num_positions * width, dest);
		return;
	}
	for (int64 i = 0; begin > 0 && i < blocks->num_positions; i++)
		blocks->positions[i] -= begin;
	memset(&request, 0, sizeof(request));
	request.function = move->function;
	request.job.op = move->op;
	request.job.value_width = width;
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.num_items = end - begin;
	request.job.num_b_items = blocks->num_positions;
	request.binding.in_values = source_slice_bind(&values, width, &request.readers[MGPU_CHANNEL_VALUES]);
	if (move->inserted)
		request.binding.in_b_values = source_slice_bind(&inserted, width, &request.readers[MGPU_CHANNEL_B_VALUES]);
	request.binding.in_positions = blocks->positions;
	request.binding.out_values = dest;
	run_series_job(series, &request);
}

void
bulk_move_run(bulk_move *move, position_blocks *blocks)
{
	int64		begin = 0;
	run_series	series;

	array_source_require(move->source, (Size) move->source->num_items * move->type->stride);
	if (move->inserted)
		array_source_require(move->inserted, (Size) move->inserted->num_items * move->type->stride);
	run_series_begin(&series);
	if (blocks->list->cpu_reason)
		run_series_leave_gpu(&series, blocks->list->cpu_reason);
	while (position_blocks_next(blocks))
	{
		int64		end = move->source->num_items;
		int64		to = begin + (move->inserted ? blocks->num_before : -blocks->num_before);

		if (!position_blocks_is_last(blocks))
			end = (int64) blocks->positions[blocks->num_positions - 1] + (move->inserted == NULL);
		run_slice(move, &series, blocks, begin, end, to);
		begin = end;
	}
	run_series_end(&series);
}
