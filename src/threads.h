/*
 * threads.h
 *		Threads for phases of a SQL call that an executor has no job for.
 */
#ifndef MGPU_THREADS_H
#define MGPU_THREADS_H

#include "core/cpu_threads.h"

/* Threads that one large call may use on the CPU, its own among them. */
extern int	threads_allowed(void);

/* Zeroed to begin with. */
typedef struct thread_work
{
	mgpu_pool  *pool;			/* NULL: not needed yet */
	double		ms;				/* that phases took */
} thread_work;

/*
 * Run a phase, by threads from least_tasks tasks on, and look at interrupts.
 * Tasks begin in ascending order; they must call nothing of PostgreSQL's that
 * allocates, throws or looks anything up.  Whoever calls this has
 * thread_work_stop called on every way out, errors and the process's end included
 * (PG_ENSURE_ERROR_CLEANUP).  An error in here has ended the threads already:
 * context may be in a frame that is gone by then.
 */
extern void thread_work_run(thread_work *work, mgpu_task_function function, void *context,
							uint64 num_tasks, uint64 least_tasks);

/* End the threads: a callback, arg is the work. */
extern void thread_work_stop(int code, Datum arg);

/* A phase by itself, with all of that taken care of. */
extern void thread_work_once(mgpu_task_function function, void *context, uint64 num_tasks, uint64 least_tasks);

#endif							/* MGPU_THREADS_H */
