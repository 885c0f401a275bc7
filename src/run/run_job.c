/*
 * run_job.c
 *		Runs one job of a SQL call: chooses its executor, and the CPU if a GPU fails.
 *
 * The plan knows costs (core/planner.h).  This process adds what it has seen of its GPU: whether
 * it failed, and how much time it would have saved in the calls that ran on the CPU so far.
 * drive.c runs the job.
 */
#include "postgres.h"

#include "core/cpu_threads.h"
#include "core/engine.h"
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

/* The GPU could not run the job: raise, warn or stay silent, as settings say. */
static void
gpu_gave_up(const mgpu_error *error)
{
	run_last.executor = mgpu_cpu_executor.name;
	strlcpy(run_last.reason, error->message, sizeof(run_last.reason));
	run_last.gpu_gave_up = true;
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
	else if (error->status == MGPU_UNSUPPORTED)
		;						/* not a failure; the reason is recorded below */
	else if (mgpu_setting_gpu_failure == MGPU_GPU_FAILURE_ERROR)
		mgpu_raise(error);
	else if (mgpu_setting_gpu_failure == MGPU_GPU_FAILURE_WARN)
		mgpu_warn_gpu_failure(error);
}

static bool
is_gpu_trouble(mgpu_status status)
{
	return status == MGPU_NO_DEVICE || status == MGPU_DEVICE_MEMORY ||
		status == MGPU_DEVICE_FAILED || status == MGPU_UNSUPPORTED;
}

/* This machine's speed, measured at the first job for which it decides. */
static double
cpu_sort_ns(const mgpu_job *job)
{
	if (mgpu_setting_executor != MGPU_EXECUTOR_AUTO || mgpu_job_moved_bytes(job) < MEASURED_MIN_BYTES ||
		mgpu_gpu_ruled_out(mgpu_setting_executor, mgpu_engine_is_built(), gpu_trouble() != NULL))
		return 0;
	return mgpu_unsigned_sort_ns(4);
}

static void
make_plan(const mgpu_job *job, bool gpu_in_trouble, bool now, mgpu_plan *plan)
{
	mgpu_plan_input input;

	input.requested = mgpu_setting_executor;
	input.gpu_min_items = mgpu_setting_gpu_min_items;
	input.num_threads = threads_allowed();
	input.cpu_sort_ns = cpu_sort_ns(job);
	input.gpu_built = mgpu_engine_is_built();
	input.gpu_failed = gpu_in_trouble;
	input.gpu_warm = !gpu_in_trouble && run_gpu_executor()->is_warm();
	/* what is planned may run at any time */
	input.gpu_others_ms = now && service_in_shared_memory ? service_mean_job_ms() : 0;
	input.forgone_ms = gpu_forgone_ms;
	mgpu_plan_job(job, &input, plan);
}

/* Choose the executor.  Returns why it is not the GPU; NULL if it is. */
static const char *
plan_run(const run_request *request, mgpu_plan *plan)
{
	const char *trouble;

	if (request->cpu_reason)
	{
		plan->executor = MGPU_EXECUTOR_CPU;
		plan->forgone_ms = 0;
		return request->cpu_reason;
	}
	if (mgpu_setting_executor == MGPU_EXECUTOR_GPU)
		(void) service_await();
	trouble = gpu_trouble();
	if (trouble && mgpu_setting_executor == MGPU_EXECUTOR_GPU)
		mgpu_raise_no_gpu(trouble);
	make_plan(&request->job, trouble != NULL, true, plan);
	return trouble && mgpu_setting_executor != MGPU_EXECUTOR_CPU ? trouble : plan->reason;
}

static void
record_start(const run_request *request, const char *reason)
{
	const mgpu_job *job = &request->job;
	int64		num_items = job->num_items;

	if (mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT)
		num_items += job->num_b_items;
	run_record_cpu(request->function, NULL, num_items,
				 num_items * (job->key_width + job->value_width), reason);
	run_last.num_segments = job->num_segments;
}

static MGPU_NORETURN void
raise_failure(const run_request *request, const mgpu_error *error)
{
	const mgpu_run_stats *stats = &request->stats;

	if (error->status == MGPU_NOT_SORTED)
		mgpu_raise_not_sorted(stats->unsorted_input,
							  request->first_subscripts[stats->unsorted_input] + stats->unsorted_position);
	mgpu_raise(error);
}

/* A call that is cancelled meanwhile counts as one of the GPU. */
static mgpu_status
drive_on_gpu(run_request *request, mgpu_error *error)
{
	const mgpu_executor *executor = run_gpu_executor();

	run_last.executor = executor->name;
	return run_drive(executor, request, error);
}

void
run_job(run_request *request)
{
	mgpu_plan	plan;
	mgpu_error	error;
	mgpu_status status;

	if (request->job.algorithm == MGPU_ALGORITHM_AUTO)
		request->job.algorithm = mgpu_setting_algorithm;
	record_start(request, plan_run(request, &plan));
	if (plan.executor == MGPU_EXECUTOR_GPU)
	{
		status = drive_on_gpu(request, &error);
		if (status == MGPU_OK)
			return;
		if (!is_gpu_trouble(status))
			raise_failure(request, &error);
		gpu_gave_up(&error);
	}
	else
		gpu_forgone_ms += plan.forgone_ms;
	status = run_drive(&mgpu_cpu_executor, request, &error);
	if (status != MGPU_OK)
		raise_failure(request, &error);
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

	if (gpu_trouble() != NULL)
		return false;
	make_plan(&job, false, false, &plan);
	return plan.executor == MGPU_EXECUTOR_GPU;
}

bool
run_group(group_request *request)
{
	run_request run = {
		.function = request->function,
		.job = group_job(request->expected_rows),
		.binding = {.group = &request->spec},
		.group = request
	};
	mgpu_plan	plan;
	mgpu_error	error;
	mgpu_status status;

	request->no_gpu = plan_run(&run, &plan);
	if (plan.executor != MGPU_EXECUTOR_GPU)
		return false;
	mgpu_group_plan_record(&request->spec, &request->record);
	run_call_start();
	record_start(&run, NULL);
	status = drive_on_gpu(&run, &error);
	if (status == MGPU_OK)
	{
		run_last.num_items = request->result.num_read;
		run_last.num_bytes = request->num_pages * MGPU_PAGE_BYTES;
		return true;
	}
	if (!is_gpu_trouble(status))
		raise_failure(&run, &error);
	gpu_gave_up(&error);
	request->no_gpu = run_last.reason;
	return false;
}

const char *
run_reason(const char *reason)
{
	const char *trouble = gpu_trouble();
	const char *ruled_out = mgpu_gpu_ruled_out(mgpu_setting_executor, mgpu_engine_is_built(), trouble != NULL);

	if (ruled_out == NULL)
		return reason;
	return trouble && mgpu_setting_executor != MGPU_EXECUTOR_CPU ? trouble : ruled_out;
}

bool
run_is_forced(int64 num_items)
{
	return mgpu_setting_executor == MGPU_EXECUTOR_GPU || run_is_probed(num_items);
}

bool
run_is_probed(int64 num_items)
{
	return mgpu_setting_algorithm != MGPU_ALGORITHM_AUTO ||
		mgpu_setting_inject_fault != MGPU_FAULT_NONE ||
		(mgpu_setting_gpu_min_items >= 0 && num_items >= mgpu_setting_gpu_min_items);
}
