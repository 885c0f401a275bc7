/*
 * core_threads.c
 *		The thread pool: tasks, phases, budgets, cancellation and signals.
 *
 * Every task runs once, phases run in order, and lone and held tasks run as specified.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "core/cpu_threads.h"
#include "unit.h"

#define NUM_TASKS 5000
#define SLEEPY_TASKS 100000

typedef struct pool_test
{
	atomic_int	times[NUM_TASKS];
	int			plain[NUM_TASKS];	/* written in one phase, read in the next */
	atomic_int	worst_worker;
	atomic_int	num_begun;
	atomic_bool signals_open;
	unsigned	sleep_us;
} pool_test;

static void
first_task(void *context, uint64_t task, int worker)
{
	pool_test  *test = context;

	atomic_fetch_add(&test->times[task], 1);
	test->plain[task] = (int) task + 1;
	if (worker > atomic_load(&test->worst_worker))
		atomic_store(&test->worst_worker, worker);
}

static void
second_task(void *context, uint64_t task, int worker)
{
	pool_test  *test = context;

	(void) worker;
	if (test->plain[NUM_TASKS - 1 - task] == (int) (NUM_TASKS - task))
		atomic_fetch_add(&test->times[task], 1);
}

static void
sleepy_task(void *context, uint64_t task, int worker)
{
	pool_test  *test = context;
	sigset_t	blocked;

	(void) task;
	atomic_fetch_add(&test->num_begun, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (worker > 0 && (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM)))
		atomic_store(&test->signals_open, true);
	usleep(test->sleep_us);
}

static void
lone_task(void *context, uint64_t task, int worker)
{
	pool_test  *test = context;

	atomic_fetch_add(&test->times[task], 1);
	if (worker > 0)
		atomic_store(&test->worst_worker, worker);
}

/*
 * A strategy allocates scratch only for worker 0 if there is only one task.  So no
 * other thread may take a lone task: neither one that starts between begin and work,
 * nor one that is still awake after a phase of many tasks.
 */
static void
test_lone_tasks(int num_threads)
{
	static pool_test test;

	memset(&test, 0, sizeof(test));
	UNIT_CONTEXT("lone tasks, threads %d", num_threads);
	for (int round = 0; round < 50; round++)
	{
		mgpu_pool  *pool = mgpu_pool_start(num_threads);

		for (int phase = 0; phase < 3; phase++)
		{
			mgpu_pool_begin(pool, lone_task, &test, 1);
			usleep(500);
			while (!mgpu_pool_work(pool, 1.0))
				;
			mgpu_pool_begin(pool, second_task, &test, NUM_TASKS);
			while (!mgpu_pool_work(pool, 1.0))
				;
		}
		mgpu_pool_stop(pool);
	}
	UNIT_CHECK(atomic_load(&test.times[0]) == 150);
	UNIT_CHECK(atomic_load(&test.worst_worker) == 0);
}

static void
test_phases(int num_threads)
{
	static pool_test test;
	mgpu_pool  *pool = mgpu_pool_start(num_threads);

	memset(&test, 0, sizeof(test));
	UNIT_CONTEXT("threads %d", num_threads);
	UNIT_CHECK(pool != NULL);
	UNIT_CHECK(mgpu_pool_size(pool) == (num_threads < 1 ? 1 : num_threads > MGPU_MAX_CPU_THREADS ? MGPU_MAX_CPU_THREADS : num_threads));
	for (int round = 0; round < 20; round++)
	{
		mgpu_pool_begin(pool, round % 2 ? second_task : first_task, &test, NUM_TASKS);
		while (!mgpu_pool_work(pool, 1.0))
			;
	}
	for (int i = 0; i < NUM_TASKS; i++)
		UNIT_CHECK(atomic_load(&test.times[i]) == 20);
	UNIT_CHECK(atomic_load(&test.worst_worker) < mgpu_pool_size(pool));
	mgpu_pool_stop(pool);
}

