/*
 * cpu_run.h
 *		Internals of the CPU executor: a run, and what a strategy provides.
 *
 * executor.c owns the run and its threads, input.c its channels, phase.c its phases.  A strategy (one
 * file each) decides how a job is done: it accepts input, then begins one phase of
 * tasks after another until nothing is left to do.
 *
 *		keys.c, count.c		keys alone
 *		pairs.c				keys with indices or values; partition.c cuts both
 *		segments.c			each segment by itself
 *		tile_merge.c		mergesort in tiles, on request and for statistics
 *		merge_lists.c		two sorted inputs
 *		odd_even_sort.c	Batcher's network
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
#include "core/search.h"

/* Keys to read: stored bytes under the job's codec, or codes under the identity codec. */
typedef struct mgpu_source
{
	const void *data;
	mgpu_codec	codec;
} mgpu_source;

typedef struct mgpu_strategy
{
	mgpu_algorithm algorithm;	/* for the statistics; AUTO: the requested one */
	size_t		state_bytes;	/* of run->state, which is zeroed */

	/*
	 * Streamed codes go to out_keys instead of a buffer of the run.  For keys alone,
	 * as pairs may have no out_keys.
	 */
	bool		codes_in_result;

	/* Input in ascending or descending order is copied, and advance is not called. */
	bool		copies_ordered;

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
	bool		(*begin_stream) (mgpu_run *run);

	/*
	 * Begin the next phase by mgpu_begin_phase; false when all is done.  Called
	 * between phases.  run->step starts at 0, and the strategy moves it on.  A
	 * failure is in run->error.
	 */
	bool		(*advance) (mgpu_run *run);

	/* NULL, or adds the strategy's counts to the statistics. */
	void		(*stats) (const mgpu_run *run, mgpu_run_stats *stats);
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
	struct mgpu_block *memory;	/* all that the run has allocated */
	mgpu_error	error;			/* why the run failed; or MGPU_OK */
	mgpu_run   *part;			/* sorts a part of the items; or NULL */
	int			num_threads;	/* planned at open; the pool's size once there is a pool */
	mgpu_pool  *pool;			/* from submit on, or from the first slot with begin_stream; none if short */
	atomic_bool cancelled;
	bool		submitted;
	bool		phase_open;
	bool		done;
	double		work_ms;		/* inside poll */

	/* input */
	uint64_t	bytes_in[MGPU_NUM_CHANNELS];	/* committed so far */
	uint64_t	slot_bytes[MGPU_NUM_CHANNELS];	/* handed out, not committed */
	char	   *slot[MGPU_NUM_CHANNELS];	/* buffer handed to the caller */
	char	   *codes;			/* streamed keys, unless codes_in_result */
	char	   *held[MGPU_NUM_CHANNELS];	/* other streamed input, unchanged */
	mgpu_source keys;			/* from submit on; data is NULL if keys went through a ring */
	const void *in[MGPU_NUM_CHANNELS];	/* from submit on; for KEYS, use keys */

	/* with copies_ordered (phase.c) */
	mgpu_order_watch order;		/* of streamed keys */
	int			order_step;
	atomic_bool ascending;		/* of all keys, after the order pass */
	atomic_bool descending;
	bool		is_copied;

	/* keys taken while they arrive (input.c); none if task_items is 0 */
	struct
	{
		mgpu_task_function function;
		uint64_t	task_items;
		uint64_t	num_released;
		char	   *ring;		/* [num_slots] */
		uint64_t	num_slots;
		_Atomic uint64_t times_emptied[MGPU_MAX_RING_SLOTS];
	}			stream;

	/* arguments of the current pass */
	bool		pass_reversed;
	uint64_t	pass_items;		/* of one task */
	struct
	{
		char	   *data;
		uint64_t	bytes;
	}			pass_touched[2];	/* touch */
};

/* executor.c: the strategy of a job that sorts an array as a whole, by any algorithm. */
const mgpu_strategy *mgpu_array_strategy(const mgpu_job *job, int num_threads);

