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
#include "cpu_run.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_split.h"

typedef struct bucket_state
{
	mgpu_bounds bounds;
	mgpu_split_level level;
	uint32_t	planned_buckets;
	int			num_samplings;
	uint64_t	chunk_items;
	uint64_t	num_chunks;
	mgpu_buffer sizes;			/* uint32_t [chunks][2 * planned_buckets]:
								 * sizes, then places in the result */
	mgpu_buffer scratch;		/* [workers]: a chunk's spill, then its copy */
	uint64_t	spill_bytes;	/* of a worker's scratch, as is the copy */
	uint64_t	begin[MGPU_MAX_BUCKETS + 1];
} bucket_state;

/* A chunk, and never more than 4096 of them, to bound the table of sizes. */
static uint64_t
plan_chunk_items(const mgpu_run *run)
{
	uint64_t	cached = run->tuning.chunk_bytes / run->job.key_width;
	uint64_t	fewest = run->job.num_items / 4096 + 1;

	return cached > fewest ? cached : fewest;
}

static uint64_t
plan_spill_bytes(const mgpu_run *run)
{
	return (plan_chunk_items(run) * run->job.key_width + 127) / 64 * 64;
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
	uint64_t	num_chunks = mgpu_num_tasks(run->job.num_items, plan_chunk_items(run));

	return sizeof(bucket_state) + num_chunks * 2 * plan_buckets(run) * sizeof(uint32_t) +
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
	state->chunk_items = plan_chunk_items(run);
	state->num_chunks = mgpu_num_tasks(run->job.num_items, state->chunk_items);
	state->spill_bytes = plan_spill_bytes(run);
	return mgpu_buffer_allocate(&state->sizes,
								state->num_chunks * 2 * state->planned_buckets * sizeof(uint32_t),
								status, err) &&
		mgpu_buffer_allocate(&state->scratch, 2 * state->spill_bytes * (uint64_t) run->num_threads,
							 status, err);
}

static bool
choose_bounds(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	bucket_state *state = run->state;
	uint64_t	num_samples = state->planned_buckets * run->tuning.samples_per_bucket;
	mgpu_buffer positions = {0};
	mgpu_buffer samples = {0};
	bool		had_memory;

	had_memory = mgpu_buffer_allocate(&positions, num_samples * sizeof(uint32_t), status, err) &&
		mgpu_buffer_allocate(&samples, num_samples * run->job.key_width, status, err);
	if (had_memory)
	{
		mgpu_sample_positions(positions.data, num_samples, run->job.num_items);
		mgpu_gather_items(run->keys.data, run->job.key_width, positions.data, samples.data, num_samples);
		mgpu_encode_items(&run->keys.codec, samples.data, samples.data, num_samples);
		mgpu_bounds_choose(&state->bounds, samples.data, num_samples, run->job.key_width,
						   state->planned_buckets);
		state->num_samplings++;
	}
	mgpu_buffer_free(&samples);
	mgpu_buffer_free(&positions);
	return had_memory;
}

/*
 * A chunk's codes in bucket order, and the sizes of its buckets.  In place if
 * the codes are the run's own; then a second call would only split them again.
 */
static void *
split_chunk(mgpu_run *run, uint64_t chunk, int worker, uint32_t *sizes)
{
	bucket_state *state = run->state;
	uint64_t	begin = chunk * state->chunk_items;
	uint64_t	num_items = run->job.num_items - begin;
	char	   *spill = (char *) state->scratch.data + 2 * state->spill_bytes * (uint64_t) worker;
	void	   *codes;

	if (num_items > state->chunk_items)
		num_items = state->chunk_items;
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

static uint32_t *
chunk_table(const bucket_state *state, uint64_t chunk)
{
	return (uint32_t *) state->sizes.data + chunk * 2 * state->planned_buckets;
}

static void
split_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;

	split_chunk(run, task, worker, chunk_table(run->state, task));
}

/* Sizes become places: by bucket, then by chunk. */
static void
place_chunks(bucket_state *state)
{
	uint64_t	place = 0;

	for (uint32_t bucket = 0; bucket < state->bounds.num_buckets; bucket++)
	{
		state->begin[bucket] = place;
		for (uint64_t chunk = 0; chunk < state->num_chunks; chunk++)
		{
			uint32_t   *entry = chunk_table(state, chunk) + bucket;
			uint32_t	size = *entry;

			*entry = (uint32_t) place;
			place += size;
		}
	}
	state->begin[state->bounds.num_buckets] = place;
}

static bool
is_unbalanced(const mgpu_run *run)
{
	const bucket_state *state = run->state;
	uint64_t	limit = run->job.num_items / state->planned_buckets * MGPU_BUCKET_EXCESS;

	if (state->num_samplings >= MGPU_MAX_SAMPLINGS)
		return false;
	for (uint32_t bucket = 0; bucket < state->bounds.num_buckets; bucket++)
	{
		mgpu_u128	code;

		if (state->begin[bucket + 1] - state->begin[bucket] > limit &&
			!mgpu_bucket_is_constant(&state->bounds, bucket, &code))
			return true;
	}
	return false;
}

static void
move_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	bucket_state *state = run->state;
	uint32_t	width = run->job.key_width;
	const uint32_t *places = chunk_table(state, task);
	uint32_t	sizes[MGPU_MAX_BUCKETS];
	const char *piece;

	if (run->codes.data != NULL)
	{
		piece = (const char *) run->codes.data + task * state->chunk_items * width;
		for (uint32_t bucket = 0; bucket < state->bounds.num_buckets; bucket++)
		{
			uint64_t	end = task + 1 < state->num_chunks ?
				chunk_table(state, task + 1)[bucket] : state->begin[bucket + 1];

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
	if (!choose_bounds(run, status, err))
		return false;
	state = run->state;
	mgpu_begin_phase(run, split_task, state->num_chunks);
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
			run->step = 4;
			return true;
		case 2:
			place_chunks(state);
			if (is_unbalanced(run))
				return begin_split(run, status, err);
			run->step = 3;
			mgpu_begin_phase(run, move_task, state->num_chunks);
			return true;
		case 3:
			run->step = 4;
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

	mgpu_buffer_free(&state->sizes);
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