static void
test_budget(int num_threads)
{
	static pool_test test;
	mgpu_pool  *pool = mgpu_pool_start(num_threads);
	double		start_ms;

	memset(&test, 0, sizeof(test));
	UNIT_CONTEXT("budget, threads %d", num_threads);
	test.sleep_us = 2000;
	/* minutes of work, unless it is cancelled */
	mgpu_pool_begin(pool, sleepy_task, &test, SLEEPY_TASKS);
	start_ms = mgpu_now_ms();
	UNIT_CHECK(!mgpu_pool_work(pool, 10.0));
	UNIT_CHECK(mgpu_now_ms() - start_ms >= 9.0);
	mgpu_pool_cancel(pool);
	while (!mgpu_pool_work(pool, 10.0))
		;
	UNIT_CHECK(atomic_load(&test.num_begun) < SLEEPY_TASKS);

	/* a phase after a cancelled one; stop ends it while tasks run */
	mgpu_pool_begin(pool, sleepy_task, &test, SLEEPY_TASKS);
	mgpu_pool_work(pool, 1.0);
	mgpu_pool_stop(pool);
	UNIT_CHECK(atomic_load(&test.num_begun) < 2 * SLEEPY_TASKS);
	UNIT_CHECK(!atomic_load(&test.signals_open));
}

#define HELD_STEP 37

/* Tasks that are released a few at a time.  None begins before its release; all are done at the end. */
static void
test_held(int num_threads)
{
	static pool_test test;
	mgpu_pool  *pool = mgpu_pool_start(num_threads);

	memset(&test, 0, sizeof(test));
	UNIT_CONTEXT("held tasks, threads %d", num_threads);
	for (int round = 0; round < 10; round++)
	{
		mgpu_pool_begin_held(pool, first_task, &test, NUM_TASKS);
		for (int num_released = HELD_STEP; num_released < NUM_TASKS; num_released += HELD_STEP)
		{
			int			until = num_released - 2 * HELD_STEP;

			UNIT_CHECK(atomic_load(&test.times[num_released - HELD_STEP]) == round);
			mgpu_pool_release(pool, (uint64_t) num_released);
			while (until >= 0 && atomic_load(&test.times[until]) == round)
				mgpu_pool_help(pool, 20.0);
		}
		mgpu_pool_help(pool, 20.0);
		UNIT_CHECK(!mgpu_pool_work(pool, 1.0));
		mgpu_pool_release(pool, NUM_TASKS);
		while (!mgpu_pool_work(pool, 1.0))
			;
	}
	for (int i = 0; i < NUM_TASKS; i++)
		UNIT_CHECK(atomic_load(&test.times[i]) == 10);

	/* cancel, or stop, before all tasks are released */
	mgpu_pool_begin_held(pool, first_task, &test, NUM_TASKS);
	mgpu_pool_release(pool, 2);
	mgpu_pool_help(pool, 20.0);
	mgpu_pool_cancel(pool);
	mgpu_pool_release(pool, NUM_TASKS);
	mgpu_pool_help(pool, 20.0);
	UNIT_CHECK(atomic_load(&test.times[2]) == 10);
	mgpu_pool_stop(pool);
	pool = mgpu_pool_start(num_threads);
	mgpu_pool_begin_held(pool, first_task, &test, NUM_TASKS);
	mgpu_pool_stop(pool);
	UNIT_CHECK(atomic_load(&test.times[2]) == 10);
}

int
main(void)
{
	UNIT_CHECK(mgpu_default_cpu_threads() >= 1);
	UNIT_CHECK(mgpu_default_cpu_threads() <= MGPU_MAX_CPU_THREADS);
	mgpu_pool_stop(NULL);
	for (int num_threads = 0; num_threads <= 5; num_threads++)
		test_phases(num_threads);
	test_phases(MGPU_MAX_CPU_THREADS + 10);
	for (int num_threads = 1; num_threads <= 4; num_threads++)
	{
		test_budget(num_threads);
		test_held(num_threads);
	}
	for (int num_threads = 1; num_threads <= 8; num_threads *= 2)
		test_lone_tasks(num_threads);
	return unit_report();
}
