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
#include "cpu_chunks.h"
#include "cpu_sides.h"

#include <stdlib.h>
#include <string.h>

#define NUM_DIGITS 256

typedef struct radix_state
{
	mgpu_sides	sides;			/* first: see cpu_sides.h */
	uint32_t	digit;			/* byte of the code, from the least one up */
	mgpu_chunks chunks;			/* columns are values of the digit */
} radix_state;

static uint64_t
radix_scratch_bytes(const mgpu_run *run)
{
	return mgpu_sides_bytes(run) +
		mgpu_chunks_bytes(run->job.num_items, run->tuning.pair_chunk_items, NUM_DIGITS);
}

static void
count_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	radix_state *state = run->state;
	uint32_t   *sizes = mgpu_chunk_row(&state->chunks, task);
	const uint8_t *digits = (const uint8_t *) state->sides.codes[state->sides.current] + state->digit;
	uint64_t	end = mgpu_chunk_end(&state->chunks, task);

	(void) worker;
	memset(sizes, 0, NUM_DIGITS * sizeof(*sizes));
	for (uint64_t i = task * state->chunks.chunk_items; i < end; i++)
		sizes[digits[i * run->job.key_width]]++;
}

/* Sizes become places; false when one digit has all items. */
static bool
place_chunks(const mgpu_run *run)
{
	radix_state *state = run->state;
	uint64_t	begin[NUM_DIGITS + 1];

	mgpu_chunks_place(&state->chunks, NUM_DIGITS, begin);
	for (uint32_t digit = 0; digit < NUM_DIGITS; digit++)
		if (begin[digit + 1] - begin[digit] == run->job.num_items)
			return false;
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
	uint64_t	begin = task * state->chunks.chunk_items;
	uint64_t	end = mgpu_chunk_end(&state->chunks, task);
	unsigned	shift = 8 * state->digit;
	uint32_t   *places = mgpu_chunk_row(&state->chunks, task);

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
	return mgpu_sides_start(run, &state->sides, status, err) &&
		mgpu_chunks_start(&state->chunks, run->job.num_items, run->tuning.pair_chunk_items, NUM_DIGITS,
						  status, err);
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
			mgpu_begin_touch_pass(run, state->sides.codes[1], run->job.num_items * run->job.key_width,
								  state->sides.indices[1], run->job.num_items * sizeof(uint32_t));
			return true;
		case 2:
			run->step = 3;
			if (run->job.op == MGPU_OP_SORT_PAIRS)
			{
				mgpu_begin_identity_pass(run, false);
				return true;
			}
			/* FALLTHROUGH */
		case 3:
			run->step = 4;
			mgpu_begin_phase(run, count_task, state->chunks.num_chunks);
			return true;
		case 4:
			run->step = 5;
			if (place_chunks(run))
			{
				mgpu_begin_phase(run, scatter_task, state->chunks.num_chunks);
				return true;
			}
			state->sides.current = !state->sides.current;	/* as if scattered back */
			/* FALLTHROUGH */
		case 5:
			state->sides.current = !state->sides.current;
			if (++state->digit < run->job.key_width)
			{
				run->step = 4;
				mgpu_begin_phase(run, count_task, state->chunks.num_chunks);
				return true;
			}
			run->step = 6;
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
	mgpu_buffer_free(&state->chunks.table);
	free(state);
}

const mgpu_strategy mgpu_strategy_radix = {
	.algorithm = MGPU_ALGORITHM_RADIX,
	.codes_in_result = false,
	.scratch_bytes = radix_scratch_bytes,
	.advance = radix_advance,
	.release = radix_release,
};
