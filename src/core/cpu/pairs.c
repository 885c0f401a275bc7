/*
 * pairs.c
 *		Strategy for keys with indices or values.
 *
 * The items are partitioned.  Codes move to their buckets in memory of the run.  With
 * each code its index, or its value if indices are not wanted, moves straight to
 * the bucket in the result.  A bucket fits a cache, where order_codes.h orders its
 * codes stably.  So only values of pairs with indices are gathered from all over the
 * input.  A small input is one bucket as it stands.
 *
 * Sorting (code, index) records as wide keys was rejected: vqsort takes three times
 * as long for records of 16 bytes.  So was a stable radix sort, whose passes grow
 * with the width of the key.
 */
#include "core/cpu/order_pairs.h"
#include "core/cpu/partition.h"
#include "core/sizes.h"

#include <string.h>

#define BLOCK_ITEMS 512

/* Largest planned bucket. */
#define BUCKET_ITEMS_MAX MGPU_SIZE(UINT64_C(1) << 18, 4096)

typedef struct pairs_state
{
	mgpu_partition partition;
	bool		is_direct;		/* the whole input is one bucket */
	uint16_t   *buckets;		/* each item's bucket, from the count */
	void	   *codes;			/* in bucket order */
	char	   *scratch;		/* [workers]: packed codes, then indices or values */
	uint64_t	packed_bytes;
	uint64_t	worker_bytes;
} pairs_state;

/* A block of input: its codes, and their places. */
typedef struct pairs_block
{
	union
	{
		uint64_t	narrow[BLOCK_ITEMS];
		mgpu_u128	wide[BLOCK_ITEMS];
	}			codes;
	uint32_t	places[BLOCK_ITEMS];
} pairs_block;

/* Whether values move to the buckets; otherwise indices do. */
static bool
moves_values(const mgpu_run *run)
{
	return (run->job.outputs & MGPU_OUT_INDICES) == 0;
}

/* Bytes that move to the bucket with each code; 0 if keys alone are wanted. */
static uint32_t
moved_width(const mgpu_run *run)
{
	return moves_values(run) ? run->job.value_width : sizeof(uint32_t);
}

static void *
moved_to(const mgpu_run *run)
{
	return moves_values(run) ? run->binding.out_values : (void *) run->binding.out_indices;
}

static const char *
values_at(const mgpu_run *run, uint64_t i)
{
	return (const char *) run->in[MGPU_CHANNEL_VALUES] + i * run->job.value_width;
}

static uint32_t
plan_buckets(const mgpu_run *run)
{
	uint64_t	num_items = run->job.num_items;
	uint64_t	num_buckets = mgpu_min(num_items / run->tuning.pair_bucket_items + 1, run->tuning.max_buckets);
	uint64_t	fewest = 4 * (uint64_t) run->num_threads;

	if (num_items / num_buckets > BUCKET_ITEMS_MAX)
		num_buckets = num_items / BUCKET_ITEMS_MAX;
	if (num_buckets < fewest)
		num_buckets = fewest;
	return (uint32_t) mgpu_min(num_buckets, MGPU_MAX_PLANNED_BUCKETS);
}

static bool
is_direct(const mgpu_run *run)
{
	uint64_t	limit = run->tuning.pair_direct_items;

	/* buckets of one-byte keys need no sorting */
	if (run->num_threads > 1 || run->job.key_width == 1)
		limit = mgpu_min(limit, run->tuning.pair_bucket_items);
	return run->job.num_items <= limit;
}

static void
load_block(const mgpu_run *run, uint64_t begin, uint32_t num_items, pairs_block *block)
{
	const void *keys = mgpu_key_at(run, begin);

	if (run->job.key_width == 16)
		mgpu_encode_u128(&run->keys.codec, keys, block->codes.wide, num_items);
	else
		mgpu_encode_wide(&run->keys.codec, keys, block->codes.narrow, num_items);
}

