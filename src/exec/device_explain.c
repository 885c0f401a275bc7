/*
 * device_explain.c
 *		What EXPLAIN ANALYZE says of a node whose rows a GPU or threads have read.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#include "compat.h"
#include "exec/device_query.h"

/* Columns that the node fetches by TID. */
static int
num_late(const device_query *query)
{
	int			count = 0;

	for (int i = 0; i < query->job.num_values; i++)
		count += query->job.values[i].column >= 0 && query->job.values[i].cells.form == CELLS_LATE;
	return count;
}

void
device_query_explain(const device_query *query, ExplainState *es)
{
	const char *why_no_gpu = run_may_use_gpu() ? query->request.no_gpu : run_lack_of_service();
	uint64		file_bytes = query->request.file_bytes;

	for (int i = 0; i < MGPU_GROUP_OUTPUTS; i++)
		file_bytes += query->request.in_files ? query->request.outputs[i].num_bytes : 0;
	ExplainPropertyText("Executor", query->request.by_threads ? "cpu" : "gpu", es);
	if (query->request.by_threads && why_no_gpu)
		ExplainPropertyText("Reason", why_no_gpu, es);
	if (query->request.by_threads)
		ExplainPropertyInteger("Threads", NULL, query->request.run.num_threads, es);
	expr_programs_explain(list_make1(query->job.program), es);
	if (num_late(query) > 0)
		ExplainPropertyInteger("Columns Fetched Late", NULL, num_late(query), es);
	if (query->builds.num_joins > 0)
	{
		ExplainPropertyText("Joins", psprintf(INT64_FORMAT " looked up", query->builds.num_joins), es);
		ExplainPropertyInteger("Rows Built", NULL, query->builds.num_rows, es);
		ExplainPropertyInteger("Sides Read as Pages", NULL, query->builds.num_by_jobs, es);
		if (query->builds.num_rounds > 1)
			ExplainPropertyInteger("Rounds", NULL, query->builds.num_rounds, es);
	}
	ExplainPropertyInteger("Pages Copied", NULL, query->copied_pages, es);
	if (query->kept_pages > 0)
		ExplainPropertyInteger("Pages Kept", NULL, query->kept_pages, es);
	if (file_bytes > 0)
		ExplainPropertyInteger("Disk Usage", "kB", (int64) (file_bytes / 1024), es);
}
