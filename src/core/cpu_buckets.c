/*
 * cpu_buckets.c
 *		Strategy for keys alone that are many, or sorted by several threads.
 *
 * Bounds are chosen from a sample.  Chunks that fit a cache are put into bucket
 * order (cpu_split.h) and their buckets' sizes counted; then each chunk's pieces
 * move to their buckets in the result; then each bucket is sorted and decoded
 * while in cache.  All three are phases of independent tasks.  The splits are
 * passes that vqsort saves later, so the whole costs one copy more than a sort
 * of everything at once.
 *
 * Streamed codes are the run's own, so their chunks are split in place and move
 * from there.  Whole input may not be written: a chunk is encoded and split in
 * scratch memory twice, once to count and once to move.
 *
 * Sorting chunks and merging them was rejected: merging is scalar and takes a
 * pass for each doubling.  So was an in-place parallel quicksort: its first
 * partitions are serial.
 */
#include "cpu_chunks.h"

#include <stdlib.h>
#include <string.h>

typedef struct bucket_state
{
	mgpu_bounds bounds;
	mgpu_split_level level;
	uint32_t	planned_buckets;
	int			num_samplings;
	mgpu_chunks chunks;			/* columns are buckets */
	mgpu_buffer scratch;		/* [workers]: a chunk's spill, then its copy */
	uint64_t	spill_bytes;	/* of a worker's scratch, as is the copy */
	uint64_t	begin[MGPU_MAX_BUCKETS + 1];
} bucket_state;

/* Items of a chunk that stays in cache. */
static uint64_t
best_chunk_items(const mgpu_run *run)
{
	return run->tuning.chunk_bytes / run->job.key_width;
}

static uint64_t
plan_spill_bytes(const mgpu_run *run)
{
	uint64_t	chunk_items = mgpu_plan_chunk_items(run->job.num_items, best_chunk_items(run));

	return (chunk_items * run->job.key_width + 127) / 64 * 64;
}

static uint32_t
plan_buckets(const mgpu_run *run)
{
	uint64_t	num_buckets = run->job.num_items * run->job.key_width / run->tuning.bucket_bytes + 1;
	uint64_t	fewest = 4 * (uint64_t) run->num_threads;

	if (num_buckets < fewest)
		num_buckets = fewest;
	return (uint32_t) (num_buckets < run->tuning.max_buckets ? num_buckets : run->tuning.max_buckets);
}

static uint64_t
buckets_scratch_bytes(const mgpu_run *run)
{
	return sizeof(bucket_state) +
		mgpu_chunks_bytes(run->job.num_items, best_chunk_items(run), 2 * plan_buckets(run)) +
		2 * plan_spill_bytes(run) * (uint64_t) run->num_threads;
}

static bool
start_buckets(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	bucket_state *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for buckets");
		return false;
	}
	run->state = state;
	state->level = mgpu_split_best_level();
	state->planned_buckets = plan_buckets(run);
	state->spill_bytes = plan_spill_bytes(run);
	return mgpu_chunks_start(&state->chunks, run->job.num_items, best_chunk_items(run),
							 2 * state->planned_buckets, status, err) &&
		mgpu_buffer_allocate(&state->scratch, 2 * state->spill_bytes * (uint64_t) run->num_threads,
							 status, err);
}

/*
 * A chunk's codes in bucket order, and the sizes of its buckets.  In place if
 * the codes are the run's own; then a second call would only split them again.
 */
static void *
split_chunk(mgpu_run *run, uint64_t chunk, int worker, uint32_t *sizes)
{
	bucket_state *state = run->state;
	uint64_t	begin = chunk * state->chunks.chunk_items;
	uint64_t	num_items = mgpu_chunk_end(&state->chunks, chunk) - begin;
	char	   *spill = (char *) state->scratch.data + 2 * state->spill_bytes * (uint64_t) worker;
	void	   *codes;

	if (run->codes.data != NULL)
		codes = (char *) run->codes.data + begin * run->job.key_width;
	else
	{
		codes = spill + state->spill_bytes;
		mgpu_encode_items(&run->keys.codec, (const char *) run->keys.data + begin * run->job.key_width,
						  codes, num_items);
	}
	memset(sizes, 0, state->bounds.num_buckets * sizeof(*sizes));
	mgpu_split_buckets(&state->bounds, codes, num_items, run->job.key_width, spill, state->level, sizes);
	return codes;
}

