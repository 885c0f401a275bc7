/*
 * run_series.h
 *		Several jobs of one SQL call, which mgpu_last_run() shows as one.
 */
#ifndef MGPU_RUN_SERIES_H
#define MGPU_RUN_SERIES_H

#include "run.h"

typedef struct run_series
{
	int			num_jobs;
	run_record	record;			/* of all so far */
	bool		on_cpu;			/* a job ran there, so the others do */
	char		cpu_reason[MGPU_ERROR_MESSAGE_BYTES];
} run_series;

extern void run_series_begin(run_series *series);

/* What has been done is to be done in another way: nothing is on record, but where jobs run. */
extern void run_series_restart(run_series *series);

/* No job of the series asks for a GPU from here on, and why. */
extern void run_series_leave_gpu(run_series *series, const char *why);

/* Why all else of the call runs on the CPU, as run_request wants it; NULL: it need not. */
extern const char *run_series_reason(const run_series *series);

/* run_job, on the CPU once a job of the series has run there. */
extern void run_series_job(run_series *series, run_request *request);

/* What is on record as this call's last run, such as a sort without a job, is one of the series. */
extern void run_series_note(run_series *series);

/* Record the whole series as this call's run, if there was a job. */
extern void run_series_end(const run_series *series);

#endif							/* MGPU_RUN_SERIES_H */
