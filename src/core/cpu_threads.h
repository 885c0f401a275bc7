/*
 * cpu_threads.h
 *		A few threads and their caller working through numbered tasks.
 *
 * The caller runs phases one after another; a phase is a function and a number
 * of tasks, which the threads and the caller take in ascending order.  Only the
 * caller starts phases, so what a phase writes is seen by the next one, and the
 * caller may touch shared data between phases without locks.  All signals are
 * blocked in the threads: the host process handles them in its own.
 */
#ifndef MGPU_CPU_THREADS_H
#define MGPU_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most threads of one pool, its caller's included. */
#define MGPU_MAX_CPU_THREADS 64

/* How many threads a large call should use where nobody said: at least 1. */
int			mgpu_default_cpu_threads(void);

typedef struct mgpu_pool mgpu_pool;

/* worker: 0 is the caller, then 1, 2, ... for the threads. */
typedef void (*mgpu_task_function) (void *context, uint64_t task, int worker);

/*
 * A pool of up to num_threads including the caller; fewer where threads cannot
 * be made.  NULL when out of memory.
 */
mgpu_pool  *mgpu_pool_start(int num_threads);

/* Threads there are, with the caller. */
int			mgpu_pool_size(const mgpu_pool *pool);

/*
 * Start a phase; the one before must be complete or cancelled and waited for.
 * The task of a phase that has only one is the caller's, worker 0.
 */
void		mgpu_pool_begin(mgpu_pool *pool, mgpu_task_function function, void *context,
							uint64_t num_tasks);

/*
 * As mgpu_pool_begin, of tasks whose input is still on its way: none begins
 * before it is released.  Those below num_tasks are; it only grows.
 */
void		mgpu_pool_begin_held(mgpu_pool *pool, mgpu_task_function function, void *context,
								 uint64_t num_tasks);
void		mgpu_pool_release(mgpu_pool *pool, uint64_t num_tasks);

/*
 * Do one released task, or, where there is none, wait for those that threads are
 * at, at most budget_ms.
 */
void		mgpu_pool_help(mgpu_pool *pool, double budget_ms);

/*
 * Work on the phase: no task is started after budget_ms, and no longer than
 * that is waited for other threads.  Whether the phase is complete.
 */
bool		mgpu_pool_work(mgpu_pool *pool, double budget_ms);

/* No task that has not begun will. */
void		mgpu_pool_cancel(mgpu_pool *pool);

/* Cancel, wait for tasks that have begun, end the threads, free.  NULL is allowed. */
void		mgpu_pool_stop(mgpu_pool *pool);

/* Monotonic clock. */
double		mgpu_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_CPU_THREADS_H */
