/*
 * run_series.c
 *		Several jobs of one SQL call, which mgpu_last_run() shows as one.
 *
 * A call whose GPU has failed said so once, and must not ask for it again.
 */
#include "postgres.h"

#include "compat.h"

#include "run_series.h"

void
run_series_begin(run_series *series)
{
	series->num_jobs = 0;
	series->on_cpu = false;
}

void
run_series_restart(run_series *series)
{
	series->num_jobs = 0;
}

void
run_series_leave_gpu(run_series *series, const char *why)
{
	series->on_cpu = true;
	strlcpy(series->cpu_reason, why, sizeof(series->cpu_reason));
}

const char *
run_series_reason(const run_series *series)
{
	return series->on_cpu ? series->cpu_reason : NULL;
}

void
run_series_note(run_series *series)
{
	if (!series->on_cpu && strcmp(run_last.executor, mgpu_cpu_executor.name) == 0)
		run_series_leave_gpu(series, run_last.reason);
	if (series->num_jobs++ == 0)
	{
		series->record = run_last;
		return;
	}
	/* a call that went on without its GPU is the CPU's, as one of a single job is */
	if (run_last.gpu_gave_up)
	{
		series->record.executor = run_last.executor;
		series->record.algorithm = run_last.algorithm;
		series->record.gpu_gave_up = true;
		strlcpy(series->record.reason, run_last.reason, sizeof(series->record.reason));
	}
	series->record.num_items += run_last.num_items;
	series->record.num_bytes += run_last.num_bytes;
	series->record.marshal_ms += run_last.marshal_ms;
	series->record.upload_ms += run_last.upload_ms;
	series->record.kernel_ms += run_last.kernel_ms;
	series->record.download_ms += run_last.download_ms;
}

void
run_series_job(run_series *series, run_request *request)
{
	request->cpu_reason = run_series_reason(series);
	run_job(request);
	run_series_note(series);
}

void
run_series_end(const run_series *series)
{
	if (series->num_jobs > 0)
		run_last = series->record;
}
