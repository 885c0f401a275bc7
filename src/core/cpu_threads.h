/*
 * cpu_threads.h
 *		A few threads and their caller that work through numbered tasks.
 *
 * The caller runs one phase after another.  A phase is a function and a number of
 * tasks, which the threads and the caller take in ascending order.  Only the caller
 * starts phases, so each phase sees what the previous one wrote, and the caller may
 * touch shared data between phases without locks.  The threads block all signals,
 * which are for the host's own threads.
 */
#ifndef MGPU_CPU_THREADS_H
#define MGPU_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most threads of one pool, with the caller. */
#define MGPU_MAX_CPU_THREADS 64

/*
 * Default number of threads of a large call, at least 1: by the processors that this
 * process could use at the first call.
 */
int			mgpu_default_cpu_threads(void);

typedef struct mgpu_pool mgpu_pool;

/* worker: 0 is the caller, then 1, 2, ... for the threads. */
typedef void (*mgpu_task_function) (void *context, uint64_t task, int worker);

/*
 * Start a pool of up to num_threads threads, with the caller; fewer if the system
 * refuses some.  NULL if out of memory.
 */
mgpu_pool  *mgpu_pool_start(int num_threads);

/* Number of threads, with the caller. */
int			mgpu_pool_size(const mgpu_pool *pool);

/*
 * Start a phase.  The previous phase must be complete, or cancelled with no task
 * running.  A phase of one task runs on the caller, as worker 0.
 */
void		mgpu_pool_begin(mgpu_pool *pool, mgpu_task_function function, void *context,
							uint64_t num_tasks);

/*
 * As mgpu_pool_begin, for tasks whose input still arrives: a task begins only after
 * its release.  mgpu_pool_release releases the tasks below num_tasks, which may only
 * grow.
 */
void		mgpu_pool_begin_held(mgpu_pool *pool, mgpu_task_function function, void *context,
								 uint64_t num_tasks);
void		mgpu_pool_release(mgpu_pool *pool, uint64_t num_tasks);

/* Do one released task.  If there is none, wait at most budget_ms for running tasks to end. */
void		mgpu_pool_help(mgpu_pool *pool, double budget_ms);

/*
 * Work on the phase.  Starts no task after budget_ms, and waits for other threads no
 * longer than that.  Returns whether the phase is complete.
 */
bool		mgpu_pool_work(mgpu_pool *pool, double budget_ms);

/* Start no further task of the phase. */
void		mgpu_pool_cancel(mgpu_pool *pool);

/* Cancel, wait for running tasks, end the threads, free the pool.  NULL is allowed. */
void		mgpu_pool_stop(mgpu_pool *pool);

/* Monotonic clock, in milliseconds. */
double		mgpu_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_CPU_THREADS_H */
