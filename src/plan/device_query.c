/*
 * device_query.c
 *		What a node asks a GPU to compute of a table, and its answer.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/instrument.h"
#include "storage/ipc.h"

#include "compat.h"
#include "plan/device_query.h"

void
device_query_reduce(device_query *query, int column, mgpu_reduction reduction)
{
	mgpu_group_column *of = &query->request.spec.columns[column];

	of->reduction = Max(of->reduction, (uint32) reduction);
	of->is_shown |= reduction == MGPU_REDUCE_REAL || reduction == MGPU_REDUCE_SPREAD;
}

int
device_query_sort(device_query *query, int column, bool descending, uint32 returns)
{
	mgpu_group_spec *spec = &query->request.spec;
	uint32		number = 0;

	while (number < spec->num_sorts &&
		   (spec->sorts[number].column != (uint32) column || spec->sorts[number].descending != (uint32) descending))
		number++;
	if (number == MGPU_GROUP_MAX_SORTS)
		return -1;
	if (number == spec->num_sorts)
		spec->num_sorts++;
	spec->sorts[number].column = column;
	spec->sorts[number].descending = descending;
	spec->sorts[number].returns |= returns;
	spec->columns[column].is_shown = true;
	return number;
}

int
device_query_percentile(device_query *query, int sort, double fraction, bool continuous)
{
	mgpu_group_sort *of = &query->request.spec.sorts[sort];

	if (of->num_percentiles == MGPU_GROUP_MAX_PERCENTILES)
		return -1;
	of->percentiles[of->num_percentiles] = (mgpu_group_percentile) {fraction, continuous};
	return of->num_percentiles++;
}

bool
device_query_run(device_query *query, heap_reader *reader)
{
	Instrumentation *times = heap_reader_instrument(reader);
	group_request *request = &query->request;
	bool		done;

	if (times)
		InstrStartNode(times);
	request->fill = heap_sender_fill;
	request->fill_context = query->sender;
	PG_ENSURE_ERROR_CLEANUP(heap_sender_release, PointerGetDatum(query->sender));
	{
		done = run_group(request);
	}
	PG_END_ENSURE_ERROR_CLEANUP(heap_sender_release, PointerGetDatum(query->sender));
	heap_sender_stop(query->sender, done ? request->result.num_read : 0, done ? request->result.num_rows : 0);
	if (times)
		InstrStopNode(times, done ? request->result.num_rows : 0);
	return done;
}

void
device_query_explain(int64 copied_pages, ExplainState *es)
{
	ExplainPropertyText("Executor", "gpu", es);
	ExplainPropertyInteger("Pages Copied", NULL, copied_pages, es);
}

Datum
device_query_datum(const device_query *query, int column, uint64 code)
{
	const mgpu_group_column *of = &query->request.spec.columns[column];
	uint64		bits = mgpu_column_bits(code, of->kind, of->width);

	/* its low bytes are those of a narrower value */
	return fetch_att(&bits, true, of->width);
}
