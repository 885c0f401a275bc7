/*
 * stream.h
 *		Tasks that take streamed keys while the caller still brings in others.
 *
 * A strategy with begin_stream gets its keys that way; input.c calls what
 * follows.  Tasks are numbered in the order of the keys: number i takes the
 * items [i * task_items, (i + 1) * task_items), as far as there are any.
 */
#ifndef MGPU_CPU_STREAM_H
#define MGPU_CPU_STREAM_H

#include "core/cpu/run.h"

/* Whether streamed keys go through the ring; else tasks find them in run->codes. */
bool		mgpu_stream_uses_ring(const mgpu_run *run);

/* Bytes of a ring whose tasks take so many. */
uint64_t	mgpu_stream_ring_bytes(const mgpu_run *run, uint64_t task_bytes);

/*
 * From a strategy's begin_stream: the phase, of which no task has begun yet.
 * False, with *status and *err, when out of memory.
 */
bool		mgpu_stream_begin(mgpu_run *run, mgpu_task_function function, uint64_t task_items,
							  mgpu_status *status, mgpu_error *err);

/*
 * Where the next keys go; works on tasks until there is room.  MGPU_CANCELLED if
 * there will never be any.
 */
mgpu_status mgpu_stream_slot(mgpu_run *run, void **slot, uint64_t *slot_items, mgpu_error *err);

/* The first bytes of the slot, of a ring, are input: before they count as such. */
void		mgpu_stream_settle(mgpu_run *run, uint64_t bytes);

/* So many items are in, counted from the first: tasks that have theirs may begin. */
void		mgpu_stream_arrived(mgpu_run *run, uint64_t num_items);

/* From a task: item number i, of its own, as it is stored. */
const void *mgpu_stream_key(const mgpu_run *run, uint64_t i);

/* No task runs any more. */
void		mgpu_stream_free(mgpu_run *run);

#endif							/* MGPU_CPU_STREAM_H */
