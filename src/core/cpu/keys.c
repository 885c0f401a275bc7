/*
 * keys.c
 *		Strategies for keys alone.
 *
 * Few keys on one thread are encoded into the result, unless they were streamed to
 * it as codes, and sorted by one call.  Otherwise keys are partitioned.
 * Vectorized splits (split.h) put chunks that fit a cache into bucket order and
 * count the buckets; each chunk's pieces move to their buckets in the result; each
 * bucket is sorted and decoded in cache.  The splits save the sort as many passes.
 * Streamed codes are split in place.  Whole input must not be written: its chunks
 * are encoded and split in scratch memory twice, to count and to move.
 *
 * Rejected: sorting chunks and merging them, which takes a pass for each doubling,
 * and an in-place parallel quicksort, whose first partitions are serial.
 */
#include "core/cpu/partition.h"
#include "core/cpu/split.h"
#include "core/unsigned_sort.h"

#include <string.h>

/* Largest bucket that gets scratch, in planned sizes. */
#define SORT_SCRATCH_BUCKETS 16

typedef struct keys_state
{
	mgpu_partition partition;
	char	   *scratch;		/* [workers]: a chunk's spill, then its copy */
	uint64_t	spill_bytes;	/* size of the spill, and of the copy */
	char	   *sort_scratch;	/* [workers]: a bucket's, for a radix sort */
	uint64_t	sort_bytes;
} keys_state;

static uint32_t
plan_buckets(const mgpu_run *run)
{
	bool		by_radix = mgpu_radix_is_faster(run->job.key_width);
	uint64_t	bucket_bytes = by_radix ? run->tuning.radix_bytes : run->tuning.bucket_bytes;
	uint64_t	num_buckets = run->job.num_items * run->job.key_width / bucket_bytes + 1;
	uint64_t	fewest = 4 * (uint64_t) run->num_threads;

	if (num_buckets < fewest)
		num_buckets = fewest;
	return (uint32_t) mgpu_min(num_buckets, by_radix ? MGPU_MAX_PLANNED_BUCKETS : run->tuning.max_buckets);
}

/*
 * Put a chunk's codes into bucket order, and fill in the sizes of its buckets.
 * Returns the codes.  The run's own codes are split in place, so they need no second
 * call.
 */
static void *
split_chunk(mgpu_run *run, uint64_t chunk, int worker, uint32_t *sizes)
{
	keys_state *state = run->state;
	const mgpu_partition *partition = &state->partition;
	uint64_t	begin = chunk * partition->chunk_items;
	uint64_t	num_items = mgpu_chunk_end(partition, chunk) - begin;
	char	   *spill = state->scratch + 2 * state->spill_bytes * (uint64_t) worker;
	void	   *codes;

	if (run->codes != NULL)
		codes = run->codes + begin * run->job.key_width;
	else
	{
		codes = spill + state->spill_bytes;
		mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), codes, num_items);
	}
	mgpu_split_buckets(&(mgpu_split) {&partition->bounds, run->job.key_width, run->tuning.vectors != 0, spill, sizes},
					   codes, num_items);
	return codes;
}

static void
split_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	keys_state *state = run->state;

	split_chunk(run, task, worker, mgpu_chunk_row(&state->partition, task));
}

/* Sizes of a chunk's buckets, from the places of its pieces and of the next chunk's. */
static void
find_sizes(const mgpu_partition *partition, uint64_t chunk, uint32_t *sizes)
{
	const uint32_t *places = mgpu_chunk_row(partition, chunk);
	const uint32_t *next_places = chunk + 1 < partition->num_chunks ? mgpu_chunk_row(partition, chunk + 1) : NULL;

	for (uint32_t bucket = 0; bucket < partition->bounds.num_buckets; bucket++)
		sizes[bucket] = (next_places ? next_places[bucket] : (uint32_t) partition->begin[bucket + 1]) - places[bucket];
}

