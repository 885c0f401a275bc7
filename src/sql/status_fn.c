/*
 * status_fn.c
 *		mgpu_device_info, mgpu_last_run: the GPUs of this machine, and this session's last statement.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "core/executor.h"

#include "compat.h"
#include "array/pair_result.h"
#include "run/run_job.h"

PG_FUNCTION_INFO_V1(mgpu_device_info);
PG_FUNCTION_INFO_V1(mgpu_last_run);

#define DEVICE_INFO_COLUMNS 6
#define LAST_RUN_COLUMNS 13

static Datum
device_row(TupleDesc tupdesc, const mgpu_device *device)
{
	Datum		values[DEVICE_INFO_COLUMNS];
	bool		nulls[DEVICE_INFO_COLUMNS] = {false};

	values[0] = Int32GetDatum(device->ordinal);
	values[1] = CStringGetTextDatum(device->name);
	values[2] = CStringGetTextDatum(psprintf("%d.%d", device->compute_major, device->compute_minor));
	values[3] = Int64GetDatum((int64) device->memory_total_bytes);
	values[4] = Int64GetDatum((int64) device->memory_free_bytes);
	values[5] = CStringGetTextDatum(device->link);
	nulls[5] = device->link[0] == '\0';
	return HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls));
}

/*
 * mgpu_device_info() → SETOF (ordinal, name, compute_capability, memory_total, memory_free,
 * link): one row for each GPU, memory in bytes.  Without a GPU there are no rows.
 */
Datum
mgpu_device_info(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		mgpu_error	error;
		int			num_devices = 0;

		funcctx = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		funcctx->tuple_desc = result_row_type(fcinfo);
		if (run_gpu_executor()->num_devices(&num_devices, &error) != MGPU_OK)
		{
			num_devices = 0;
			ereport(DEBUG1, (errmsg_internal("no GPU: %s", error.message)));
		}
		funcctx->max_calls = num_devices;
		MemoryContextSwitchTo(caller);
	}
	funcctx = SRF_PERCALL_SETUP();
	while (funcctx->call_cntr < funcctx->max_calls)
	{
		mgpu_device device;
		mgpu_error	error;

		if (run_gpu_executor()->describe((int) funcctx->call_cntr, &device, &error) == MGPU_OK)
			SRF_RETURN_NEXT(funcctx, device_row(funcctx->tuple_desc, &device));
		ereport(WARNING,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not describe GPU %d", (int) funcctx->call_cntr),
				 errdetail_internal("%s", error.message)));
		funcctx->call_cntr++;
	}
	SRF_RETURN_DONE(funcctx);
}

static const char *
executors(const run_summary *summary)
{
	if (summary->num_gpu_calls > 0 && summary->num_gpu_calls < summary->num_calls)
		return "cpu and gpu";
	return run_executor_name(summary->num_gpu_calls > 0);
}

/*
 * mgpu_last_run() → (function, executor, algorithm, items, segments, bytes, marshal_ms,
 * upload_ms, kernel_ms, download_ms, reason, calls, threads): the calls of this session's last
 * statement that had any.  All columns are NULL before the first one.  segments is 0 for sorts
 * without segments.  reason says why calls did not run on the GPU.
 */
Datum
mgpu_last_run(PG_FUNCTION_ARGS)
{
	run_summary summary = run_read_summary();
	const run_record *sum = &summary.sum;
	Datum		values[LAST_RUN_COLUMNS] = {0};
	bool		nulls[LAST_RUN_COLUMNS];

	memset(nulls, summary.num_calls == 0, sizeof(nulls));
	if (summary.num_calls > 0)
	{
		values[0] = CStringGetTextDatum(sum->function);
		values[1] = CStringGetTextDatum(executors(&summary));
		nulls[2] = sum->algorithm == NULL;
		if (sum->algorithm)
			values[2] = CStringGetTextDatum(sum->algorithm);
		values[3] = Int64GetDatum(sum->num_items);
		values[4] = Int64GetDatum(sum->num_segments);
		values[5] = Int64GetDatum(sum->num_bytes);
		values[6] = Float8GetDatum(sum->marshal_ms);
		values[7] = Float8GetDatum(sum->upload_ms);
		values[8] = Float8GetDatum(sum->kernel_ms);
		values[9] = Float8GetDatum(sum->download_ms);
		nulls[10] = summary.reason[0] == '\0';
		values[10] = CStringGetTextDatum(summary.reason);
		values[11] = Int64GetDatum(summary.num_calls);
		values[12] = Int32GetDatum(sum->num_threads);
	}
	/* in a database that is still at 0.1, a row has the first 11 columns */
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_row_type(fcinfo), values, nulls)));
}
