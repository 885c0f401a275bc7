/*
 * run_job.c
 *		Runs one job of a SQL call: here and now, on the CPU or on a GPU, and on the CPU if a GPU fails.
 *
 * All sorts come here, so that nothing else asks whether items are few.  The plan knows costs (core/planner.h).  This process adds what it has seen of its GPU: whether
 * it failed, and how much time it would have saved in the calls that ran on the CPU so far.
 * drive.c runs the job.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"

#include "core/cpu_sort.h"
#include "core/engine.h"
#include "core/executor.h"
#include "core/planner.h"
#include "core/unsigned_sort.h"

#include "compat.h"
#include "pgerror.h"
#include "run/drive.h"
#include "run/run_job.h"
#include "run/run_table.h"
#include "service/service.h"
#include "settings.h"
#include "threads.h"

/* Jobs from here on may be faster on a GPU. */
#define MEASURED_MIN_BYTES (64 * 1024)

/* What this process has seen of its GPU. */
static bool gpu_failed = false;
static char gpu_failed_reason[MGPU_ERROR_MESSAGE_BYTES];
static double gpu_forgone_ms = 0;

const mgpu_executor *
run_gpu_executor(void)
{
	return service_in_shared_memory ? &service_executor : &mgpu_cuda_executor;
}

/* Why no job can run on the GPU for now; NULL if one can. */
static const char *
gpu_trouble(void)
{
	service_state state = service_look();

	if (state == SERVICE_NONE)
		return gpu_failed ? gpu_failed_reason : NULL;
	return state == SERVICE_UP ? NULL : service_reason(state);
}

/* Why no job runs on a GPU, whatever it is; NULL if one may. */
static const char *
ruled_out(void)
{
	const char *trouble = gpu_trouble();

	if (trouble && mgpu_setting_executor != MGPU_EXECUTOR_CPU)
		return trouble;
	return mgpu_gpu_ruled_out(mgpu_setting_executor, mgpu_engine_is_built(), trouble != NULL);
}

const char *
run_reason(const char *reason)
{
	const char *stronger = ruled_out();

	return stronger ? stronger : reason;
}

/* ---- few items */

bool
run_is_forced(int64 num_items, bool is_one_of_many)
{
	bool		is_few = is_one_of_many && num_items <= MGPU_CPU_NOW_PAIRS;

	return (mgpu_setting_executor == MGPU_EXECUTOR_GPU && !is_few) ||
		mgpu_setting_algorithm != MGPU_ALGORITHM_AUTO ||
		mgpu_setting_inject_fault != MGPU_FAULT_NONE ||
		(mgpu_setting_gpu_min_items >= 0 && num_items >= mgpu_setting_gpu_min_items);
}

/* Keys that are sorted where they are copied to need not be aligned. */
static bool
is_in_memory(const run_request *request)
{
	const array_source *keys = request->sources[MGPU_CHANNEL_KEYS];

	return request->binding.in_keys != NULL ||
		(request->job.op == MGPU_OP_SORT && keys != NULL && !array_source_is_streamed(keys));
}

bool
run_sorts_now(const run_request *request)
{
	return mgpu_plan_sorts_now(&request->job, request->binding.in_segment_heads) && is_in_memory(request) &&
		!run_is_forced(request->job.num_items, request->is_one_of_many);
}

static void
sort_now(const run_request *request)
{
	const mgpu_job *job = &request->job;
	const mgpu_binding *binding = &request->binding;
	mgpu_error	error;

	run_record_cpu(request->record, request->function, "quick", job->num_items,
				   job->num_items * job->key_width, run_reason("few items"));
	request->record->num_segments = job->num_segments;
	if (binding->in_keys == NULL)
		array_source_read(request->sources[MGPU_CHANNEL_KEYS], 0, job->num_items * job->key_width, binding->out_keys);
	if (mgpu_cpu_run_now(job, binding, &error) != MGPU_OK)
		mgpu_raise(&error);
}

/* ---- jobs */