extern const mgpu_strategy mgpu_strategy_direct;
extern const mgpu_strategy mgpu_strategy_count;
extern const mgpu_strategy mgpu_strategy_buckets;
extern const mgpu_strategy mgpu_strategy_pairs;
extern const mgpu_strategy mgpu_strategy_tiles;
extern const mgpu_strategy mgpu_strategy_segments;
extern const mgpu_strategy mgpu_strategy_lists;
extern const mgpu_strategy mgpu_strategy_remove;
extern const mgpu_strategy mgpu_strategy_insert;
extern const mgpu_strategy mgpu_strategy_odd_even;

/* cpu_run.c: NULL if out of memory. */
mgpu_run   *mgpu_run_create(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options,
							const mgpu_strategy *strategy, int num_threads);

/*
 * cpu_run.c: memory that lives as long as the run, aligned to 64 bytes.  NULL, with the
 * reason in run->error, if there is none.
 */
void	   *mgpu_allocate(mgpu_run *run, uint64_t bytes);

/* cpu_run.c: free a run, its memory and its part.  No task is running; the pool is not freed.  NULL is allowed. */
void		mgpu_run_free(mgpu_run *run);

/* run->error as the executor's functions return it. */
static inline mgpu_status
mgpu_run_status(const mgpu_run *run, mgpu_error *err)
{
	return run->error.status == MGPU_OK ? MGPU_OK : mgpu_fail(err, run->error.status, "%s", run->error.message);
}

/* phase.c: start the run's threads unless it has them.  False on failure. */
bool		mgpu_start_threads(mgpu_run *run);

/* phase.c: start a phase of num_tasks >= 1 tasks.  A run without a pool does them before this returns. */
void		mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks);

/* phase.c: start a phase over all items; item_bytes sets run->pass_items, those of one task. */
void		mgpu_begin_pass(mgpu_run *run, mgpu_task_function function, uint32_t item_bytes);

/* phase.c: items of one task, and number of tasks, of a pass. */
uint64_t	mgpu_pass_items(const mgpu_run *run, uint32_t item_bytes);
uint64_t	mgpu_num_tasks(uint64_t num_items, uint64_t task_items);

/* phase.c: begin the next phase; false when all is done, or with the reason in run->error. */
bool		mgpu_run_next_phase(mgpu_run *run);

static inline uint64_t
mgpu_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One past the last item of a task of a pass. */
static inline uint64_t
mgpu_task_end(const mgpu_run *run, uint64_t task)
{
	return mgpu_min((task + 1) * run->pass_items, run->job.num_items);
}

/* Key i of the input, from submit on, and its place in the result. */
static inline const void *
mgpu_key_at(const mgpu_run *run, uint64_t i)
{
	return (const char *) run->keys.data + i * run->job.key_width;
}

static inline void *
mgpu_out_key_at(const mgpu_run *run, uint64_t i)
{
	return (char *) run->binding.out_keys + i * run->job.key_width;
}

/* phase.c: linear passes that strategies share */

/* Number of ascending positions that are below limit. */
uint64_t	mgpu_positions_below(const uint32_t *positions, uint64_t num_positions, uint64_t limit);

/*
 * Touch the pages of one or two fresh arrays (second may be NULL).  Otherwise a task
 * that scatters faults a page, perhaps a huge one, at each of hundreds of places,
 * and takes seconds that nobody can cancel.
 */
void		mgpu_begin_touch_pass(mgpu_run *run, void *first, uint64_t first_bytes,
								  void *second, uint64_t second_bytes);

/* Encode all keys to out_keys, in input order; decode the codes in out_keys. */
void		mgpu_begin_encode_pass(mgpu_run *run);
void		mgpu_begin_decode_pass(mgpu_run *run);

/* dst[i] = src[indices[i]]. */
void		mgpu_gather_items(const void *src, uint32_t width, const uint32_t *indices,
							  void *dst, uint64_t num_items);

/* dst[i] = src[packed[i] & mask]. */
void		mgpu_gather_packed(const void *src, uint32_t width, const uint64_t *packed, uint64_t mask,
							   void *dst, uint64_t num_items);

#endif							/* MGPU_CPU_RUN_H */
