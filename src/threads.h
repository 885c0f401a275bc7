/*
 * threads.h
 *		Threads for the parts of a SQL call that run outside an executor.
 */
#ifndef MGPU_THREADS_H
#define MGPU_THREADS_H

#include "core/cpu_threads.h"

/* Number of threads that one large call may use on the CPU, including its own. */
extern int	threads_allowed(void);

/* Have the stack grow as far as jobs need it.  Call it once, when the library is loaded. */
extern void threads_reserve_stack(void);

/* The threads of one call.  Zero it before the first use. */
typedef struct thread_work
{
	int			most_threads;	/* 0: as many as are allowed */
	mgpu_pool  *pool;			/* NULL: not started */
	double		ms;				/* total time of all phases */

	/* what was begun */
	mgpu_task_function function;
	void	   *context;
	uint64		num_tasks;
} thread_work;

/*
 * Run num_tasks tasks, with checks for interrupts.  From least_tasks on, threads run them.  Tasks
 * begin in ascending order.  They must not call PostgreSQL code that allocates, throws or looks
 * anything up.
 *
 * The caller ensures that thread_work_stop runs on every exit, including errors and the end of
 * the process (PG_ENSURE_ERROR_CLEANUP).  If this function throws, it has already ended the
 * threads: context may lie in a stack frame that the error leaves.
 */
extern void thread_work_run(thread_work *work, mgpu_task_function function, void *context,
							uint64 num_tasks, uint64 least_tasks);

/*
 * Begin tasks, and have them done.  Between the two, threads run them and the caller does other work; where no threads were
 * started, the caller runs all of them at the end.
 */
extern void thread_work_begin(thread_work *work, mgpu_task_function function, void *context, uint64 num_tasks);
extern void thread_work_end(thread_work *work);

/* End the threads.  This is a cleanup callback; arg points to the thread_work. */
extern void thread_work_stop(int code, Datum arg);

/* Run one phase, and start and end its threads; the second by so many, if it has more than one task. */
extern void thread_work_once(mgpu_task_function function, void *context, uint64 num_tasks, uint64 least_tasks);
extern void thread_work_by(int num_threads, mgpu_task_function function, void *context, uint64 num_tasks);

#endif							/* MGPU_THREADS_H */