/* The GPU could not run the job: raise, warn or stay silent, as settings say. */
static void
gpu_gave_up(run_record *record, const mgpu_error *error)
{
	record->on_gpu = false;
	record->gpu_gave_up = true;
	record->reason = pstrdup(error->message);
	run_report(record);
	if (!service_in_shared_memory && (error->status == MGPU_NO_DEVICE || error->status == MGPU_DEVICE_FAILED))
	{
		gpu_failed = true;
		strlcpy(gpu_failed_reason, error->message, sizeof(gpu_failed_reason));
	}
	if (error->status == MGPU_NO_DEVICE)
	{
		if (mgpu_setting_executor == MGPU_EXECUTOR_GPU)
			mgpu_raise_no_gpu(error->message);
	}
	else if (error->status == MGPU_UNSUPPORTED || error->status == MGPU_BUSY)
		;						/* not a failure; the record has the reason */
	else if (mgpu_setting_gpu_failure == MGPU_GPU_FAILURE_ERROR)
		mgpu_raise(error);
	else if (mgpu_setting_gpu_failure == MGPU_GPU_FAILURE_WARN)
		mgpu_warn_gpu_failure(error);
}

static bool
is_gpu_trouble(mgpu_status status)
{
	return status == MGPU_NO_DEVICE || status == MGPU_DEVICE_MEMORY ||
		status == MGPU_DEVICE_FAILED || status == MGPU_UNSUPPORTED || status == MGPU_BUSY;
}

/* This machine's speed, measured at the first job for which it decides. */
static double
cpu_sort_ns(const mgpu_job *job)
{
	bool		decides = mgpu_setting_executor == MGPU_EXECUTOR_AUTO && mgpu_job_moved_bytes(job) >= MEASURED_MIN_BYTES;

	return decides ? mgpu_unsigned_sort_ns(4) : 0;
}

/* Predict what is faster.  No GPU is ruled out. */
static void
make_plan(const mgpu_job *job, bool now, mgpu_plan *plan)
{
	mgpu_plan_input input = {
		.requested = mgpu_setting_executor,
		.gpu_min_items = mgpu_setting_gpu_min_items,
		.num_threads = threads_allowed(),
		.cpu_sort_ns = cpu_sort_ns(job),
		.gpu_built = true,
		.gpu_warm = run_gpu_executor()->is_warm(),
		/* what is planned may run at any time */
		.gpu_others_ms = now && service_in_shared_memory ? service_mean_job_ms() : 0,
		.forgone_ms = gpu_forgone_ms
	};

	mgpu_plan_job(job, &input, plan);
}

/* Choose the executor. */
static mgpu_plan
plan_run(const run_request *request)
{
	mgpu_plan	plan = {.executor = MGPU_EXECUTOR_CPU,.reason = request->cpu_reason};

	if (plan.reason)
		return plan;
	if (mgpu_setting_executor == MGPU_EXECUTOR_GPU)
	{
		const char *trouble;

		(void) service_await();
		trouble = gpu_trouble();
		if (trouble)
			mgpu_raise_no_gpu(trouble);
		plan.executor = MGPU_EXECUTOR_GPU;
		return plan;
	}
	plan.reason = ruled_out();
	if (plan.reason == NULL)
		make_plan(&request->job, true, &plan);
	return plan;
}

/* A call that is cancelled counts too. */
static void
record_start(const run_request *request, const mgpu_plan *plan)
{
	const mgpu_job *job = &request->job;
	int64		num_items = job->num_items;

	if (mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT)
		num_items += job->num_b_items;
	run_record_cpu(request->record, request->function, NULL, num_items,
				   num_items * (job->key_width + job->value_width), plan->reason);
	request->record->num_segments = job->num_segments;
	request->record->on_gpu = plan->executor == MGPU_EXECUTOR_GPU;
	run_report(request->record);
}

static MGPU_NORETURN void
raise_failure(const run_request *request, const mgpu_run_stats *stats, const mgpu_error *error)
{
	if (error->status == MGPU_NOT_SORTED)
		mgpu_raise_not_sorted(stats->unsorted_input,
							  request->first_subscripts[stats->unsorted_input] + stats->unsorted_position);
	mgpu_raise(error);
}

/* MGPU_OK, or why no GPU could run it. */
static mgpu_status
run_on_gpu(run_request *request)
{
	mgpu_run_stats stats;
	mgpu_error	error;
	mgpu_status status = run_drive(run_gpu_executor(), request, &stats, &error);

	if (status == MGPU_OK)
		return status;
	if (!is_gpu_trouble(status))
		raise_failure(request, &stats, &error);
	gpu_gave_up(request->record, &error);
	return status;
}

