/*
 * cpu_pairs.c
 *		Strategy for (key, index) pairs: indices to buckets, then each in order.
 *
 * Bounds from a sample cut the codes into buckets.  Every chunk of the input is
 * classified and counted, then scattered, in input order, so that each bucket
 * holds its indices in ascending order.  A bucket's codes fit a cache, where
 * order_codes.h orders them stably; the buckets' results are final.  Values go to
 * the buckets in place of indices (cpu_pairs_values.c) or follow by a gather at the
 * end.  Few items are one bucket that is all input.
 *
 * What the scatter saves for the buckets is a matter of memory: the codes in
 * bucket order (in out_keys, or in scratch while that has room), so that they
 * need not be gathered from all over the input, and each item's bucket, so that
 * it need not be searched for twice.
 *
 * Packing all (code, index) pairs at once was rejected for its 8 bytes an item
 * beside the result; so was a stable radix sort, two to four times as slow.
 */
#include "cpu_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "sizes.h"

#define BLOCK_ITEMS MGPU_PAIRS_BLOCK_ITEMS

/* Items of a bucket that fit the scratch of one worker in any case. */
#define BUCKET_ITEMS_MAX MGPU_SIZE(UINT64_C(1) << 18, 4096)

static uint64_t
code_bytes(const mgpu_run *run)
{
	return run->job.key_width < 4 ? 4 : run->job.key_width;
}

static uint32_t
plan_buckets(const mgpu_run *run)
{
	uint64_t	num_items = run->job.num_items;
	uint64_t	num_buckets = num_items / run->tuning.pair_bucket_items + 1;
	uint64_t	fewest = 4 * (uint64_t) run->num_threads;

	if (num_buckets > run->tuning.pair_max_buckets)
		num_buckets = run->tuning.pair_max_buckets;
	if (num_items / num_buckets > BUCKET_ITEMS_MAX)
		num_buckets = num_items / BUCKET_ITEMS_MAX;
	if (num_buckets < fewest)
		num_buckets = fewest;
	return (uint32_t) (num_buckets < MGPU_MAX_PLANNED_BUCKETS ? num_buckets : MGPU_MAX_PLANNED_BUCKETS);
}

/* Of a bucket's codes, or of its values when these are in order. */
static uint64_t
codes_bytes(const mgpu_run *run, uint64_t num_items)
{
	uint64_t	item_bytes = code_bytes(run) > run->job.value_width ? code_bytes(run) : run->job.value_width;

	return (num_items * item_bytes + 63) / 64 * 64;
}

/* Scratch of one worker for buckets of up to num_items. */
static uint64_t
worker_bytes(const mgpu_run *run, uint64_t num_items)
{
	return codes_bytes(run, num_items) + (num_items * sizeof(uint64_t) + 127) / 64 * 64;
}

/* Left of scratch_bytes for what the scatter saves. */
static uint64_t
savings_bytes(const mgpu_run *run)
{
	uint64_t	num_buckets = plan_buckets(run);
	uint64_t	bucket_items = run->job.num_items / num_buckets * 2;
	uint64_t	taken = mgpu_chunks_bytes(run->job.num_items, run->tuning.pair_chunk_items, 2 * num_buckets) + (uint64_t) run->num_threads * worker_bytes(run, bucket_items);

	return taken < run->tuning.scratch_bytes ? run->tuning.scratch_bytes - taken : 0;
}

static uint64_t
pairs_scratch_bytes(const mgpu_run *run)
{
	uint64_t	direct = worker_bytes(run, run->job.num_items);

	return direct < run->tuning.scratch_bytes ? direct : run->tuning.scratch_bytes;
}

static bool
has_codes_in_keys(const mgpu_run *run)
{
	return (run->job.outputs & MGPU_OUT_KEYS) != 0 && run->job.key_width >= 4;
}

/*
 * Values go with the codes rather than by indices where codes have a place, of
 * the run's own or in out_keys: every item is then fetched from its bucket, which
 * is in cache, and not from all over the input.
 */
bool
mgpu_pairs_carry_values(const mgpu_run *run)
{
	const mgpu_job *job = &run->job;

	if (job->outputs & MGPU_OUT_INDICES)
		return false;
	return mgpu_needs_own_indices(job) || has_codes_in_keys(run) ||
		job->num_items * (code_bytes(run) + 1) <= savings_bytes(run);
}

static bool
is_direct(const mgpu_run *run)
{
	uint64_t	limit = run->tuning.pair_direct_items;

	if (run->num_threads > 1 && limit > run->tuning.pair_bucket_items)
		limit = run->tuning.pair_bucket_items;
	return run->job.num_items <= limit;
}

static bool
start_pairs(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for pairs");
		return false;
	}
	run->state = state;
	state->is_direct = is_direct(run);
	state->code_bytes = code_bytes(run);
	state->planned_buckets = plan_buckets(run);
	return true;
}

