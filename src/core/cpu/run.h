/*
 * run.h
 *		Internals of the CPU executor: a run, and what a strategy provides.
 *
 * executor.c owns the run and its threads, input.c its channels.  A strategy (one
 * file each) decides how a job is done: it accepts input, then begins one phase of
 * tasks after another until nothing is left to do.
 *
 *		keys.c, count.c		keys alone
 *		pairs.c				keys with indices or values; partition.c cuts both
 *		segments.c			each segment by itself
 *		tile_merge.c		mergesort in tiles, on request and for statistics
 *		merge_lists.c		two sorted inputs
 *		odd_even.c			Batcher's network
 *		bulk.c				remove and insert
 */
#ifndef MGPU_CPU_RUN_H
#define MGPU_CPU_RUN_H

#include <stdatomic.h>
#include <stddef.h>

#include "core/cpu_codec.h"
#include "core/cpu_threads.h"
#include "core/cpu_tuning.h"
#include "core/cpu_sort.h"

/* Memory of a run: zero pages from the system, or malloc if small. */
typedef struct mgpu_buffer
{
	void	   *data;			/* aligned to 64 bytes; NULL: none */
	uint64_t	bytes;
	bool		mapped;
} mgpu_buffer;

/* Keys to read: stored bytes under the job's codec, or codes under the identity codec. */
typedef struct mgpu_source
{
	const void *data;
	mgpu_codec	codec;
} mgpu_source;

typedef struct mgpu_strategy
{
	mgpu_algorithm algorithm;	/* for the statistics */

	/*
	 * Streamed codes go to out_keys instead of a buffer of the run.  For keys alone,
	 * as pairs may have no out_keys.
	 */
	bool		codes_in_result;

	/*
	 * NULL, or takes num_items streamed values when they are committed; the first
	 * is value number begin.  The run does not hold them.
	 */
	void		(*consume) (mgpu_run *run, const void *items, uint64_t begin, uint64_t num_items);

	/*
	 * NULL, or takes streamed keys of sorts while they arrive.  Called before the
	 * first key, when the threads run; begins a phase by mgpu_stream_begin.  advance
	 * continues after that phase.
	 */
	bool		(*begin_stream) (mgpu_run *run, mgpu_status *status, mgpu_error *err);

	/*
	 * Begin the next phase by mgpu_begin_phase; false when all is done.  Called
	 * between phases.  run->step starts at 0, and the strategy moves it on.  On
	 * failure *status is the error.
	 */
	bool		(*advance) (mgpu_run *run, mgpu_status *status, mgpu_error *err);

	/* NULL, or adds the strategy's counts to the statistics. */
	void		(*stats) (const mgpu_run *run, mgpu_run_stats *stats);

	/* Free run->state.  No task is running. */
	void		(*release) (mgpu_run *run);
} mgpu_strategy;

#define MGPU_MAX_RING_SLOTS 8

struct mgpu_run
{
	mgpu_job	job;
	mgpu_binding binding;
	mgpu_exec_options options;
	mgpu_cpu_tuning tuning;
	mgpu_codec	codec;
	const mgpu_strategy *strategy;
	void	   *state;			/* the strategy's */
	int			step;			/* the strategy's */
	int			num_threads;	/* planned at open; the pool's size once there is a pool */
	mgpu_pool  *pool;			/* from submit on, or from the first slot with begin_stream */
	atomic_bool cancelled;
	bool		submitted;
	bool		phase_open;
	bool		done;
	double		work_ms;		/* inside poll */

	/* input */
	uint64_t	bytes_in[MGPU_NUM_CHANNELS];	/* committed so far */
	uint64_t	slot_bytes[MGPU_NUM_CHANNELS];	/* handed out, not committed */
	mgpu_buffer slot[MGPU_NUM_CHANNELS];	/* buffer handed to the caller */
	mgpu_buffer codes;			/* streamed keys, unless codes_in_result */
	mgpu_buffer held[MGPU_NUM_CHANNELS];	/* other streamed input, unchanged */
	mgpu_source keys;			/* from submit on; data is NULL if keys went through a ring */
	const void *in[MGPU_NUM_CHANNELS];	/* from submit on; for KEYS, use keys */
	mgpu_order_watch order;		/* of streamed keys */
	atomic_bool ascending;		/* of all keys, after the order pass */
	atomic_bool descending;

