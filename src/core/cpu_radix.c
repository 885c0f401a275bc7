/*
 * cpu_radix.c
 *		Strategy for an explicitly requested radix sort.
 *
 * Least significant digit first, a byte a pass (Seward 1954): every chunk counts
 * its digits, prefix sums over (digit, chunk) say where each chunk writes, and
 * the chunks scatter in parallel, each in input order, so passes are stable.  A
 * digit that all items share costs its count alone.  Eleven-bit digits were
 * rejected: two thousand write streams cost more than the passes they save.
 */
#include "cpu_sides.h"

#include <stdlib.h>
#include <string.h>

#define NUM_DIGITS 256

typedef struct radix_state
{
	mgpu_sides	sides;			/* first: see cpu_sides.h */
	uint32_t	digit;			/* byte of the code, from the least one up */
	uint64_t	chunk_items;
	uint64_t	num_chunks;
	mgpu_buffer sizes;			/* uint32_t [chunks][NUM_DIGITS], then places */
} radix_state;

/* A chunk, and never more than 4096 of them, to bound the table of sizes. */
static uint64_t
plan_chunk_items(const mgpu_run *run)
{
	uint64_t	fewest = run->job.num_items / 4096 + 1;

	return run->tuning.pair_chunk_items > fewest ? run->tuning.pair_chunk_items : fewest;
}

static uint64_t
table_bytes(const mgpu_run *run)
{
	return mgpu_num_tasks(run->job.num_items, plan_chunk_items(run)) * NUM_DIGITS * sizeof(uint32_t);
}

static uint64_t
radix_scratch_bytes(const mgpu_run *run)
{
	return mgpu_sides_bytes(run) + table_bytes(run);
}

static uint32_t *
chunk_table(const radix_state *state, uint64_t chunk)
{
	return (uint32_t *) state->sizes.data + chunk * NUM_DIGITS;
}

static uint64_t
chunk_end(const mgpu_run *run, uint64_t chunk)
{
	const radix_state *state = run->state;
	uint64_t	end = (chunk + 1) * state->chunk_items;

	return end < run->job.num_items ? end : run->job.num_items;
}

static void
count_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	radix_state *state = run->state;
	uint32_t   *sizes = chunk_table(state, task);
	const uint8_t *digits = (const uint8_t *) state->sides.codes[state->sides.current] + state->digit;
	uint64_t	end = chunk_end(run, task);

	(void) worker;
	memset(sizes, 0, NUM_DIGITS * sizeof(*sizes));
	for (uint64_t i = task * state->chunk_items; i < end; i++)
		sizes[digits[i * run->job.key_width]]++;
}

/* Sizes become places; false when one digit has all items. */
static bool
place_chunks(const mgpu_run *run)
{
	radix_state *state = run->state;
	uint64_t	place = 0;

	for (uint32_t digit = 0; digit < NUM_DIGITS; digit++)
	{
		uint64_t	begin = place;

		for (uint64_t chunk = 0; chunk < state->num_chunks; chunk++)
		{
			uint32_t   *entry = chunk_table(state, chunk) + digit;
			uint32_t	size = *entry;

			*entry = (uint32_t) place;
			place += size;
		}
		if (place - begin == run->job.num_items)
			return false;
	}
	return true;
}

#define DEFINE_SCATTER(name, type) \
static void \
name(const type *from, type *to, const uint32_t *indices_from, uint32_t *indices_to, \
	 uint64_t begin, uint64_t end, unsigned shift, uint32_t *places) \
{ \
	if (indices_from == NULL) \
		for (uint64_t i = begin; i < end; i++) \
			to[places[(uint8_t) (from[i] >> shift)]++] = from[i]; \
	else \
		for (uint64_t i = begin; i < end; i++) \
		{ \
			uint32_t	place = places[(uint8_t) (from[i] >> shift)]++; \
			to[place] = from[i]; \
			indices_to[place] = indices_from[i]; \
		} \
}

DEFINE_SCATTER(scatter_1, uint8_t)
DEFINE_SCATTER(scatter_2, uint16_t)
DEFINE_SCATTER(scatter_4, uint32_t)
DEFINE_SCATTER(scatter_8, uint64_t)
DEFINE_SCATTER(scatter_16, mgpu_u128)

static void
scatter_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	radix_state *state = run->state;
	int			current = state->sides.current;
	const void *from = state->sides.codes[current];
	void	   *to = state->sides.codes[!current];
	const uint32_t *indices_from = state->sides.indices[current];
	uint32_t   *indices_to = state->sides.indices[!current];
	uint64_t	begin = task * state->chunk_items;
	uint64_t	end = chunk_end(run, task);
	unsigned	shift = 8 * state->digit;
	uint32_t   *places = chunk_table(state, task);

	(void) worker;
	if (run->job.key_width == 1)
		scatter_1(from, to, indices_from, indices_to, begin, end, shift, places);
	else if (run->job.key_width == 2)
		scatter_2(from, to, indices_from, indices_to, begin, end, shift, places);
	else if (run->job.key_width == 4)
		scatter_4(from, to, indices_from, indices_to, begin, end, shift, places);
	else if (run->job.key_width == 8)
		scatter_8(from, to, indices_from, indices_to, begin, end, shift, places);
	else
		scatter_16(from, to, indices_from, indices_to, begin, end, shift, places);
}

static bool
start_radix(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	radix_state *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for radix sort");
		return false;
	}
	run->state = state;
	state->chunk_items = plan_chunk_items(run);
	state->num_chunks = mgpu_num_tasks(run->job.num_items, state->chunk_items);
	return mgpu_sides_start(run, &state->sides, status, err) &&
		mgpu_buffer_allocate(&state->sizes, table_bytes(run), status, err);
}

static bool
radix_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	radix_state *state = run->state;

	switch (run->step)
	{
		case 0:
			if (!start_radix(run, status, err))
				return false;
			state = run->state;
			run->step = 1;
			if (mgpu_sides_begin_load(run, &state->sides))
				return true;
			/* FALLTHROUGH */
		case 1:
			run->step = 2;
			if (run->job.op == MGPU_OP_SORT_PAIRS)
			{
				mgpu_begin_identity_pass(run, false);
				return true;
			}
			/* FALLTHROUGH */
		case 2:
			run->step = 3;
			mgpu_begin_phase(run, count_task, state->num_chunks);
			return true;
		case 3:
			run->step = 4;
			if (place_chunks(run))
			{
				mgpu_begin_phase(run, scatter_task, state->num_chunks);
				return true;
			}
			state->sides.current = !state->sides.current;	/* as if scattered back */
			/* FALLTHROUGH */
		case 4:
			state->sides.current = !state->sides.current;
			if (++state->digit < run->job.key_width)
			{
				run->step = 3;
				mgpu_begin_phase(run, count_task, state->num_chunks);
				return true;
			}
			run->step = 5;
			/* FALLTHROUGH */
		default:
			return mgpu_sides_finish(run, &state->sides);
	}
}

static void
radix_release(mgpu_run *run)
{
	radix_state *state = run->state;

	mgpu_sides_release(&state->sides);
	mgpu_buffer_free(&state->sizes);
	free(state);
}

const mgpu_strategy mgpu_strategy_radix = {
	.algorithm = MGPU_ALGORITHM_RADIX,
	.codes_in_result = false,
	.scratch_bytes = radix_scratch_bytes,
	.advance = radix_advance,
	.release = radix_release,
};