/* Memory for the table of sizes and, while there is room, for the savings. */
static bool
allocate_savings(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;
	uint64_t	room = savings_bytes(run);
	uint64_t	num_items = run->job.num_items;
	bool		keys_carry = run->binding.out_keys != NULL && run->job.key_width >= 4 &&
		run->job.key_width <= 8 && (run->job.outputs & MGPU_OUT_KEYS) != 0;

	if (!mgpu_chunks_start(&state->chunks, num_items, run->tuning.pair_chunk_items,
						   2 * state->planned_buckets, status, err))
		return false;
	if (mgpu_pairs_carry_values(run))
		room /= 2;				/* the rest is for codes of as many buckets as it holds */
	else if (keys_carry)
		state->carry = run->binding.out_keys;
	else if (run->job.key_width <= 8 && num_items * state->code_bytes <= room)
	{
		if (!mgpu_buffer_allocate(&state->own_carry, num_items * state->code_bytes, status, err))
			return false;
		state->carry = state->own_carry.data;
		room -= num_items * state->code_bytes;
	}
	/* one byte holds a bucket's number while there are no more than 256 */
	if (state->planned_buckets <= 128 && num_items <= room)
		return mgpu_buffer_allocate(&state->buckets, num_items, status, err);
	return true;
}

static void
load_block(const mgpu_run *run, uint64_t begin, uint32_t num_items, mgpu_pairs_block *block)
{
	const char *keys = (const char *) run->keys.data + begin * run->job.key_width;

	if (run->job.key_width == 16)
		mgpu_encode_u128(&run->keys.codec, keys, block->codes.wide, num_items);
	else
		mgpu_encode_wide(&run->keys.codec, keys, block->codes.narrow, num_items);
}

static void
classify_block(const mgpu_run *run, uint32_t num_items, mgpu_pairs_block *block)
{
	const pairs_state *state = run->state;

	mgpu_classify(&state->bounds, &block->codes, run->job.key_width, block->buckets, num_items);
}

static void
classify_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	uint32_t   *sizes = mgpu_chunk_row(&state->chunks, task);
	uint8_t    *saved = state->buckets.data;
	uint64_t	end = mgpu_chunk_end(&state->chunks, task);
	mgpu_pairs_block block;

	(void) worker;
	memset(sizes, 0, state->bounds.num_buckets * sizeof(*sizes));
	for (uint64_t begin = task * state->chunks.chunk_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint32_t	num_items = end - begin < BLOCK_ITEMS ? (uint32_t) (end - begin) : BLOCK_ITEMS;

		load_block(run, begin, num_items, &block);
		classify_block(run, num_items, &block);
		for (uint32_t i = 0; i < num_items; i++)
			sizes[block.buckets[i]]++;
		if (saved != NULL)
			for (uint32_t i = 0; i < num_items; i++)
				saved[begin + i] = (uint8_t) block.buckets[i];
	}
}

void
mgpu_pairs_load_block(const mgpu_run *run, uint64_t begin, uint32_t num_items, bool codes, mgpu_pairs_block *block)
{
	const pairs_state *state = run->state;
	const uint8_t *saved = state->buckets.data;

	if (codes || saved == NULL)
		load_block(run, begin, num_items, block);
	if (saved == NULL)
		classify_block(run, num_items, block);
	else
		for (uint32_t i = 0; i < num_items; i++)
			block->buckets[i] = saved[begin + i];
}

static void
scatter_block(const mgpu_run *run, uint64_t begin, uint32_t num_items,
			  const mgpu_pairs_block *block)
{
	const pairs_state *state = run->state;

	for (uint32_t i = 0; i < num_items; i++)
		run->indices[block->places[i]] = (uint32_t) (begin + i);
	if (state->carry == NULL)
		return;
	if (state->code_bytes == 4)
		for (uint32_t i = 0; i < num_items; i++)
			((uint32_t *) state->carry)[block->places[i]] = (uint32_t) block->codes.narrow[i];
	else
		for (uint32_t i = 0; i < num_items; i++)
			((uint64_t *) state->carry)[block->places[i]] = block->codes.narrow[i];
}

static void
scatter_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	uint32_t   *places = mgpu_chunk_row(&state->chunks, task);
	uint64_t	end = mgpu_chunk_end(&state->chunks, task);
	mgpu_pairs_block block;

	(void) worker;
	for (uint64_t begin = task * state->chunks.chunk_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint32_t	num_items = end - begin < BLOCK_ITEMS ? (uint32_t) (end - begin) : BLOCK_ITEMS;

		mgpu_pairs_load_block(run, begin, num_items, state->carry != NULL, &block);
		for (uint32_t i = 0; i < num_items; i++)
			block.places[i] = places[block.buckets[i]]++;
		scatter_block(run, begin, num_items, &block);
	}
}

static bool
begin_classify(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;

	if (!mgpu_sample_bounds(run, &state->bounds, state->planned_buckets, status, err))
		return false;
	state->num_samplings++;
	mgpu_begin_phase(run, classify_task, state->chunks.num_chunks);
	return true;
}

