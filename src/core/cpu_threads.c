/*
 * cpu_threads.c
 *		See cpu_threads.h.
 *
 * Threads take tasks by one atomic counter, up to a second counter that grows while
 * input arrives.  A thread enters and leaves a phase under the mutex.  So "no task
 * left and nobody inside" means complete, and a thread that wakes late sees the
 * next phase whole.  Every thread leaves a lone task to the caller, even a thread
 * that has just started and needs no signal.  A queue with one entry a task was
 * rejected: tasks are numbers, all known when the phase begins.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * A database server runs many sessions.  So one call takes half of the cores, but at
 * least LEAST_THREADS (if there are that many) and at most MOST_THREADS, where
 * memory becomes the limit.
 */
#define LEAST_THREADS 4
#define MOST_THREADS 8

/* Tasks keep a few tens of kilobytes on the stack; sanitizers multiply that. */
#define THREAD_STACK_BYTES ((size_t) 1 << 20)

struct mgpu_pool
{
	pthread_mutex_t mutex;		/* guards all fields without another comment */
	pthread_cond_t work_ready;
	pthread_cond_t work_done;
	mgpu_task_function function;	/* fixed while a phase runs, as are the next two */
	void	   *context;
	uint64_t	num_tasks;
	_Atomic uint64_t next_task;
	_Atomic uint64_t num_released;	/* tasks that may begin: num_tasks, or fewer */
	int			num_inside;		/* threads inside the phase, without the caller */
	bool		stopping;
	int			num_threads;	/* with the caller; threads do not read it */
	pthread_t	threads[MGPU_MAX_CPU_THREADS];
	struct mgpu_worker
	{
		mgpu_pool  *pool;
		int			number;
	}			workers[MGPU_MAX_CPU_THREADS];
};

static int
count_default_threads(void)
{
	cpu_set_t	allowed;
	int			num_cpus;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		num_cpus = CPU_COUNT(&allowed);
	else
		num_cpus = (int) sysconf(_SC_NPROCESSORS_ONLN);
	if (num_cpus < 1)
		return 1;
	if (num_cpus <= LEAST_THREADS)
		return num_cpus;
	if (num_cpus / 2 < LEAST_THREADS)
		return LEAST_THREADS;
	return num_cpus / 2 < MOST_THREADS ? num_cpus / 2 : MOST_THREADS;
}

int
mgpu_default_cpu_threads(void)
{
	/* kept, because the system call takes as long as the rest of a small call */
	static _Atomic int num_threads;

	if (num_threads == 0)
		num_threads = count_default_threads();
	return num_threads;
}

double
mgpu_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

/* Whether the phase has work for threads other than the caller.  Call with the mutex held. */
static bool
is_work_left(const mgpu_pool *pool)
{
	return pool->num_tasks > 1 && atomic_load(&pool->next_task) < atomic_load(&pool->num_released);
}

/* False if no released task is left. */
static bool
take_task(mgpu_pool *pool, uint64_t *task)
{
	*task = atomic_load(&pool->next_task);
	while (*task < atomic_load(&pool->num_released))
		if (atomic_compare_exchange_weak(&pool->next_task, task, *task + 1))
			return true;
	return false;
}

