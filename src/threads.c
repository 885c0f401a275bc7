/*
 * threads.c
 *		Threads for the parts of a SQL call that run outside an executor.
 *
 * Jobs have threads of their own.  For strings, the work around a job (making codes, copying,
 * gathering) takes longer than the sort itself.  It runs on these threads.
 */
#include "postgres.h"

#include <sys/resource.h>

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"

#include "settings.h"
#include "threads.h"

/* Milliseconds that threads work between checks for interrupts. */
#define WORK_MS 20.0

/* Stack that a job's tasks need on the session's own thread: 350 kB at most, below a statement's frames. */
#define STACK_BYTES (512 * 1024)

/* A function of its own, so that no more than its caller's frame is there before the caller looks at the limit. */
static pg_noinline void
grow_stack(void)
{
	volatile char stack[STACK_BYTES];

	stack[0] = 0;
	(void) stack[0];
}

/*
 * The kernel ends a process whose stack can't grow.  A server that limits memory, or allows no
 * overcommit, may have none when a job begins, so the stack grows while the library is loaded.
 * One page of it is written to; the postmaster's children inherit its size.
 */
void
threads_reserve_stack(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur > 4 * STACK_BYTES)
		grow_stack();
}

int
threads_allowed(void)
{
	int			wanted = mgpu_setting_cpu_threads > 0 ? mgpu_setting_cpu_threads : mgpu_default_cpu_threads();

	return mgpu_setting_max_cpu_threads > 0 ? Min(wanted, mgpu_setting_max_cpu_threads) : wanted;
}

static void
work_alone(mgpu_task_function function, void *context, uint64 num_tasks)
{
	for (uint64 i = 0; i < num_tasks; i++)
	{
		function(context, i, 0);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Work until the phase is over.  Tasks may use data in the stack frames of the callers.  An error
 * leaves these frames before anyone catches it, so the threads end before that.
 */
static void
work_together(thread_work *work)
{
	PG_TRY();
	{
		while (!mgpu_pool_work(work->pool, WORK_MS))
			CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		thread_work_stop(0, PointerGetDatum(work));
		PG_RE_THROW();
	}
	PG_END_TRY();
}

void
thread_work_begin(thread_work *work, mgpu_task_function function, void *context, uint64 num_tasks)
{
	work->function = function;
	work->context = context;
	work->num_tasks = num_tasks;
	if (work->pool != NULL && num_tasks > 1)
		mgpu_pool_begin(work->pool, function, context, num_tasks);
}

void
thread_work_end(thread_work *work)
{
	if (work->pool != NULL && work->num_tasks > 1)
		work_together(work);
	else
		work_alone(work->function, work->context, work->num_tasks);
}

static int
threads_of(const thread_work *work)
{
	return work->most_threads > 0 ? work->most_threads : threads_allowed();
}

void
thread_work_run(thread_work *work, mgpu_task_function function, void *context, uint64 num_tasks, uint64 least_tasks)
{
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	if (work->pool == NULL && num_tasks >= least_tasks && threads_of(work) > 1)
		work->pool = mgpu_pool_start(threads_of(work));
	thread_work_begin(work, function, context, num_tasks);
	thread_work_end(work);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	work->ms += INSTR_TIME_GET_MILLISEC(end);
}

void
thread_work_stop(int code, Datum arg)
{
	thread_work *work = (thread_work *) DatumGetPointer(arg);

	mgpu_pool_stop(work->pool);
	work->pool = NULL;
}

static void
run_once(int most_threads, mgpu_task_function function, void *context, uint64 num_tasks, uint64 least_tasks)
{
	thread_work work = {.most_threads = most_threads};

	if (num_tasks < least_tasks)
	{
		work_alone(function, context, num_tasks);
		return;
	}
	PG_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&work));
	{
		thread_work_run(&work, function, context, num_tasks, least_tasks);
	}
	PG_END_ENSURE_ERROR_CLEANUP(thread_work_stop, PointerGetDatum(&work));
	thread_work_stop(0, PointerGetDatum(&work));
}

void
thread_work_once(mgpu_task_function function, void *context, uint64 num_tasks, uint64 least_tasks)
{
	run_once(0, function, context, num_tasks, least_tasks);
}

void
thread_work_by(int num_threads, mgpu_task_function function, void *context, uint64 num_tasks)
{
	run_once(num_threads, function, context, num_tasks, 2);
}
