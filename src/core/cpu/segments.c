/*
 * segments.c
 *		Strategy for segmented sorts.
 *
 * A task owns the segments that begin within its share of the items.  It takes short
 * segments a block at a time: a block's codes are sorted into the result while in
 * the first-level cache, by one vector network a segment if the machine has vectors
 * (cpu_vector.h).  Longer ones are sorted in place, one after another.  Segments of
 * more than segment_items are recorded, and later sorted one at a time with all
 * threads, by the strategy that an array of that size gets.
 *
 * Sorting (segment, code) together as one array was rejected: it doubles the width
 * of keys, and short segments fit registers.
 */
#include "core/cpu/segments_state.h"
#include "core/cpu_vector.h"

/* First segment with a head at or behind position. */
static uint64_t
segment_from(const mgpu_run *run, uint64_t position)
{
	return mgpu_positions_below(run->binding.in_segment_heads, run->job.num_segments, position);
}

/* Items of a block. */
static uint64_t
block_items(const mgpu_run *run)
{
	uint32_t	item_bytes = run->job.key_width;

	if (run->job.op == MGPU_OP_SORT_PAIRS && item_bytes < sizeof(uint64_t))
		item_bytes = sizeof(uint64_t);
	return MGPU_SEGMENT_BLOCK_BYTES / item_bytes;
}

/*
 * Sort segments by networks, from the input to the result; integers need no pass to
 * encode or decode.  Returns how many segments are sorted.
 */
static uint64_t
sort_by_networks(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint32_t	width = run->job.key_width;
	uint64_t	begin = heads[first];
	const void *keys = mgpu_key_at(run, begin);
	mgpu_flips	flips = {width, run->keys.codec.flip, run->codec.flip};
	uint64_t	codes[MGPU_SEGMENT_BLOCK_BYTES / sizeof(uint64_t)];
	uint64_t	num_sorted;

	if (run->tuning.vectors == 0 || mgpu_vector_items(width) == 0)
		return 0;
	if (run->codec.kind != MGPU_KEY_FLOAT)
		return mgpu_vector_sort_segments(keys, mgpu_out_key_at(run, begin), heads + first, last - first,
										 (uint32_t) end, &flips);
	flips = (mgpu_flips) {.width = width};
	mgpu_encode_items(&run->keys.codec, keys, codes, end - begin);
	num_sorted = mgpu_vector_sort_segments(codes, mgpu_out_key_at(run, begin), heads + first, last - first,
										   (uint32_t) end, &flips);
	if (first + num_sorted < last)
		end = heads[first + num_sorted];
	mgpu_decode_items(&run->codec, mgpu_out_key_at(run, begin), mgpu_out_key_at(run, begin), end - begin);
	return num_sorted;
}

static void
sort_key_segment(mgpu_run *run, uint64_t begin, uint64_t end)
{
	void	   *out = mgpu_out_key_at(run, begin);

	mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), out, end - begin);
	mgpu_sort_codes(out, end - begin, run->job.key_width);
	mgpu_decode_items(&run->codec, out, out, end - begin);
}

/* Sort segments [first, last): together at most a block, or a single longer one. */
static void
sort_segments(mgpu_run *run, uint64_t first, uint64_t last, int worker)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	end = mgpu_segment_end(run, last - 1);

	if (run->job.op == MGPU_OP_SORT_PAIRS)
	{
		mgpu_order_segments(run, first, last, end, worker);
		return;
	}
	if (end - heads[first] <= block_items(run))
		first += sort_by_networks(run, first, last, end);
	for (; first < last; first++)
		sort_key_segment(run, heads[first], mgpu_segment_end(run, first));
}

/* Takes as many segments at a time as fit a block, or a single longer one. */
static void
segments_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_segments *state = run->state;
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	most = block_items(run);
	uint64_t	segment = segment_from(run, task * run->tuning.segment_task_items);
	uint64_t	end = segment_from(run, (task + 1) * run->tuning.segment_task_items);

	while (segment < end)
	{
		uint64_t	first = segment;
		bool		is_alone;

		while (segment < end && mgpu_segment_end(run, segment) - heads[first] <= most)
			segment++;
		is_alone = segment == first;
		segment += is_alone;
		if (is_alone && mgpu_segment_end(run, first) - heads[first] > run->tuning.segment_items)
			state->long_segments[atomic_fetch_add(&state->num_long, 1)] = (uint32_t) first;
		else
			sort_segments(run, first, segment, worker);
	}
}

static bool
start_segments(mgpu_run *run)
{
	mgpu_segments *state = run->state;

	state->worker_bytes = mgpu_segment_scratch_bytes(run);
	state->long_segments = mgpu_allocate(run, run->job.num_items / run->tuning.segment_items * sizeof(uint32_t));
	state->scratch = mgpu_allocate(run, state->worker_bytes * (uint64_t) run->num_threads);
	if (state->long_segments == NULL || state->scratch == NULL)
		return false;
	mgpu_begin_phase(run, segments_task, mgpu_num_tasks(run->job.num_items, run->tuning.segment_task_items));
	return true;
}

static bool
segments_advance(mgpu_run *run)
{
	return run->step++ == 0 ? start_segments(run) : mgpu_advance_long(run);
}

const mgpu_strategy mgpu_strategy_segments = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.state_bytes = sizeof(mgpu_segments),
	.advance = segments_advance,
};
