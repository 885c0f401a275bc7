/*
 * drive.c
 *		Runs one job on one executor: open, feed, submit, wait, clean up.
 *
 * Interrupts are checked between executor calls.  Each call is short, so a cancel takes effect
 * within 0.2 s.  A run is released before anything else happens, whether the call ends by return,
 * ERROR or FATAL (PG_ENSURE_ERROR_CLEANUP covers ERROR and FATAL).  So threads and devices stop
 * writing before PostgreSQL frees the memory.  A memory-context callback was rejected: on FATAL,
 * the extension does not control the order of context deletion and process exit.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"

#include "core/float_ties.h"
#include "core/prefault.h"
#include "core/sizes.h"

#include "run/drive.h"
#include "run/run_job.h"
#include "run/run_table.h"
#include "settings.h"
#include "threads.h"

/* Input moves in slices of this size, so that a slice stays in the second-level cache. */
#define SLICE_BYTES MGPU_SIZE(1024 * 1024, 4096)

/* For smaller results, prefaulting costs more than the page faults. */
#define PREFAULT_MIN_BYTES MGPU_SIZE(8 * 1024 * 1024, 64 * 1024)

/* A run in flight and all that must be undone when it ends. */
typedef struct active_run
{
	const mgpu_executor *executor;
	mgpu_run   *run;
	mgpu_float_ties ties;
	bool		has_ties;
	mgpu_prefault *prefault;
} active_run;

static void
release_active(active_run *active)
{
	active->executor->release(active->run);
	active->run = NULL;
	if (active->has_ties)
		mgpu_float_ties_release(&active->ties);
	active->has_ties = false;
	if (active->prefault)
		mgpu_prefault_stop(active->prefault);
	active->prefault = NULL;
}

static void
release_callback(int code, Datum arg)
{
	release_active((active_run *) DatumGetPointer(arg));
}

