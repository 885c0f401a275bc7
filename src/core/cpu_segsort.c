/*
 * cpu_segsort.c
 *		Strategy for segmented sorts: every segment by itself, as fast as it goes.
 *
 * A task owns the segments that begin within its share of the items.  It takes
 * short ones by the blockful: codes of a block are sorted into the result while
 * in the first-level cache, by one vector network a segment where there is one
 * (cpu_vector.h).  Longer ones are sorted in place one after another.  Those of
 * more than mgpu_segment_most_items are only noted down, and then sorted one at a
 * time by whatever strategy an array of that size gets, with all threads.
 *
 * Sorting (segment, code) together as one array was rejected: it doubles the
 * width of keys and forgets that short segments fit registers.
 */
#include <stdlib.h>
#include <string.h>

#include "cpu_segments.h"
#include "cpu_vector.h"

static uint64_t
segments_scratch_bytes(const mgpu_run *run)
{
	return sizeof(mgpu_segments) + run->job.num_items / mgpu_segment_most_items(run) * sizeof(uint32_t) +
		mgpu_segment_scratch_bytes(run) * (uint64_t) run->num_threads;
}

static uint64_t
segment_end(const mgpu_run *run, uint64_t segment)
{
	return segment + 1 < run->job.num_segments ?
		run->binding.in_segment_heads[segment + 1] : run->job.num_items;
}

/* First segment whose head is not before position. */
static uint64_t
segment_from(const mgpu_run *run, uint64_t position)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	begin = 0;
	uint64_t	length = run->job.num_segments;

	while (length > 0)
	{
		uint64_t	half = length / 2;

		if (heads[begin + half] < position)
		{
			begin += half + 1;
			length -= half + 1;
		}
		else
			length = half;
	}
	return begin;
}

static char *
out_key_at(const mgpu_run *run, uint64_t i)
{
	return (char *) run->binding.out_keys + i * run->job.key_width;
}

/* Networks take segments from the input to the result, integers without a pass before or behind. */
static uint64_t
sort_by_networks(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint32_t	width = run->job.key_width;
	uint64_t	begin = heads[first];
	const void *keys = (const char *) run->keys.data + begin * width;
	mgpu_flips	flips = {run->keys.codec.flip, run->codec.flip};
	uint64_t	codes[MGPU_SEGMENT_BLOCK_BYTES / sizeof(uint64_t)];
	uint64_t	num_sorted;

	if (run->tuning.vectors == 0 || mgpu_vector_items(width) == 0)
		return 0;
	if (run->codec.kind != MGPU_KEY_FLOAT)
		return mgpu_vector_sort_segments(keys, out_key_at(run, begin), heads + first, last - first,
										 (uint32_t) end, width, &flips);
	flips = (mgpu_flips) {0};
	mgpu_encode_items(&run->keys.codec, keys, codes, end - begin);
	num_sorted = mgpu_vector_sort_segments(codes, out_key_at(run, begin), heads + first, last - first,
										   (uint32_t) end, width, &flips);
	if (first + num_sorted < last)
		end = heads[first + num_sorted];
	mgpu_decode_items(&run->codec, out_key_at(run, begin), out_key_at(run, begin), end - begin);
	return num_sorted;
}

static void
sort_key_segment(mgpu_run *run, uint64_t begin, uint64_t end)
{
	uint32_t	width = run->job.key_width;
	char	   *out = out_key_at(run, begin);

	mgpu_encode_items(&run->keys.codec, (const char *) run->keys.data + begin * width, out, end - begin);
	mgpu_sort_codes(out, end - begin, width);
	mgpu_decode_items(&run->codec, out, out, end - begin);
}

/* Segments that make up at most a block, or a single longer one. */
static void
sort_segments(mgpu_run *run, uint64_t first, uint64_t last, int worker)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	end = segment_end(run, last - 1);

	if (run->job.op == MGPU_OP_SORT_PAIRS)
	{
		mgpu_order_segments(run, first, last, end, worker);
		return;
	}
	if (end - heads[first] <= mgpu_segment_block_items(run))
		first += sort_by_networks(run, first, last, end);
	for (; first < last; first++)
		sort_key_segment(run, heads[first], segment_end(run, first));
}

static void
note_long_segment(mgpu_run *run, uint64_t segment)
{
	mgpu_segments *state = run->state;
	uint32_t	number = atomic_fetch_add(&state->num_long, 1);

	((uint32_t *) state->long_segments.data)[number] = (uint32_t) segment;
}

/* As many segments at a time as fit a block, or one that does not. */
static void
segments_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	block_items = mgpu_segment_block_items(run);
	uint64_t	segment = segment_from(run, task * run->tuning.segment_task_items);
	uint64_t	end = segment_from(run, (task + 1) * run->tuning.segment_task_items);

	while (segment < end)
	{
		uint64_t	first = segment;
		bool		is_alone;

		while (segment < end && segment_end(run, segment) - heads[first] <= block_items)
			segment++;
		is_alone = segment == first;
		segment += is_alone;
		if (is_alone && segment_end(run, first) - heads[first] > mgpu_segment_most_items(run))
			note_long_segment(run, first);
		else
			sort_segments(run, first, segment, worker);
	}
}

