/*
 * service_views.c
 *		What the views mgpu_stat, mgpu_stat_service and mgpu_stat_activity show.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "service/counts.h"
#include "service/service.h"

PG_FUNCTION_INFO_V1(mgpu_stat_rows);
PG_FUNCTION_INFO_V1(mgpu_stat_reset);
PG_FUNCTION_INFO_V1(mgpu_stat_service_rows);
PG_FUNCTION_INFO_V1(mgpu_stat_activity_rows);

#define MAX_COLUMNS 20

/* Rows of a function that returns all at once. */
typedef struct row_sink
{
	Tuplestorestate *store;
	TupleDesc	tupdesc;
	Datum		values[MAX_COLUMNS];
	bool		nulls[MAX_COLUMNS];
	int			num_values;
} row_sink;

static void
begin_rows(FunctionCallInfo fcinfo, row_sink *sink)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);

	if (get_call_result_type(fcinfo, NULL, &sink->tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	sink->store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	sink->num_values = 0;
	result->returnMode = SFRM_Materialize;
	result->setResult = sink->store;
	result->setDesc = sink->tupdesc;
	MemoryContextSwitchTo(caller);
}

static void
add_value(row_sink *sink, Datum value)
{
	sink->nulls[sink->num_values] = false;
	sink->values[sink->num_values++] = value;
}

static void
add_text(row_sink *sink, const char *value)
{
	sink->nulls[sink->num_values] = value == NULL || value[0] == '\0';
	sink->values[sink->num_values] = sink->nulls[sink->num_values] ? (Datum) 0 : CStringGetTextDatum(value);
	sink->num_values++;
}

static void
add_null(row_sink *sink)
{
	add_text(sink, NULL);
}

static void
end_row(row_sink *sink)
{
	tuplestore_putvalues(sink->store, sink->tupdesc, sink->values, sink->nulls);
	sink->num_values = 0;
}

static void
require_counts(void)
{
	if (!counts_are_kept())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("calls are not counted on this server"),
				 errdetail("The library was not preloaded when the server started."),
				 errhint("Add mgpu_pg to shared_preload_libraries and restart the server.")));
}

/* mgpu_stat_rows() → SETOF (executor, reason, calls, items, bytes, queue_ms, kernel_ms). */
Datum
mgpu_stat_rows(PG_FUNCTION_ARGS)
{
	row_sink	sink;
	counts_row *rows;
	int			num_rows;

	require_counts();
	begin_rows(fcinfo, &sink);
	rows = counts_read(&num_rows);
	for (int i = 0; i < num_rows; i++)
	{
		add_text(&sink, rows[i].executor);
		add_text(&sink, rows[i].reason);
		add_value(&sink, Int64GetDatum(rows[i].num_calls));
		add_value(&sink, Int64GetDatum(rows[i].num_items));
		add_value(&sink, Int64GetDatum(rows[i].num_bytes));
		add_value(&sink, Float8GetDatum(rows[i].queue_ms));
		add_value(&sink, Float8GetDatum(rows[i].kernel_ms));
		end_row(&sink);
	}
	return (Datum) 0;
}

Datum
mgpu_stat_reset(PG_FUNCTION_ARGS)
{
	require_counts();
	counts_reset();
	PG_RETURN_VOID();
}

static int64
read_count(const _Atomic uint64_t *count)
{
	return (int64) atomic_load_explicit(count, memory_order_relaxed);
}

static void
add_device(row_sink *sink, const mgpu_service_device *device, bool is_up)
{
	const mgpu_service_control *control = service_memory.control;

	add_value(sink, Int32GetDatum(device->facts.ordinal));
	add_text(sink, device->facts.name);
	add_value(sink, BoolGetDatum(is_up));
	if (is_up)
		add_value(sink, Int32GetDatum(service_in_shared_memory->worker_pid));
	else
		add_null(sink);
	add_value(sink, TimestampTzGetDatum(service_in_shared_memory->started_at));
	add_value(sink, Int32GetDatum((int32) atomic_load(&control->generation) - 1));
	add_value(sink, Int32GetDatum((int32) atomic_load(&control->num_open)));
	add_value(sink, Int32GetDatum((int32) atomic_load(&control->num_queued)));
	add_value(sink, Int64GetDatum(read_count(&device->num_jobs)));
	add_value(sink, Int64GetDatum(read_count(&device->num_items)));
	add_value(sink, Int64GetDatum(read_count(&device->upload_bytes)));
	add_value(sink, Int64GetDatum(read_count(&device->download_bytes)));
	add_value(sink, Float8GetDatum(read_count(&device->kernel_us) / 1000.0));
	add_value(sink, Int64GetDatum((int64) device->facts.memory_total_bytes));
	add_value(sink, Int64GetDatum(read_count(&device->free_bytes)));
	add_value(sink, Int64GetDatum((int64) (control->num_extents * MGPU_EXTENT_STRIDE)));
	add_value(sink, Int64GetDatum((int64) (atomic_load(&control->used_extents) * MGPU_EXTENT_STRIDE)));
}

/*
 * mgpu_stat_service_rows() → SETOF (device, name, up, pid, started_at, restarts, running, queued, jobs,
 * items, upload_bytes, download_bytes, kernel_ms, memory_total, memory_free, shared_memory,
 * shared_memory_used): a row a GPU.  running, queued and shared memory are of all GPUs together.
 */
Datum
mgpu_stat_service_rows(PG_FUNCTION_ARGS)
{
	bool		is_up = service_look() == SERVICE_UP;
	row_sink	sink;

	begin_rows(fcinfo, &sink);
	for (int device = 0; service_in_shared_memory && device < MGPU_MAX_DEVICES; device++)
	{
		if (!atomic_load(&service_memory.control->devices[device].started))
			continue;
		add_device(&sink, &service_memory.control->devices[device], is_up);
		end_row(&sink);
	}
	return (Datum) 0;
}

static const char *
operation_name(uint32 op)
{
	static const char *const names[] = {"sort", "sort pairs", "merge", "merge pairs", "remove", "insert", "network", "table"};

	return op >= MGPU_OP_SORT && op <= MGPU_OP_GROUP ? names[op - MGPU_OP_SORT] : NULL;
}

/* mgpu_stat_activity_rows() → SETOF (pid, device, phase, operation, items, segments): who has a job at the service now. */
Datum
mgpu_stat_activity_rows(PG_FUNCTION_ARGS)
{
	static const char *const phases[] = {"", "queued", "uploading", "ready", "running", "downloading"};
	row_sink	sink;

	begin_rows(fcinfo, &sink);
	for (uint32 i = 0; service_in_shared_memory && i < service_memory.control->num_slots; i++)
	{
		mgpu_slot  *slot = &service_memory.slots[i];
		uint32		phase = atomic_load(&slot->phase);
		int			device = atomic_load(&slot->device);

		if (atomic_load(&slot->state) == MGPU_SLOT_FREE || phase == MGPU_PHASE_NONE)
			continue;
		add_value(&sink, Int32GetDatum((int32) slot->owner));
		if (device >= 0)
			add_value(&sink, Int32GetDatum(device));
		else
			add_null(&sink);
		add_text(&sink, phases[phase]);
		add_text(&sink, operation_name(slot->job.op));
		add_value(&sink, Int64GetDatum((int64) (slot->job.num_items + slot->job.num_b_items)));
		add_value(&sink, Int64GetDatum((int64) slot->job.num_segments));
		end_row(&sink);
	}
	return (Datum) 0;
}