	/* keys taken while they arrive (stream.c); none if task_items is 0 */
	struct
	{
		mgpu_task_function function;
		uint64_t	task_items;
		uint64_t	num_released;
		mgpu_buffer ring;		/* [num_slots] */
		uint64_t	num_slots;
		_Atomic uint64_t times_emptied[MGPU_MAX_RING_SLOTS];
	}			stream;

	/* arguments of the current pass (passes.c) */
	const void *pass_codes;		/* decode */
	void	   *pass_target;	/* encode */
	bool		pass_reversed;
	uint64_t	pass_items;		/* of one task */
	struct
	{
		char	   *data;
		uint64_t	bytes;
	}			pass_touched[2];	/* touch */
};

/*
 * plan.c: plan a run of this job; *run is zeroed.  num_threads: size of the pool
 * that it gets, or 0 to choose it.
 */
void		mgpu_run_plan(mgpu_run *run, const mgpu_job *job, const mgpu_binding *binding,
						  const mgpu_exec_options *options, int num_threads);

extern const mgpu_strategy mgpu_strategy_direct;
extern const mgpu_strategy mgpu_strategy_count;
extern const mgpu_strategy mgpu_strategy_buckets;
extern const mgpu_strategy mgpu_strategy_pairs;
extern const mgpu_strategy mgpu_strategy_merge;
extern const mgpu_strategy mgpu_strategy_locality;
extern const mgpu_strategy mgpu_strategy_segments;
extern const mgpu_strategy mgpu_strategy_lists;
extern const mgpu_strategy mgpu_strategy_remove;
extern const mgpu_strategy mgpu_strategy_insert;
extern const mgpu_strategy mgpu_strategy_odd_even;

/* buffer.c: false if out of memory, with MGPU_HOST_MEMORY as *status and the message in *err. */
bool		mgpu_buffer_allocate(mgpu_buffer *buffer, uint64_t bytes,
								 mgpu_status *status, mgpu_error *err);
void		mgpu_buffer_free(mgpu_buffer *buffer);

/* phase.c: start the run's threads unless it has them.  MGPU_HOST_MEMORY on failure. */
mgpu_status mgpu_start_threads(mgpu_run *run, mgpu_error *err);

/* phase.c: start a phase of num_tasks >= 1 tasks. */
void		mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks);

/* phase.c: items of one task, and number of tasks, of a pass over all items. */
uint64_t	mgpu_pass_items(const mgpu_run *run, uint32_t item_bytes);
uint64_t	mgpu_num_tasks(uint64_t num_items, uint64_t task_items);

/* passes.c: linear passes that strategies share */

/* Number of ascending positions that are below limit. */
uint64_t	mgpu_positions_below(const uint32_t *positions, uint64_t num_positions, uint64_t limit);

/*
 * Begin a phase that sets run->ascending and run->descending (strictly, for pairs).
 * False if it needs no phase: streamed keys were watched when they arrived.
 */
bool		mgpu_begin_order_pass(mgpu_run *run);

/* Write all outputs in input order, or reversed; for input that is in order. */
void		mgpu_begin_copy_pass(mgpu_run *run, bool reversed);

/*
 * Touch the pages of one or two fresh arrays (second may be NULL).  Otherwise a task
 * that scatters faults a page, perhaps a huge one, at each of hundreds of places,
 * and takes seconds that nobody can cancel.
 */
void		mgpu_begin_touch_pass(mgpu_run *run, void *first, uint64_t first_bytes,
								  void *second, uint64_t second_bytes);

/* Encode all keys to codes, in input order. */
void		mgpu_begin_encode_pass(mgpu_run *run, void *codes);

/* Decode codes to out_keys, which may be codes itself. */
void		mgpu_begin_decode_pass(mgpu_run *run, const void *codes);

/* dst[i] = src[indices[i]]. */
void		mgpu_gather_items(const void *src, uint32_t width, const uint32_t *indices,
							  void *dst, uint64_t num_items);

/* dst[i] = src[packed[i] & mask]. */
void		mgpu_gather_packed(const void *src, uint32_t width, const uint64_t *packed, uint64_t mask,
							   void *dst, uint64_t num_items);

#endif							/* MGPU_CPU_RUN_H */