static mgpu_status
feed_channel(active_run *active, mgpu_channel channel, const run_request *request,
			 uint64 total_bytes, bool scan_floats, mgpu_error *error)
{
	uint64		done = 0;

	while (done < total_bytes)
	{
		void	   *slot;
		uint64		bytes;
		mgpu_status status;

		status = active->executor->input_slot(active->run, channel, &slot, &bytes, error);
		if (status == MGPU_PENDING)
		{
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		if (status != MGPU_OK)
			return status;
		bytes = Min(bytes, SLICE_BYTES);
		array_source_read(request->sources[channel], done, bytes, slot);
		if (scan_floats)
		{
			status = mgpu_float_ties_scan(&active->ties, slot, bytes / active->ties.width, error);
			if (status != MGPU_OK)
				return status;
		}
		status = active->executor->input_commit(active->run, channel, bytes, error);
		if (status != MGPU_OK)
			return status;
		done += bytes;
		CHECK_FOR_INTERRUPTS();
	}
	return MGPU_OK;
}

/* Scan floats that are already in memory. */
static mgpu_status
scan_bound_floats(active_run *active, const char *keys, uint64 num_items, mgpu_error *error)
{
	uint32		width = active->ties.width;
	uint64		step = SLICE_BYTES / width;

	for (uint64 i = 0; i < num_items; i += step)
	{
		mgpu_status status = mgpu_float_ties_scan(&active->ties, keys + i * width,
												  Min(step, num_items - i), error);

		if (status != MGPU_OK)
			return status;
		CHECK_FOR_INTERRUPTS();
	}
	return MGPU_OK;
}

/*
 * Whether to keep the bits of floats that codes lose, for outputs that are keys (float_ties.h).
 * The CPU's merges move keys unchanged and lose nothing.
 */
static bool
wants_ties(const active_run *active, const mgpu_job *job)
{
	if (active->executor == &mgpu_cpu_executor && mgpu_job_is_merge(job))
		return false;
	return job->key_kind == MGPU_KEY_FLOAT && (job->outputs & MGPU_OUT_KEYS) != 0;
}

/* What goes to a channel. */
typedef struct channel_input
{
	mgpu_channel channel;
	uint32		width;
	const void *bound;			/* in memory; NULL: the request has a source */
	uint64		num_items;
} channel_input;

/* Feed one channel, unless the binding has its input in memory.  Float keys are scanned. */
static mgpu_status
feed(active_run *active, const run_request *request, const channel_input *input, mgpu_error *error)
{
	bool		scan = active->has_ties &&
		(input->channel == MGPU_CHANNEL_KEYS || input->channel == MGPU_CHANNEL_B_KEYS);
	instr_time	start,
				fed;
	mgpu_status status;

	if (input->num_items == 0 || input->width == 0 || (input->bound && !scan))
		return MGPU_OK;
	INSTR_TIME_SET_CURRENT(start);
	if (input->bound)
		status = scan_bound_floats(active, input->bound, input->num_items, error);
	else
		status = feed_channel(active, input->channel, request, input->num_items * input->width, scan, error);
	INSTR_TIME_SET_CURRENT(fed);
	INSTR_TIME_SUBTRACT(fed, start);
	request->record->marshal_ms += INSTR_TIME_GET_MILLISEC(fed);
	return status;
}

static mgpu_status
feed_all(active_run *active, run_request *request, mgpu_error *error)
{
	const mgpu_job *job = &request->job;
	const mgpu_binding *binding = &request->binding;
	uint32		value_width = (job->outputs & MGPU_OUT_VALUES) ? job->value_width : 0;
	uint64		num_b_keys = mgpu_job_is_merge(job) ? job->num_b_items : 0;
	uint64		num_b_values = job->op == MGPU_OP_INSERT ? job->num_b_items : num_b_keys;
	/* a before b: ties are restored in that order */
	const channel_input inputs[] = {
		{MGPU_CHANNEL_KEYS, job->key_width, binding->in_keys, job->num_items},
		{MGPU_CHANNEL_VALUES, value_width, binding->in_values, job->num_items},
		{MGPU_CHANNEL_B_KEYS, job->key_width, binding->in_b_keys, num_b_keys},
		{MGPU_CHANNEL_B_VALUES, value_width, binding->in_b_values, num_b_values}
	};
	mgpu_status status = MGPU_OK;

	if (wants_ties(active, job))
	{
		mgpu_float_ties_init(&active->ties, job->key_width);
		active->has_ties = true;
	}
	for (int i = 0; i < (int) lengthof(inputs) && status == MGPU_OK; i++)
		status = feed(active, request, &inputs[i], error);
	return status;
}

static uint64
num_output_items(const mgpu_job *job)
{
	switch (job->op)
	{
		case MGPU_OP_MERGE:
		case MGPU_OP_MERGE_PAIRS:
		case MGPU_OP_INSERT:
			return job->num_items + job->num_b_items;
		case MGPU_OP_REMOVE:
			return job->num_items - job->num_b_items;
		default:
			return job->num_items;
	}
}

/*
 * Take the result's page faults in another thread while the input is read.  A run that writes the
 * result during that time takes them in its own threads, and one more thread would compete with
 * those.
 */
static void
prefault_result(active_run *active, const run_request *request)
{
	const mgpu_job *job = &request->job;
	void	   *buffer = request->binding.out_keys;
	Size		width = job->key_width;
	Size		bytes;

	if (active->executor->writes_early != NULL && active->executor->writes_early(active->run))
		return;
	if (buffer == NULL)
	{
		buffer = request->binding.out_values ? request->binding.out_values : (void *) request->binding.out_indices;
		width = request->binding.out_values ? job->value_width : sizeof(uint32);
	}
	bytes = num_output_items(job) * width;
	if (bytes >= PREFAULT_MIN_BYTES)
		active->prefault = mgpu_prefault_start(buffer, bytes);
}

/* Registers, first blocks, and room in the last one of a thread that reads tables. */
#define THREAD_BYTES (2 * 1024 * 1024)

static mgpu_status
drive(active_run *active, run_request *request, mgpu_error *error)
{
	mgpu_status status;

	if (request->group)
		status = run_group_feed(request->group, active->executor, active->run, error);
	else
	{
		prefault_result(active, request);
		status = feed_all(active, request, error);
	}
	if (status == MGPU_OK)
		status = active->executor->submit(active->run, error);
	while (status == MGPU_OK || status == MGPU_PENDING)
	{
		status = active->executor->poll(active->run, error);
		if (status == MGPU_OK)
			break;
		CHECK_FOR_INTERRUPTS();
		if (status == MGPU_PENDING && request->group)
			run_group_take(request->group, active->executor, active->run);
	}
	request->float_bits_lost = active->has_ties && request->job.num_segments > 0 &&
		mgpu_float_ties_recorded(&active->ties);
	if (status == MGPU_OK && active->has_ties && request->job.num_segments == 0)
		mgpu_float_ties_restore(&active->ties, request->binding.out_keys,
								num_output_items(&request->job), request->job.descending);
	return status;
}

static const char *
algorithm_name(const mgpu_job *job, mgpu_algorithm algorithm)
{
	if (job->op == MGPU_OP_ODD_EVEN_SORT)
		return "network";
	switch (algorithm)
	{
		case MGPU_ALGORITHM_MERGE:
			return "merge";
		case MGPU_ALGORITHM_RADIX:
			return "radix";
		case MGPU_ALGORITHM_LOCALITY:
			return "locality";
		case MGPU_ALGORITHM_QUICK:
			return "quick";
		default:
			return NULL;
	}
}

static void
record_run(const run_request *request, const mgpu_run_stats *stats)
{
	run_record *record = request->record;

	record->algorithm = algorithm_name(&request->job, stats->algorithm);
	record->num_threads = stats->num_threads;
	record->queue_ms = stats->queue_ms;
	record->upload_ms = stats->upload_ms;
	record->kernel_ms = stats->kernel_ms;
	record->download_ms = stats->download_ms;
	if (request->stats)
		*request->stats = *stats;
}

mgpu_status
run_drive(const mgpu_executor *executor, run_request *request, mgpu_run_stats *stats, mgpu_error *error)
{
	mgpu_exec_options options;
	active_run	active;
	mgpu_status status;

	options.device = mgpu_setting_device;
	options.device_memory_limit = (uint64) mgpu_setting_gpu_memory_limit * 1024 * 1024;
	options.num_threads = request->group ? run_table_threads() : threads_allowed();
	/* beside what a thread works in, whatever it keeps */
	options.host_memory_limit = request->group ? (uint64) run_table_memory() + (uint64) THREAD_BYTES * options.num_threads : 0;
	options.inject_fault = mgpu_setting_inject_fault;
	memset(&active, 0, sizeof(active));
	active.executor = executor;
	status = executor->open(&request->job, &request->binding, &options, &active.run, error);
	if (status != MGPU_OK)
		return status;
	PG_ENSURE_ERROR_CLEANUP(release_callback, PointerGetDatum(&active));
	{
		status = drive(&active, request, error);
		if (status == MGPU_OK || status == MGPU_NOT_SORTED)
			executor->stats(active.run, stats);
		if (status == MGPU_OK)
			record_run(request, stats);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_callback, PointerGetDatum(&active));
	release_active(&active);
	return status;
}