static bool
start_segments(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_segments *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for segments");
		return false;
	}
	run->state = state;
	state->worker_bytes = mgpu_segment_scratch_bytes(run);
	if (!mgpu_buffer_allocate(&state->long_segments,
							  run->job.num_items / mgpu_segment_most_items(run) * sizeof(uint32_t), status, err) ||
		!mgpu_buffer_allocate(&state->scratch, state->worker_bytes * (uint64_t) run->num_threads, status, err))
		return false;
	mgpu_begin_phase(run, segments_task, mgpu_num_tasks(run->job.num_items, run->tuning.segment_task_items));
	return true;
}

static void
release_long(mgpu_segments *state)
{
	if (state->run == NULL)
		return;
	if (state->run->state != NULL)
		state->run->strategy->release(state->run);
	mgpu_buffer_free(&state->run->own_indices);
	free(state->run);
	state->run = NULL;
}

/* What a long segment's run reads and writes, and what is made of its pairs. */
static void
bind_long(const mgpu_run *run, uint64_t begin, mgpu_job *job, mgpu_binding *binding)
{
	binding->in_keys = (const char *) run->keys.data + begin * job->key_width;
	if (job->outputs & MGPU_OUT_KEYS)
		binding->out_keys = out_key_at(run, begin);
	if (mgpu_segments_move_values(run))
	{
		if (job->value_width == 0)
			return;
		binding->in_values = (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * job->value_width;
		binding->out_values = (char *) run->binding.out_values + begin * job->value_width;
	}
	else if (job->op == MGPU_OP_SORT_PAIRS)
	{
		job->value_width = 0;
		job->outputs = (job->outputs & MGPU_OUT_KEYS) | MGPU_OUT_INDICES;
		binding->out_indices = run->indices + begin;
	}
}

/* A run of its own for the next long segment, on this run's threads. */
static bool
open_long(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_segments *state = run->state;
	uint32_t	segment = ((const uint32_t *) state->long_segments.data)[state->next_long++];
	mgpu_job	job = run->job;
	mgpu_binding binding = {0};

	state->long_begin = run->binding.in_segment_heads[segment];
	job.num_items = segment_end(run, segment) - state->long_begin;
	job.num_segments = 0;
	bind_long(run, state->long_begin, &job, &binding);
	state->run = calloc(1, sizeof(*state->run));
	if (state->run == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a run");
		return false;
	}
	mgpu_run_plan(state->run, &job, &binding, &run->options, run->num_threads);
	state->run->pool = run->pool;
	state->run->keys = (mgpu_source) {binding.in_keys, run->keys.codec};
	state->run->in[MGPU_CHANNEL_VALUES] = binding.in_values;
	return mgpu_run_indices(state->run, status, err);
}

/* Indices of a long segment count from its head. */
static void
shift_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_segments *state = run->state;
	uint32_t   *indices = run->indices + state->long_begin;
	uint64_t	num_items = state->run->job.num_items;
	uint64_t	end = num_items - task * run->pass_items < run->pass_items ? num_items : (task + 1) * run->pass_items;

	(void) worker;
	for (uint64_t i = task * run->pass_items; i < end; i++)
		indices[i] += (uint32_t) state->long_begin;
}

/* Phases of long segments, one segment after another; false when all are done. */
static bool
advance_long(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_segments *state = run->state;

	for (;;)
	{
		if (state->run == NULL)
		{
			if (state->next_long == atomic_load(&state->num_long) || !open_long(run, status, err))
				return false;
		}
		if (!state->is_shifting && state->run->strategy->advance(state->run, status, err))
		{
			run->phase_open = true;		/* the pool is this run's too */
			return true;
		}
		if (*status != MGPU_OK)
			return false;
		if (!state->is_shifting && run->job.op == MGPU_OP_SORT_PAIRS && !mgpu_segments_move_values(run))
		{
			state->is_shifting = true;
			run->pass_items = mgpu_pass_items(run, sizeof(uint32_t));
			mgpu_begin_phase(run, shift_task, mgpu_num_tasks(state->run->job.num_items, run->pass_items));
			return true;
		}
		state->is_shifting = false;
		release_long(state);
	}
}

static bool
segments_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	switch (run->step)
	{
		case 0:
			run->step = 1;
			return start_segments(run, status, err);
		case 1:
			if (advance_long(run, status, err))
				return true;
			if (*status != MGPU_OK)
				return false;
			run->step = 2;
			/* FALLTHROUGH */
		default:
			return run->job.op == MGPU_OP_SORT_PAIRS && !mgpu_segments_move_values(run) &&
				mgpu_begin_gather_pass(run, MGPU_OUT_VALUES);
	}
}

static void
segments_release(mgpu_run *run)
{
	mgpu_segments *state = run->state;

	release_long(state);
	mgpu_buffer_free(&state->long_segments);
	mgpu_buffer_free(&state->scratch);
	free(state);
}

const mgpu_strategy mgpu_strategy_segments = {
	.algorithm = MGPU_ALGORITHM_QUICK,
	.codes_in_result = false,
	.scratch_bytes = segments_scratch_bytes,
	.advance = segments_advance,
	.release = segments_release,
};
