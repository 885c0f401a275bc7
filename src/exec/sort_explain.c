/*
 * sort_explain.c
 *		What EXPLAIN tells of an MgpuSort node.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#include "compat.h"
#include "declined.h"
#include "exec/device_query.h"
#include "exec/sort.h"
#include "exec/top.h"

void
sort_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	const sort_state *state = (const sort_state *) css;
	Size		most_bytes = state->runs ? Max(state->most_bytes, sort_runs_bytes(state->runs)) : state->most_bytes;

	report_printed(es, DECLINED_SORT);
	ExplainPropertyList("Sort Key", top_explain_keys(css, ancestors, es), es);
	row_source_explain(state->source, es);
	if (!es->analyze || !state->sorted)
		return;
	row_source_explain_pages(state->source, es);
	if (state->device.query)
		device_query_explain(state->device.query, es);
	else if (state->executor)
	{
		ExplainPropertyText("Sort Executor", state->executor, es);
		ExplainPropertyText("Sort Algorithm", state->algorithm, es);
		ExplainPropertyInteger("Sort Threads", NULL, state->num_threads, es);
	}
	if (state->runs)
	{
		ExplainPropertyInteger("Spilled Runs", NULL, sort_runs_count(state->runs), es);
		ExplainPropertyInteger("Disk Usage", "kB", sort_runs_disk_bytes(state->runs) / 1024, es);
	}
	ExplainPropertyInteger("Peak Memory Usage", "kB", most_bytes / 1024, es);
}