static void
move_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	keys_state *state = run->state;
	const mgpu_partition *partition = &state->partition;
	uint32_t	width = run->job.key_width;
	const uint32_t *places = mgpu_chunk_row(partition, task);
	uint32_t	sizes[MGPU_MAX_BUCKETS];
	const char *piece;

	if (run->codes != NULL)
	{
		piece = run->codes + task * partition->chunk_items * width;
		find_sizes(partition, task, sizes);
	}
	else
		piece = split_chunk(run, task, worker, sizes);
	for (uint32_t bucket = 0; bucket < partition->bounds.num_buckets; bucket++)
	{
		uint64_t	bytes = (uint64_t) sizes[bucket] * width;

		memcpy(mgpu_out_key_at(run, places[bucket]), piece, bytes);
		piece += bytes;
	}
}

static void
sort_bucket_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	keys_state *state = run->state;
	const mgpu_partition *partition = &state->partition;
	uint64_t	num_items = partition->begin[task + 1] - partition->begin[task];
	void	   *codes = mgpu_out_key_at(run, partition->begin[task]);
	bool		fits = num_items * run->job.key_width <= state->sort_bytes;
	char	   *scratch = fits ? state->sort_scratch + state->sort_bytes * (uint64_t) worker : NULL;
	mgpu_u128	code;

	if (!mgpu_bucket_is_constant(&partition->bounds, (uint32_t) task, &code))
		mgpu_sort_unsigned(codes, num_items, run->job.key_width, scratch);
	mgpu_decode_items(&run->codec, codes, codes, num_items);
}

/* Scratch for a radix sort of every bucket but those several times as large as planned. */
static bool
allocate_sort_scratch(mgpu_run *run)
{
	keys_state *state = run->state;
	uint64_t	bytes = mgpu_largest_bucket(&state->partition) * run->job.key_width;

	if (!mgpu_radix_is_faster(run->job.key_width))
		return true;
	state->sort_bytes = (mgpu_min(bytes, SORT_SCRATCH_BUCKETS * run->tuning.radix_bytes) + 63) / 64 * 64;
	state->sort_scratch = mgpu_allocate(run, state->sort_bytes * (uint64_t) run->num_threads);
	return state->sort_scratch != NULL;
}

static bool
prepare_buckets(mgpu_run *run)
{
	if (!allocate_sort_scratch(run))
		return false;
	mgpu_begin_touch_pass(run, run->binding.out_keys, run->job.num_items * run->job.key_width, NULL, 0);
	return true;
}

static const mgpu_partition_tasks bucket_tasks = {
	.count = split_task,
	.move = move_task,
	.sort = sort_bucket_task,
	.prepare = prepare_buckets,
};

static bool
start_buckets(mgpu_run *run)
{
	keys_state *state = run->state;
	mgpu_partition *partition = &state->partition;

	partition->tasks = &bucket_tasks;
	partition->chunk_items = run->tuning.chunk_bytes / run->job.key_width;
	partition->planned_buckets = plan_buckets(run);
	if (!mgpu_partition_start(run, partition))
		return false;
	state->spill_bytes = (partition->chunk_items * run->job.key_width + 127) / 64 * 64;
	state->scratch = mgpu_allocate(run, 2 * state->spill_bytes * (uint64_t) run->num_threads);
	return state->scratch != NULL;
}

static bool
buckets_advance(mgpu_run *run)
{
	keys_state *state = run->state;

	if (run->step++ == 0 && !start_buckets(run))
		return false;
	return mgpu_partition_advance(run, &state->partition);
}

const mgpu_strategy mgpu_strategy_buckets = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.state_bytes = sizeof(keys_state),
	.copies_ordered = true,
	.advance = buckets_advance,
};

/* Reverses codes that descend: streamed ones stand in the result and are not copied. */
static void
sort_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;

	mgpu_sort_codes(run->binding.out_keys, run->job.num_items, run->job.key_width);
}

static bool
direct_advance(mgpu_run *run)
{
	switch (run->step++)
	{
		case 0:
			if (run->binding.in_keys != NULL)
			{
				mgpu_begin_encode_pass(run);
				return true;
			}
			run->step++;
			/* FALLTHROUGH */
		case 1:
			mgpu_begin_phase(run, sort_task, 1);
			return true;
		case 2:
			mgpu_begin_decode_pass(run);
			return true;
		default:
			return false;
	}
}

const mgpu_strategy mgpu_strategy_direct = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.codes_in_result = true,
	.copies_ordered = true,
	.advance = direct_advance,
};
