/*
 * run.h
 *		Inside of the CPU executor: a run, and what a strategy provides.
 *
 * executor.c owns the run, its input channels and its threads.  A strategy
 * (one file each) is how a job is sorted: it accepts input, then hands out one
 * phase of tasks after another until it has nothing left to do.
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

/* Memory of the run's own: zero pages from the system, or malloc when small. */
typedef struct mgpu_buffer
{
	void	   *data;			/* aligned to 64 bytes; NULL: none */
	uint64_t	bytes;
	bool		mapped;
} mgpu_buffer;

/* Keys to read: stored bytes under the job's codec, or codes under identity. */
typedef struct mgpu_source
{
	const void *data;
	mgpu_codec	codec;
} mgpu_source;

typedef struct mgpu_strategy
{
	mgpu_algorithm algorithm;	/* for the statistics */

	/*
	 * Streamed codes belong in out_keys rather than in a buffer of the run.
	 * Holds for keys alone: pairs may have no out_keys.
	 */
	bool		codes_in_result;

	/*
	 * NULL, or takes streamed values as they are committed: num_items of them,
	 * the first one being number begin.  They are then not held.
	 */
	void		(*consume) (mgpu_run *run, const void *items, uint64_t begin, uint64_t num_items);

	/*
	 * NULL, or takes streamed keys of sorts while they come: called before the
	 * first of them, with threads there, it begins a phase by mgpu_stream_begin.
	 * advance then goes on with what follows that phase.
	 */
	bool		(*begin_stream) (mgpu_run *run, mgpu_status *status, mgpu_error *err);

	/*
	 * Work that has no phase of its own, and the next phase by begin_phase;
	 * false when all is done.  Called between phases with run->step counting
	 * from 0; a strategy moves it on itself.  On failure *status says why.
	 */
	bool		(*advance) (mgpu_run *run, mgpu_status *status, mgpu_error *err);

	/* NULL, or adds to the statistics what run->state knows. */
	void		(*stats) (const mgpu_run *run, mgpu_run_stats *stats);

	/* Free run->state.  Threads are gone by then. */
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
	int			num_threads;	/* planned at open; the pool's where there is one */
	mgpu_pool  *pool;			/* from submit on, or from the first slot of a stream's */
	atomic_bool cancelled;
	bool		submitted;
	bool		phase_open;
	bool		done;
	double		work_ms;		/* inside submit and poll */

	/* input */
	uint64_t	bytes_in[MGPU_NUM_CHANNELS];	/* committed so far */
	uint64_t	slot_bytes[MGPU_NUM_CHANNELS];	/* handed out, not committed */
	mgpu_buffer slot[MGPU_NUM_CHANNELS];	/* items on their way in */
	mgpu_buffer codes;			/* streamed keys, unless codes_in_result */
	mgpu_buffer held[MGPU_NUM_CHANNELS];	/* other streams, as they came */
	mgpu_source keys;			/* from submit on; data is NULL if they went through a ring */
	const void *in[MGPU_NUM_CHANNELS];	/* from submit on; KEYS: use keys */
	mgpu_order_watch order;		/* of streamed keys */
	atomic_bool ascending;		/* of all keys, from the order phase on */
	atomic_bool descending;

	/* keys that are worked on as they come (stream.c); task_items is 0: none */
	struct
	{
		mgpu_task_function function;
		uint64_t	task_items;
		uint64_t	num_released;
		mgpu_buffer ring;		/* [num_slots] */
		uint64_t	num_slots;
		_Atomic uint64_t times_emptied[MGPU_MAX_RING_SLOTS];
	}			stream;

	/* arguments of the pass that runs (passes.c) */
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
 * plan.c: a run of this job on a pool of num_threads, or of as many as pay
 * if 0.  Everything that is not planned is zero.
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

/* buffer.c: false, with the message in *err and MGPU_HOST_MEMORY as *status, if there is none. */
bool		mgpu_buffer_allocate(mgpu_buffer *buffer, uint64_t bytes,
								 mgpu_status *status, mgpu_error *err);
void		mgpu_buffer_free(mgpu_buffer *buffer);

/* executor.c: the run's threads, unless it has them.  MGPU_HOST_MEMORY without. */
mgpu_status mgpu_start_threads(mgpu_run *run, mgpu_error *err);

/* executor.c: start a phase of num_tasks >= 1 tasks. */
void		mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks);

/* passes.c: linear passes that strategies share */

/* How many of ascending positions (heads of segments, places of items) are below limit. */
uint64_t	mgpu_positions_below(const uint32_t *positions, uint64_t num_positions, uint64_t limit);

/* Items of one task, and number of tasks, of a pass over all items. */
uint64_t	mgpu_pass_items(const mgpu_run *run, uint32_t item_bytes);
uint64_t	mgpu_num_tasks(uint64_t num_items, uint64_t task_items);

/*
 * A phase that finds run->ascending and run->descending (strictly, for pairs).
 * False when nothing needs a phase: they are known from the stream.
 */
bool		mgpu_begin_order_pass(mgpu_run *run);

/* All outputs in input order, or reversed; for input that is in order. */
void		mgpu_begin_copy_pass(mgpu_run *run, bool reversed);

/*
 * Touch the pages of one or two arrays (NULL: one) that nothing was written to
 * yet.  A task that scatters would otherwise fault a page for each of hundreds
 * of places, huge ones maybe, and take seconds that nobody can cancel.
 */
void		mgpu_begin_touch_pass(mgpu_run *run, void *first, uint64_t first_bytes,
								  void *second, uint64_t second_bytes);

/* codes of all keys, in input order. */
void		mgpu_begin_encode_pass(mgpu_run *run, void *codes);

/* out_keys decoded from codes, which may be out_keys itself. */
void		mgpu_begin_decode_pass(mgpu_run *run, const void *codes);

/* dst[i] = src[indices[i]]. */
void		mgpu_gather_items(const void *src, uint32_t width, const uint32_t *indices,
							  void *dst, uint64_t num_items);

/* dst[i] = src[packed[i] & mask]. */
void		mgpu_gather_packed(const void *src, uint32_t width, const uint64_t *packed, uint64_t mask,
							   void *dst, uint64_t num_items);

#endif							/* MGPU_CPU_RUN_H */
