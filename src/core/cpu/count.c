/*
 * count.c
 *		Strategy for keys of one and two bytes: counting sort.
 *
 * Each worker counts into its own table.  Then each value is written as often as it
 * occurred.
 */
#include "core/cpu/cpu_run.h"

#include <string.h>

/* Counts of each worker, and their sums. */
typedef struct count_state
{
	uint32_t   *tables;			/* [workers][num_codes] */
	uint64_t   *ends;			/* [num_codes]: where codes end */
	uint32_t	num_codes;
} count_state;

#define BLOCK_ITEMS 2048

static void
count_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	count_state *state = run->state;
	uint32_t   *counts = state->tables + (uint64_t) worker * state->num_codes;
	uint64_t	end = mgpu_task_end(run, task);
	uint16_t	block[BLOCK_ITEMS];

	for (uint64_t begin = task * run->pass_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint64_t	num_items = mgpu_min(end - begin, BLOCK_ITEMS);

		mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), block, num_items);
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
	const uint32_t *counts = state->tables;
	uint64_t   *ends = state->ends;
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
	uint64_t	code = 0;
	uint64_t	end = state->num_codes;

	MGPU_SEARCH(code, end, state->ends[middle] <= position);
	return (uint32_t) code;
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
	const uint64_t *ends = state->ends;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_task_end(run, task);

	for (uint32_t code = code_at(state, begin); begin < end; code++)
	{
		uint64_t	stop = mgpu_min(ends[code], end);

		fill_items(run, code, begin, stop);
		begin = stop;
	}
}

static bool
count_start(mgpu_run *run)
{
	count_state *state = run->state;
	uint64_t	num_counts;

	state->num_codes = UINT32_C(1) << (8 * run->job.key_width);
	num_counts = state->num_codes * (uint64_t) run->num_threads;
	if ((state->tables = mgpu_allocate(run, num_counts * sizeof(uint32_t))) == NULL ||
		(state->ends = mgpu_allocate(run, state->num_codes * sizeof(uint64_t))) == NULL)
		return false;
	memset(state->tables, 0, num_counts * sizeof(uint32_t));
	return true;
}

static bool
count_advance(mgpu_run *run)
{
	switch (run->step++)
	{
		case 0:
			if (!count_start(run))
				return false;
			mgpu_begin_pass(run, count_task, run->job.key_width);
			return true;
		case 1:
			sum_counts(run);
			mgpu_begin_pass(run, fill_task, run->job.key_width);
			return true;
		default:
			return false;
	}
}

const mgpu_strategy mgpu_strategy_count = {
	.algorithm = MGPU_ALGORITHM_RADIX,
	.state_bytes = sizeof(count_state),
	.codes_in_result = true,
	.advance = count_advance,
};
