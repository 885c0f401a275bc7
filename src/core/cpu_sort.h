/*
 * cpu_sort.h
 *		Sorts on the calling thread, for small arrays in memory: no run, no
 *		allocation, no check for interrupts.
 */
#ifndef MGPU_CPU_SORT_H
#define MGPU_CPU_SORT_H

#include "executor.h"
#include "sizes.h"

/*
 * Largest calls of the two functions below.  Keys, in bytes: under 50 ms of work and no
 * heap memory.  Pairs, in items: their scratch is on the stack.
 */
#define MGPU_CPU_NOW_KEYS_BYTES MGPU_SIZE(UINT64_C(4) << 20, 16384)
#define MGPU_CPU_NOW_PAIRS MGPU_SIZE(1024, 256)

/* Sort stored keys in place, in PostgreSQL's order.  -0 and NaN become canonical; see float_ties.h. */
void		mgpu_cpu_sort_keys_now(void *keys, uint64_t num_items, uint32_t key_kind,
								   uint32_t key_width, uint32_t descending);

/* Stable: indices[i] = 0-based position of the i-th smallest key.  Keys stay unchanged. */
void		mgpu_cpu_argsort_now(const void *keys, uint32_t *indices, uint32_t num_items,
								 uint32_t key_kind, uint32_t key_width, uint32_t descending);

/*
 * Run a job that mgpu_plan_sorts_now (planner.h) says is small.  Its keys are in memory; those of
 * MGPU_OP_SORT may be in out_keys already, with in_keys the same or NULL.  Floats keep their own
 * bits, in input order.  MGPU_HOST_MEMORY if there is none to remember them.
 */
mgpu_status mgpu_cpu_run_now(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err);

/* Sort unsigned codes of any width in place, ascending.  Sorted and reversed input is detected. */
void		mgpu_sort_codes(void *codes, uint64_t num_items, uint32_t width);

#endif							/* MGPU_CPU_SORT_H */
