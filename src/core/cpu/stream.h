/*
 * stream.h
 *		Tasks that take streamed keys while the caller still brings in others.
 *
 * A strategy with begin_stream gets its keys this way; input.c calls the other
 * functions.  Tasks are numbered in the order of the keys: task i takes the items
 * [i * task_items, (i + 1) * task_items), as far as there are any.
 */
#ifndef MGPU_CPU_STREAM_H
#define MGPU_CPU_STREAM_H

#include "core/cpu/cpu_run.h"

/* Whether streamed keys go through the ring; otherwise tasks find them in run->codes. */
bool		mgpu_stream_uses_ring(const mgpu_run *run);

/*
 * Called by a strategy's begin_stream: begin the phase, with no task released yet.
 * False if out of memory.
 */
bool		mgpu_stream_begin(mgpu_run *run, mgpu_task_function function, uint64_t task_items);

/* The buffer for the next keys.  Works on tasks until a slot is free.  MGPU_CANCELLED if none will be. */
mgpu_status mgpu_stream_slot(mgpu_run *run, void **slot, uint64_t *slot_items, mgpu_error *err);

/*
 * Move the bytes just written to a slot of the ring to their place.  Call this
 * before they count as input.
 */
void		mgpu_stream_settle(mgpu_run *run, uint64_t bytes);

/* The first num_items items are in: release the tasks that have all of theirs. */
void		mgpu_stream_arrived(mgpu_run *run, uint64_t num_items);

/* Place of item i in the ring, as stored, while its task's slot holds it. */
char	   *mgpu_stream_key(const mgpu_run *run, uint64_t i);

#endif							/* MGPU_CPU_STREAM_H */
