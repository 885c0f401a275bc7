/*
 * input.h
 *		Input channels of a CPU run: slots, and where streamed input goes.
 *
 * A channel without whole input in the binding is streamed through a slot: one
 * small buffer that stays in cache, which commit empties.  Keys of sorts are encoded
 * on their way out of it, into run->codes or the result, and their order is
 * watched.  A strategy may consume values, or take keys while they arrive, through a
 * ring of slots if the job has keys alone.  All other input is held
 * unchanged.
 */
#ifndef MGPU_CPU_INPUT_H
#define MGPU_CPU_INPUT_H

#include "core/cpu/cpu_run.h"

/* Slots and what holds streamed input; false if out of memory. */
bool		mgpu_input_allocate(mgpu_run *run);

/* As in executor.h. */
mgpu_status mgpu_input_slot(mgpu_run *run, mgpu_channel channel,
							void **slot, uint64_t *slot_bytes, mgpu_error *err);
mgpu_status mgpu_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err);

/* All input is in: set run->keys and run->in.  MGPU_BAD_JOB if input is missing. */
mgpu_status mgpu_input_bind(mgpu_run *run, mgpu_error *err);

/*
 * For strategies with begin_stream: tasks that take streamed keys while the caller still brings in
 * others.  Tasks are numbered in the order of the keys: task i takes the items
 * [i * task_items, (i + 1) * task_items), as far as there are any.
 */

/* Whether streamed keys go through the ring; otherwise tasks find them in run->codes. */
bool		mgpu_stream_uses_ring(const mgpu_run *run);

/*
 * Called by a strategy's begin_stream: begin the phase, with no task released yet.
 * False if out of memory.
 */
bool		mgpu_stream_begin(mgpu_run *run, mgpu_task_function function, uint64_t task_items);

/* Place of item i in the ring, as stored, while its task's slot holds it. */
char	   *mgpu_stream_key(const mgpu_run *run, uint64_t i);

#endif							/* MGPU_CPU_INPUT_H */