static void *
thread_main(void *argument)
{
	struct mgpu_worker *worker = argument;
	mgpu_pool  *pool = worker->pool;

	pthread_mutex_lock(&pool->mutex);
	for (;;)
	{
		uint64_t	task;

		while (!pool->stopping && !is_work_left(pool))
			pthread_cond_wait(&pool->work_ready, &pool->mutex);
		if (pool->stopping)
			break;
		pool->num_inside++;
		pthread_mutex_unlock(&pool->mutex);
		while (take_task(pool, &task))
			pool->function(pool->context, task, worker->number);
		pthread_mutex_lock(&pool->mutex);
		if (--pool->num_inside == 0)
			pthread_cond_signal(&pool->work_done);
	}
	pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

static void
create_threads(mgpu_pool *pool, int num_threads)
{
	pthread_attr_t attributes;
	sigset_t	all,
				before;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pool->num_threads < num_threads)
	{
		int			number = pool->num_threads;

		pool->workers[number].pool = pool;
		pool->workers[number].number = number;
		if (pthread_create(&pool->threads[number], &attributes, thread_main, &pool->workers[number]) != 0)
			break;
		pool->num_threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

mgpu_pool *
mgpu_pool_start(int num_threads)
{
	mgpu_pool  *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t monotonic;

	if (pool == NULL)
		return NULL;
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->work_ready, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->work_done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pool->num_threads = 1;
	if (num_threads > 1)
		create_threads(pool, num_threads < MGPU_MAX_CPU_THREADS ? num_threads : MGPU_MAX_CPU_THREADS);
	return pool;
}

int
mgpu_pool_size(const mgpu_pool *pool)
{
	return pool->num_threads;
}

void
mgpu_pool_begin_held(mgpu_pool *pool, mgpu_task_function function, void *context, uint64_t num_tasks)
{
	pthread_mutex_lock(&pool->mutex);
	pool->function = function;
	pool->context = context;
	pool->num_tasks = num_tasks;
	atomic_store(&pool->num_released, 0);
	atomic_store(&pool->next_task, 0);
	pthread_mutex_unlock(&pool->mutex);
}

void
mgpu_pool_release(mgpu_pool *pool, uint64_t num_tasks)
{
	uint64_t	num_more;

	pthread_mutex_lock(&pool->mutex);
	num_more = num_tasks - atomic_load(&pool->num_released);
	atomic_store(&pool->num_released, num_tasks);
	if (pool->num_tasks > 1 && num_more == 1)
		pthread_cond_signal(&pool->work_ready);
	else if (pool->num_tasks > 1)
		pthread_cond_broadcast(&pool->work_ready);
	pthread_mutex_unlock(&pool->mutex);
}

void
mgpu_pool_begin(mgpu_pool *pool, mgpu_task_function function, void *context, uint64_t num_tasks)
{
	mgpu_pool_begin_held(pool, function, context, num_tasks);
	mgpu_pool_release(pool, num_tasks);
}

static struct timespec
timespec_of_ms(double ms)
{
	struct timespec time;

	time.tv_sec = (time_t) (ms / 1e3);
	time.tv_nsec = (long) ((ms - (double) time.tv_sec * 1e3) * 1e6);
	return time;
}

/* Wait until no thread is inside the phase, or until deadline_ms.  Call with the mutex held. */
static void
wait_until_left(mgpu_pool *pool, double deadline_ms)
{
	struct timespec deadline = timespec_of_ms(deadline_ms);

	while (pool->num_inside > 0 &&
		   pthread_cond_timedwait(&pool->work_done, &pool->mutex, &deadline) != ETIMEDOUT)
		;
}

void
mgpu_pool_help(mgpu_pool *pool, double budget_ms)
{
	uint64_t	task;

	if (take_task(pool, &task))
	{
		pool->function(pool->context, task, 0);
		return;
	}
	pthread_mutex_lock(&pool->mutex);
	wait_until_left(pool, mgpu_now_ms() + budget_ms);
	pthread_mutex_unlock(&pool->mutex);
}

bool
mgpu_pool_work(mgpu_pool *pool, double budget_ms)
{
	double		deadline_ms = mgpu_now_ms() + budget_ms;
	uint64_t	task;
	bool		complete;

	while (mgpu_now_ms() < deadline_ms && take_task(pool, &task))
		pool->function(pool->context, task, 0);
	pthread_mutex_lock(&pool->mutex);
	wait_until_left(pool, deadline_ms);
	complete = pool->num_inside == 0 && atomic_load(&pool->next_task) >= pool->num_tasks;
	pthread_mutex_unlock(&pool->mutex);
	return complete;
}

void
mgpu_pool_cancel(mgpu_pool *pool)
{
	atomic_store(&pool->next_task, UINT64_MAX / 2);
}

void
mgpu_pool_stop(mgpu_pool *pool)
{
	if (pool == NULL)
		return;
	mgpu_pool_cancel(pool);
	pthread_mutex_lock(&pool->mutex);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->work_ready);
	pthread_mutex_unlock(&pool->mutex);
	for (int i = 1; i < pool->num_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->work_done);
	pthread_cond_destroy(&pool->work_ready);
	pthread_mutex_destroy(&pool->mutex);
	free(pool);
}