static void
count_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	const mgpu_partition *partition = &state->partition;
	uint32_t   *sizes = mgpu_chunk_row(partition, task);
	uint64_t	end = mgpu_chunk_end(partition, task);
	pairs_block block;

	memset(sizes, 0, partition->bounds.num_buckets * sizeof(*sizes));
	for (uint64_t begin = task * partition->chunk_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint32_t	num_items = (uint32_t) mgpu_min(end - begin, BLOCK_ITEMS);
		uint16_t   *buckets = state->buckets + begin;

		load_block(run, begin, num_items, &block);
		mgpu_classify(&partition->bounds, &block.codes, run->job.key_width, buckets, num_items);
		for (uint32_t i = 0; i < num_items; i++)
			sizes[buckets[i]]++;
	}
}

/* to[places[i]] = from[i]. */
#define DEFINE_SCATTER(type) \
static void \
scatter_##type(const type *from, const uint32_t *places, type *to, uint32_t num_items) \
{ \
	for (uint32_t i = 0; i < num_items; i++) \
		to[places[i]] = from[i]; \
}

MGPU_FOR_WIDTHS(DEFINE_SCATTER)

static void
scatter_narrowed(const uint64_t *from, const uint32_t *places, uint32_t *to, uint32_t num_items)
{
	for (uint32_t i = 0; i < num_items; i++)
		to[places[i]] = (uint32_t) from[i];
}

static void
scatter_codes(const mgpu_run *run, const pairs_block *block, uint32_t num_items)
{
	const pairs_state *state = run->state;

	if (run->job.key_width <= 4)
		scatter_narrowed(block->codes.narrow, block->places, state->codes, num_items);
	else if (run->job.key_width == 8)
		scatter_uint64_t(block->codes.narrow, block->places, state->codes, num_items);
	else
		scatter_mgpu_u128(block->codes.wide, block->places, state->codes, num_items);
}

static void
scatter_values(const mgpu_run *run, uint64_t begin, const uint32_t *places, uint32_t num_items)
{
	if (run->job.value_width > 0)	/* else keys alone are wanted */
		MGPU_CALL_WIDTH(run->job.value_width, scatter, (const void *) values_at(run, begin), places,
						run->binding.out_values, num_items);
}

static void
move_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	uint32_t   *next = mgpu_chunk_row(&state->partition, task);
	uint64_t	end = mgpu_chunk_end(&state->partition, task);
	pairs_block block;

	for (uint64_t begin = task * state->partition.chunk_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint32_t	num_items = (uint32_t) mgpu_min(end - begin, BLOCK_ITEMS);
		const uint16_t *buckets = state->buckets + begin;

		load_block(run, begin, num_items, &block);
		for (uint32_t i = 0; i < num_items; i++)
			block.places[i] = next[buckets[i]]++;
		scatter_codes(run, &block, num_items);
		if (moves_values(run))
			scatter_values(run, begin, block.places, num_items);
		else
			for (uint32_t i = 0; i < num_items; i++)
				run->binding.out_indices[block.places[i]] = (uint32_t) (begin + i);
	}
}

/*
 * A bucket of equal codes: what moved to it is in order already.  Values that follow
 * indices are gathered.
 */
static void
finish_constant_bucket(const mgpu_run *run, mgpu_u128 code, uint64_t begin, uint64_t num_items)
{
	uint32_t	width = run->job.key_width;
	uint32_t	value_width = run->job.value_width;
	char	   *keys = mgpu_out_key_at(run, begin);

	if (!moves_values(run) && value_width > 0)
		mgpu_gather_items(run->in[MGPU_CHANNEL_VALUES], value_width, run->binding.out_indices + begin,
						  (char *) run->binding.out_values + begin * value_width, num_items);
	if ((run->job.outputs & MGPU_OUT_KEYS) == 0)
		return;
	mgpu_decode_items(&run->codec, &code, &code, 1);
	for (uint64_t i = 0; i < num_items; i++)
		memcpy(keys + i * width, &code, width);
}

