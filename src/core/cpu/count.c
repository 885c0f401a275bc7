/*
 * count.c
 *		Strategy for keys of one and two bytes: counting sort.
 *
 * Each worker counts into its own table.  Then each value is written as often as it
 * occurred.
 */
#include "core/cpu/run.h"

#include <stdlib.h>
#include <string.h>

/* Counts of each worker, and their sums. */
typedef struct count_state
{
	mgpu_buffer tables;			/* uint32_t [workers][num_codes] */
	mgpu_buffer ends;			/* uint64_t [num_codes]: where codes end */
	uint32_t	num_codes;
} count_state;

#define BLOCK_ITEMS 2048

static void
count_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	count_state *state = run->state;
	uint32_t   *counts = (uint32_t *) state->tables.data + (uint64_t) worker * state->num_codes;
	uint64_t	end = (task + 1) * run->pass_items;
	uint16_t	block[BLOCK_ITEMS];

	if (end > run->job.num_items)
		end = run->job.num_items;
	for (uint64_t begin = task * run->pass_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint64_t	num_items = end - begin < BLOCK_ITEMS ? end - begin : BLOCK_ITEMS;
		const char *keys = (const char *) run->keys.data + begin * run->job.key_width;

		mgpu_encode_items(&run->keys.codec, keys, block, num_items);
		if (run->job.key_width == 1)
			for (uint64_t i = 0; i < num_items; i++)
				counts[((const uint8_t *) block)[i]]++;
		else
			for (uint64_t i = 0; i < num_items; i++)
				counts[block[i]]++;
	}
}

static void
sum_counts(mgpu_run *run)
{
	count_state *state = run->state;
	const uint32_t *counts = state->tables.data;
	uint64_t   *ends = state->ends.data;
	uint64_t	end = 0;

	for (uint32_t code = 0; code < state->num_codes; code++)
	{
		for (int worker = 0; worker < run->num_threads; worker++)
			end += counts[(uint64_t) worker * state->num_codes + code];
		ends[code] = end;
	}
}

/* The code at a position of the result: the first that ends behind it. */
static uint32_t
code_at(const count_state *state, uint64_t position)
{
	const uint64_t *ends = state->ends.data;
	uint32_t	code = 0;
	uint32_t	length = state->num_codes;

	while (length > 0)
	{
		uint32_t	half = length / 2;

		if (ends[code + half] <= position)
		{
			code += half + 1;
			length -= half + 1;
		}
		else
			length = half;
	}
	return code;
}

static void
fill_items(const mgpu_run *run, uint32_t code, uint64_t begin, uint64_t end)
{
	uint16_t	wide = (uint16_t) code;
	uint8_t		narrow = (uint8_t) code;

	if (run->job.key_width == 1)
	{
		mgpu_decode_items(&run->codec, &narrow, &narrow, 1);
		memset((uint8_t *) run->binding.out_keys + begin, narrow, end - begin);
		return;
	}
	mgpu_decode_items(&run->codec, &wide, &wide, 1);
	for (uint64_t i = begin; i < end; i++)
		((uint16_t *) run->binding.out_keys)[i] = wide;
}

static void
fill_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	count_state *state = run->state;
	const uint64_t *ends = state->ends.data;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = begin + run->pass_items;

	if (end > run->job.num_items)
		end = run->job.num_items;
	for (uint32_t code = code_at(state, begin); begin < end; code++)
	{
		uint64_t	stop = ends[code] < end ? ends[code] : end;

		fill_items(run, code, begin, stop);
		begin = stop;
	}
}

static bool
count_start(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	count_state *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for counting");
		return false;
	}
	run->state = state;
	state->num_codes = UINT32_C(1) << (8 * run->job.key_width);
	if (!mgpu_buffer_allocate(&state->tables, sizeof(uint32_t) * state->num_codes * (uint64_t) run->num_threads,
							  status, err) ||
		!mgpu_buffer_allocate(&state->ends, sizeof(uint64_t) * state->num_codes, status, err))
		return false;
	memset(state->tables.data, 0, state->tables.bytes);
	return true;
}

static bool
count_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	uint64_t	num_tasks;

	run->pass_items = mgpu_pass_items(run, run->job.key_width);
	num_tasks = mgpu_num_tasks(run->job.num_items, run->pass_items);
	switch (run->step++)
	{
		case 0:
			if (!count_start(run, status, err))
				return false;
			mgpu_begin_phase(run, count_task, num_tasks);
			return true;
		case 1:
			sum_counts(run);
			mgpu_begin_phase(run, fill_task, num_tasks);
			return true;
		default:
			return false;
	}
}

static void
count_release(mgpu_run *run)
{
	count_state *state = run->state;

	mgpu_buffer_free(&state->tables);
	mgpu_buffer_free(&state->ends);
	free(state);
}

const mgpu_strategy mgpu_strategy_count = {
	.algorithm = MGPU_ALGORITHM_RADIX,
	.codes_in_result = true,
	.advance = count_advance,
	.release = count_release,
};
