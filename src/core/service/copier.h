/*
 * service/copier.h
 *		Copies slices between extents and a run's own memory, by several threads.
 *
 * The link brings 55 GB/s and one core copies 7 to 10.  Tasks are taken in order and
 * end nearly in order:
 *
 *	 finished       claimed        added
 *	    | being copied | waits ...... | free (tasks in a circle)
 *
 * The threads run no code of the caller, have all signals blocked, and end in stop.
 */
#ifndef MGPU_SERVICE_COPIER_H
#define MGPU_SERVICE_COPIER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/service/slot.h"

typedef struct mgpu_copier mgpu_copier;

/* Tasks that may be unfinished at a time. */
#define MGPU_COPIER_TASKS MGPU_SLOT_EXTENTS

/* num_threads: the limit, the caller included; fewer if the system refuses some.  NULL: no memory. */
mgpu_copier *mgpu_copier_start(int num_threads);

/* Threads that copy, the caller's included. */
int			mgpu_copier_num_threads(const mgpu_copier *copier);

/* tag is handed back by mgpu_copier_finished. */
void		mgpu_copier_add(mgpu_copier *copier, void *target, const void *source, uint64_t bytes, uint64_t tag);

/* Tasks added and not yet handed back. */
int			mgpu_copier_num_tasks(const mgpu_copier *copier);

/* Copy a piece; false if threads have taken all there is. */
bool		mgpu_copier_help(mgpu_copier *copier);

/* The tag of the oldest task if it is complete, which frees its place. */
bool		mgpu_copier_finished(mgpu_copier *copier, uint64_t *tag);

/* Wait until the oldest task is complete.  All its pieces must be taken: after help returned false. */
void		mgpu_copier_wait(mgpu_copier *copier);

/* End the threads and free.  Afterwards nothing is copied.  NULL is allowed. */
void		mgpu_copier_stop(mgpu_copier *copier);

#endif							/* MGPU_SERVICE_COPIER_H */