static void
sort_bucket_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	const mgpu_partition *partition = &state->partition;
	uint64_t	begin = partition->begin[task];
	uint32_t	num_items = (uint32_t) (partition->begin[task + 1] - begin);
	char	   *packed = state->scratch + state->worker_bytes * (uint64_t) worker;
	char	   *moved = packed + state->packed_bytes;
	uint32_t	width = moved_width(run);
	mgpu_pairs_part part = {
		.begin = begin,
		.num_items = num_items,
		.codes = (const char *) state->codes + begin * mgpu_pair_code_bytes(run),
		.packed = (uint64_t *) packed,
	};
	mgpu_u128	code;

	if (num_items == 0)
		return;
	if (mgpu_bucket_is_constant(&partition->bounds, (uint32_t) task, &code))
	{
		finish_constant_bucket(run, code, begin, num_items);
		return;
	}
	if (width > 0)
		memcpy(moved, (const char *) moved_to(run) + begin * width, (uint64_t) num_items * width);
	if (moves_values(run))
		part.values = moved;
	else
		part.indices = (const uint32_t *) moved;
	mgpu_order_pairs(run, &part);
}

/* Sort the whole input as one bucket. */
static void
sort_all_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	mgpu_pairs_part part = {
		.num_items = (uint32_t) run->job.num_items,
		.codes = state->codes,
		.values = run->in[MGPU_CHANNEL_VALUES],
		.packed = (uint64_t *) state->scratch,
	};

	mgpu_encode_pairs(run, run->keys.data, state->codes, run->job.num_items);
	mgpu_order_pairs(run, &part);
}

/* Allocate codes, and scratch for buckets of up to bucket_items. */
static bool
allocate(mgpu_run *run, uint64_t bucket_items, uint64_t num_workers)
{
	pairs_state *state = run->state;

	state->packed_bytes = (bucket_items * sizeof(uint64_t) + 63) / 64 * 64;
	state->worker_bytes = state->packed_bytes + (state->is_direct ? 0 : (bucket_items * moved_width(run) + 127) / 64 * 64);
	state->codes = mgpu_allocate(run, run->job.num_items * mgpu_pair_code_bytes(run));
	state->scratch = mgpu_allocate(run, state->worker_bytes * num_workers);
	return state->codes != NULL && state->scratch != NULL;
}

static bool
prepare_buckets(mgpu_run *run)
{
	pairs_state *state = run->state;

	if (!allocate(run, mgpu_largest_bucket(&state->partition), (uint64_t) run->num_threads))
		return false;
	mgpu_begin_touch_pass(run, moved_to(run), run->job.num_items * moved_width(run),
						  state->codes, run->job.num_items * mgpu_pair_code_bytes(run));
	return true;
}

static const mgpu_partition_tasks bucket_tasks = {
	.count = count_task,
	.move = move_task,
	.sort = sort_bucket_task,
	.prepare = prepare_buckets,
};

static bool
start_buckets(mgpu_run *run)
{
	pairs_state *state = run->state;

	state->partition.tasks = &bucket_tasks;
	state->partition.chunk_items = run->tuning.pair_chunk_items;
	state->partition.planned_buckets = plan_buckets(run);
	state->buckets = mgpu_allocate(run, run->job.num_items * sizeof(uint16_t));
	return state->buckets != NULL && mgpu_partition_start(run, &state->partition);
}

static bool
pairs_advance(mgpu_run *run)
{
	pairs_state *state = run->state;
	bool		is_first = run->step++ == 0;

	if (is_first)
		state->is_direct = is_direct(run);
	if (!state->is_direct)
		return (!is_first || start_buckets(run)) && mgpu_partition_advance(run, &state->partition);
	if (!is_first || !allocate(run, run->job.num_items, 1))
		return false;
	mgpu_begin_phase(run, sort_all_task, 1);
	return true;
}

const mgpu_strategy mgpu_strategy_pairs = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.state_bytes = sizeof(pairs_state),
	.copies_ordered = true,
	.advance = pairs_advance,
};