static void
split_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	bucket_state *state = run->state;

	split_chunk(run, task, worker, mgpu_chunk_row(&state->chunks, task));
}

static bool
is_unbalanced(const mgpu_run *run)
{
	const bucket_state *state = run->state;
	uint64_t	limit = run->job.num_items / state->planned_buckets * MGPU_BUCKET_EXCESS;

	return state->num_samplings < MGPU_MAX_SAMPLINGS &&
		mgpu_largest_bucket(&state->bounds, state->begin) > limit;
}

static void
move_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	bucket_state *state = run->state;
	uint32_t	width = run->job.key_width;
	const uint32_t *places = mgpu_chunk_row(&state->chunks, task);
	uint32_t	sizes[MGPU_MAX_BUCKETS];
	const char *piece;

	if (run->codes.data != NULL)
	{
		piece = (const char *) run->codes.data + task * state->chunks.chunk_items * width;
		for (uint32_t bucket = 0; bucket < state->bounds.num_buckets; bucket++)
		{
			uint64_t	end = task + 1 < state->chunks.num_chunks ?
				places[state->chunks.num_columns + bucket] : state->begin[bucket + 1];

			sizes[bucket] = (uint32_t) (end - places[bucket]);
		}
	}
	else
		piece = split_chunk(run, task, worker, sizes);
	for (uint32_t bucket = 0; bucket < state->bounds.num_buckets; bucket++)
	{
		uint64_t	bytes = (uint64_t) sizes[bucket] * width;

		memcpy((char *) run->binding.out_keys + (uint64_t) places[bucket] * width, piece, bytes);
		piece += bytes;
	}
}

static void
sort_bucket_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	bucket_state *state = run->state;
	uint64_t	num_items = state->begin[task + 1] - state->begin[task];
	void	   *codes = (char *) run->binding.out_keys + state->begin[task] * run->job.key_width;
	mgpu_u128	code;

	(void) worker;
	if (!mgpu_bucket_is_constant(&state->bounds, (uint32_t) task, &code))
		mgpu_vqsort(codes, num_items, run->job.key_width);
	mgpu_decode_items(&run->codec, codes, codes, num_items);
}

static bool
begin_split(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	bucket_state *state;

	if (run->state == NULL && !start_buckets(run, status, err))
		return false;
	state = run->state;
	if (!mgpu_sample_bounds(run, &state->bounds, state->planned_buckets, status, err))
		return false;
	state->num_samplings++;
	mgpu_begin_phase(run, split_task, state->chunks.num_chunks);
	return true;
}

static bool
buckets_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	bucket_state *state = run->state;

	switch (run->step)
	{
		case 0:
			run->step = 1;
			if (mgpu_begin_order_pass(run))
				return true;
			/* FALLTHROUGH */
		case 1:
			run->step = 2;
			if (!atomic_load(&run->ascending) && !atomic_load(&run->descending))
				return begin_split(run, status, err);
			mgpu_begin_copy_pass(run, !atomic_load(&run->ascending));
			run->step = 5;
			return true;
		case 2:
			mgpu_chunks_place(&state->chunks, state->bounds.num_buckets, state->begin);
			if (is_unbalanced(run))
				return begin_split(run, status, err);
			run->step = 3;
			mgpu_begin_touch_pass(run, run->binding.out_keys, run->job.num_items * run->job.key_width, NULL, 0);
			return true;
		case 3:
			run->step = 4;
			mgpu_begin_phase(run, move_task, state->chunks.num_chunks);
			return true;
		case 4:
			run->step = 5;
			mgpu_begin_phase(run, sort_bucket_task, state->bounds.num_buckets);
			return true;
		default:
			return false;
	}
}

static void
buckets_release(mgpu_run *run)
{
	bucket_state *state = run->state;

	mgpu_buffer_free(&state->chunks.table);
	mgpu_buffer_free(&state->scratch);
	free(state);
}

const mgpu_strategy mgpu_strategy_buckets = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.codes_in_result = false,
	.scratch_bytes = buckets_scratch_bytes,
	.advance = buckets_advance,
	.release = buckets_release,
};