static bool
begin_order(mgpu_run *run, uint64_t bucket_items, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;
	/* a lone task is worker 0's */
	uint64_t	num_workers = state->bounds.num_buckets == 1 ? 1 : (uint64_t) run->num_threads;

	state->codes_bytes = codes_bytes(run, bucket_items);
	state->worker_bytes = worker_bytes(run, bucket_items);
	if (state->scratch.data == NULL &&
		!mgpu_buffer_allocate(&state->scratch, state->worker_bytes * num_workers, status, err))
		return false;
	mgpu_begin_phase(run, mgpu_order_bucket_task, state->end_bucket - state->first_bucket);
	return true;
}

/* Everything is one bucket, of the input as it lies. */
static bool
begin_direct(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;

	state->bounds.num_buckets = 1;
	state->end_bucket = 1;
	state->begin[0] = 0;
	state->begin[1] = run->job.num_items;
	return begin_order(run, run->job.num_items, status, err);
}

/* Keys are in order, or reversed. */
static void
begin_in_order(mgpu_run *run)
{
	bool		reversed = !atomic_load(&run->ascending);

	if (!mgpu_pairs_carry_values(run))
	{
		run->step = 5;
		mgpu_begin_identity_pass(run, reversed);
	}
	else if (run->job.outputs & MGPU_OUT_KEYS)
	{
		run->step = 7;
		mgpu_begin_copy_pass(run, reversed);
	}
	else
	{
		run->step = 8;
		mgpu_pairs_begin_copy_values(run, reversed);
	}
}

/* Buckets are placed: memory for what is scattered, touched before that. */
static bool
begin_touch(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;

	state->end_bucket = state->bounds.num_buckets;
	if (!mgpu_pairs_carry_values(run))
	{
		mgpu_begin_touch_pass(run, run->indices, run->job.num_items * sizeof(uint32_t),
							  state->carry, run->job.num_items * state->code_bytes);
		return true;
	}
	if (!mgpu_pairs_start_groups(run, savings_bytes(run) - state->buckets.bytes, status, err))
		return false;
	mgpu_begin_touch_pass(run, run->binding.out_values, run->job.num_items * run->job.value_width,
						  state->carry, state->carry_items * state->code_bytes);
	return true;
}

static void
begin_scatter(mgpu_run *run)
{
	pairs_state *state = run->state;

	mgpu_begin_phase(run, mgpu_pairs_carry_values(run) ? mgpu_pairs_scatter_values_task : scatter_task,
					 state->chunks.num_chunks);
}

static bool
pairs_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;
	uint64_t	largest;

	switch (run->step)
	{
		case 0:
			run->step = 1;
			if (mgpu_begin_order_pass(run))
				return true;
			/* FALLTHROUGH */
		case 1:
			if (atomic_load(&run->ascending) || atomic_load(&run->descending))
			{
				begin_in_order(run);
				return true;
			}
			if (!start_pairs(run, status, err))
				return false;
			state = run->state;
			run->step = state->is_direct ? 6 : 2;
			if (state->is_direct)
				return begin_direct(run, status, err);
			return allocate_savings(run, status, err) && begin_classify(run, status, err);
		case 2:
			mgpu_chunks_place(&state->chunks, state->bounds.num_buckets, state->begin);
			largest = mgpu_largest_bucket(&state->bounds, state->begin);
			if (largest > run->job.num_items / state->planned_buckets * MGPU_BUCKET_EXCESS &&
				state->num_samplings < MGPU_MAX_SAMPLINGS)
				return begin_classify(run, status, err);
			run->step = 3;
			return begin_touch(run, status, err);
		case 3:
			run->step = 4;
			begin_scatter(run);
			return true;
		case 4:
			run->step = 6;
			return begin_order(run, mgpu_largest_bucket(&state->bounds, state->begin), status, err);
		case 5:
			return mgpu_begin_gather_pass(run, MGPU_OUT_KEYS | MGPU_OUT_VALUES);
		case 6:
			if (!mgpu_pairs_carry_values(run))
				return mgpu_begin_gather_pass(run, MGPU_OUT_VALUES);
			if (state->is_direct || !mgpu_pairs_next_group(run))
				return false;
			run->step = 4;
			begin_scatter(run);
			return true;
		case 7:
			run->step = 8;
			return mgpu_pairs_begin_copy_values(run, run->pass_reversed);
		default:
			return false;
	}
}

static void
pairs_release(mgpu_run *run)
{
	pairs_state *state = run->state;

	mgpu_buffer_free(&state->chunks.table);
	mgpu_buffer_free(&state->own_carry);
	mgpu_buffer_free(&state->buckets);
	mgpu_buffer_free(&state->scratch);
	free(state);
}

const mgpu_strategy mgpu_strategy_pairs = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.codes_in_result = false,
	.scratch_bytes = pairs_scratch_bytes,
	.advance = pairs_advance,
	.release = pairs_release,
};