void
run_job(run_request *request)
{
	mgpu_plan	plan;
	mgpu_run_stats stats;
	mgpu_error	error;

	if (run_sorts_now(request))
	{
		sort_now(request);
		return;
	}
	if (request->job.algorithm == MGPU_ALGORITHM_AUTO)
		request->job.algorithm = mgpu_setting_algorithm;
	plan = plan_run(request);
	record_start(request, &plan);
	if (plan.executor == MGPU_EXECUTOR_GPU && run_on_gpu(request) == MGPU_OK)
		return;
	gpu_forgone_ms += plan.forgone_ms;
	if (run_drive(&mgpu_cpu_executor, request, &stats, &error) != MGPU_OK)
		raise_failure(request, &stats, &error);
}

/* Whether there is a service that runs jobs, now or soon. */
static bool
has_service(service_state state)
{
	return state != SERVICE_NONE && state != SERVICE_NO_GPU;
}

bool
run_may_use_gpu(void)
{
	return mgpu_setting_executor != MGPU_EXECUTOR_CPU && has_service(service_look());
}

const char *
run_lack_of_service(void)
{
	service_state state = service_look();

	if (has_service(state) || mgpu_gpu_ruled_out(mgpu_setting_executor, mgpu_engine_is_built(), false) != NULL)
		return NULL;
	return service_reason(state);
}

static mgpu_job
group_job(double num_rows)
{
	return (mgpu_job) {.op = MGPU_OP_GROUP,.num_items = (uint64) Min(num_rows, (double) MGPU_MAX_ITEMS)};
}

bool
run_would_use_gpu(double num_rows)
{
	mgpu_job	job = group_job(num_rows);
	mgpu_plan	plan;

	if (ruled_out() != NULL)
		return false;
	make_plan(&job, false, &plan);
	return plan.executor == MGPU_EXECUTOR_GPU;
}

static void
report_group(group_request *request)
{
	request->run.num_items = request->result.num_read;
	request->run.num_bytes = request->num_pages * MGPU_PAGE_BYTES;
	run_report(&request->run);
}

static bool
group_on_gpu(group_request *request, run_request *run)
{
	mgpu_status status;

	request->num_shared_pages = service_num_shared_pages();
	status = run_on_gpu(run);
	request->is_beyond = status == MGPU_UNSUPPORTED;
	if (status != MGPU_OK)
		request->no_gpu = request->run.reason;
	return status == MGPU_OK;
}

/* What does not fit in memory, and what programs cannot compute, is read row by row. */
static bool
group_by_threads(group_request *request, run_request *run)
{
	mgpu_run_stats stats;
	mgpu_error	error;
	mgpu_status status;
	File		file = run_group_bind_file(request, &run->binding);

	request->num_shared_pages = NBuffers;
	request->by_threads = true;
	run->binding.pages = BufferBlocks;
	run->binding.num_pages = NBuffers;
	status = run_drive(&mgpu_cpu_table_executor, run, &stats, &error);
	if (file >= 0)
		FileClose(file);
	request->file_bytes = status == MGPU_OK ? stats.file_bytes : 0;
	pgBufferUsage.temp_blks_written += request->file_bytes / BLCKSZ;
	request->is_beyond = status == MGPU_UNSUPPORTED;
	if (status != MGPU_OK && status != MGPU_UNSUPPORTED && status != MGPU_HOST_MEMORY)
		raise_failure(run, &stats, &error);
	return status == MGPU_OK;
}

bool
run_group(group_request *request)
{
	run_request run = {
		.function = request->function,
		.record = &request->run,
		.job = group_job(request->expected_rows),
		.binding = {.group = &request->spec,.builds = request->builds,.names = request->names},
		.group = request
	};
	mgpu_plan	plan = plan_run(&run);
	bool		done;

	request->no_gpu = plan.reason;
	if (request->only_threads)
		plan.executor = MGPU_EXECUTOR_CPU;
	if (plan.executor != MGPU_EXECUTOR_GPU && !request->is_for_threads)
		return false;
	mgpu_group_plan_record(&request->spec, &request->record);
	run_call_start();
	record_start(&run, &plan);
	if (plan.executor == MGPU_EXECUTOR_GPU)
		done = group_on_gpu(request, &run);
	else
		done = group_by_threads(request, &run);
	if (done)
		report_group(request);
	return done;
}
