/*
 * cpu_merge.c
 *		Strategies for an explicitly requested mergesort, and for locality sort.
 *
 * Runs that fit a cache are sorted by vqsort (pairs: order_codes.h), then merged
 * two and two, bottom up, from one side to the other.  A task of a merge pass
 * writes merge_items of output, wherever they come from: Merge Path (Odeh, Green
 * et al. 2012) finds by binary search on two diagonals which items those are, so
 * tasks are equal whatever the data.  Equal items come from the left run first,
 * which keeps the sort stable.
 *
 * Locality sort is the same but looks first: input in order or reversed is
 * copied, and when every run ends where the next begins, no merge is left to do.
 */
#include "cpu_sides.h"

#include <stdlib.h>
#include <string.h>

#include "order_codes.h"

typedef struct merge_state
{
	mgpu_sides	sides;			/* first: see cpu_sides.h */
	uint64_t	run_items;		/* of sorted runs so far */
	mgpu_buffer scratch;		/* pairs, [workers]: packed, codes of a run */
	uint64_t	worker_bytes;
} merge_state;

static uint64_t
order_bytes(const mgpu_run *run)
{
	uint64_t	run_items = run->tuning.run_items;

	if (run->job.op != MGPU_OP_SORT_PAIRS)
		return 0;
	if (run_items > run->job.num_items)
		run_items = run->job.num_items;
	return (run_items * (sizeof(uint64_t) + sizeof(uint32_t)) + 127) / 64 * 64;
}

static uint64_t
merge_scratch_bytes(const mgpu_run *run)
{
	return mgpu_sides_bytes(run) + order_bytes(run) * (uint64_t) run->num_threads;
}

/* Items [*begin, *end) of a run. */
static void
run_range(const mgpu_run *run, uint64_t task, uint64_t *begin, uint64_t *end)
{
	*begin = task * run->tuning.run_items;
	*end = run->job.num_items - *begin < run->tuning.run_items ?
		run->job.num_items : *begin + run->tuning.run_items;
}

static void
sort_run_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	merge_state *state = run->state;
	uint32_t	width = run->job.key_width;
	uint64_t	begin,
				end;
	char	   *codes;

	(void) worker;
	run_range(run, task, &begin, &end);
	codes = (char *) state->sides.codes[0] + begin * width;
	mgpu_sort_codes(codes, end - begin, width);
}

#define DEFINE_PERMUTE(type) \
static void \
permute_##type(const type *from, const uint64_t *packed, uint64_t mask, type *to, uint64_t num_items) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
		to[i] = from[packed[i] & mask]; \
}

DEFINE_PERMUTE(uint8_t)
DEFINE_PERMUTE(uint16_t)
DEFINE_PERMUTE(uint32_t)
DEFINE_PERMUTE(uint64_t)
DEFINE_PERMUTE(mgpu_u128)

static void
permute(uint32_t width, const void *from, const uint64_t *packed, uint64_t mask,
		void *to, uint64_t num_items)
{
	if (width == 1)
		permute_uint8_t(from, packed, mask, to, num_items);
	else if (width == 2)
		permute_uint16_t(from, packed, mask, to, num_items);
	else if (width == 4)
		permute_uint32_t(from, packed, mask, to, num_items);
	else if (width == 8)
		permute_uint64_t(from, packed, mask, to, num_items);
	else
		permute_mgpu_u128(from, packed, mask, to, num_items);
}

/* Order of a run's codes; narrow ones are widened into scratch first. */
static void
order_run(uint32_t width, const void *codes, uint32_t *widened, uint64_t *packed, uint32_t num_items)
{
	if (width == 16)
		mgpu_order_codes_u128(codes, packed, num_items);
	else if (width == 8)
		mgpu_order_codes_u64(codes, packed, num_items);
	else if (width == 4)
		mgpu_order_codes_u32(codes, packed, num_items);
	else
	{
		for (uint32_t i = 0; i < num_items; i++)
			widened[i] = width == 1 ? ((const uint8_t *) codes)[i] : ((const uint16_t *) codes)[i];
		mgpu_order_codes_u32(widened, packed, num_items);
	}
}

/* Pairs: a run goes from side 0 to side 1, and gets its indices there. */
static void
order_run_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	merge_state *state = run->state;
	uint32_t	width = run->job.key_width;
	uint64_t   *packed = (uint64_t *) ((char *) state->scratch.data + state->worker_bytes * (uint64_t) worker);
	uint64_t	begin,
				end,
				mask;
	const char *codes;

	run_range(run, task, &begin, &end);
	codes = (const char *) state->sides.codes[0] + begin * width;
	mask = mgpu_order_mask((uint32_t) (end - begin));
	order_run(width, codes, (uint32_t *) (packed + (end - begin)), packed, (uint32_t) (end - begin));
	permute(width, codes, packed, mask, (char *) state->sides.codes[1] + begin * width, end - begin);
	for (uint64_t i = begin; i < end; i++)
		state->sides.indices[1][i] = (uint32_t) (begin + (packed[i - begin] & mask));
}

/* Two sorted runs, and the part of their merge that a task writes. */
typedef struct merge_part
{
	uint64_t	a_begin,
				a_end;
	uint64_t	b_begin,
				b_end;
	uint64_t	diagonal_begin,
				diagonal_end;
} merge_part;

static merge_part
find_part(const mgpu_run *run, uint64_t task)
{
	const merge_state *state = run->state;
	uint64_t	num_items = run->job.num_items;
	uint64_t	begin = task * run->tuning.merge_items;
	uint64_t	end = num_items - begin < run->tuning.merge_items ? num_items : begin + run->tuning.merge_items;
	uint64_t	first = begin / (2 * state->run_items) * (2 * state->run_items);
	merge_part	part;

	part.a_begin = first;
	part.a_end = num_items - first < state->run_items ? num_items : first + state->run_items;
	part.b_begin = part.a_end;
	part.b_end = num_items - part.a_end < state->run_items ? num_items : part.a_end + state->run_items;
	part.diagonal_begin = begin - first;
	part.diagonal_end = end - first;
	return part;
}

#define DEFINE_MERGE(name, type) \
static uint64_t \
name##_path(const type *a, uint64_t num_a, const type *b, uint64_t num_b, uint64_t diagonal) \
{ \
	uint64_t	low = diagonal > num_b ? diagonal - num_b : 0; \
	uint64_t	high = diagonal < num_a ? diagonal : num_a; \
	while (low < high) \
	{ \
		uint64_t	middle = low + (high - low) / 2; \
		if (b[diagonal - 1 - middle] < a[middle]) \
			high = middle; \
		else \
			low = middle + 1; \
	} \
	return low; \
} \
static void \
name(const type *from, type *to, const uint32_t *indices_from, uint32_t *indices_to, const merge_part *part) \
{ \
	const type *all_a = from + part->a_begin; \
	const type *all_b = from + part->b_begin; \
	uint64_t	num_a = part->a_end - part->a_begin; \
	uint64_t	num_b = part->b_end - part->b_begin; \
	uint64_t	a = part->a_begin + name##_path(all_a, num_a, all_b, num_b, part->diagonal_begin); \
	uint64_t	a_end = part->a_begin + name##_path(all_a, num_a, all_b, num_b, part->diagonal_end); \
	uint64_t	out = part->a_begin + part->diagonal_begin; \
	uint64_t	b = part->b_begin + (out - a); \
	uint64_t	b_end = part->b_begin + (part->a_begin + part->diagonal_end - a_end); \
	while (a < a_end && b < b_end) \
	{ \
		bool		takes_b = from[b] < from[a]; \
		uint64_t	source = takes_b ? b : a; \
		to[out] = from[source]; \
		if (indices_from != NULL) \
			indices_to[out] = indices_from[source]; \
		out++; \
		a += !takes_b; \
		b += takes_b; \
	} \
	if (a == a_end) \
	{ \
		a = b; \
		a_end = b_end; \
	} \
	memcpy(to + out, from + a, (a_end - a) * sizeof(type)); \
	if (indices_from != NULL) \
		memcpy(indices_to + out, indices_from + a, (a_end - a) * sizeof(uint32_t)); \
}

DEFINE_MERGE(merge_1, uint8_t)
DEFINE_MERGE(merge_2, uint16_t)
DEFINE_MERGE(merge_4, uint32_t)
DEFINE_MERGE(merge_8, uint64_t)
DEFINE_MERGE(merge_16, mgpu_u128)

static void
merge_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	merge_state *state = run->state;
	int			current = state->sides.current;
	merge_part	part = find_part(run, task);
	const void *from = state->sides.codes[current];
	void	   *to = state->sides.codes[!current];
	const uint32_t *indices_from = state->sides.indices[current];
	uint32_t   *indices_to = state->sides.indices[!current];

	(void) worker;
	if (run->job.key_width == 1)
		merge_1(from, to, indices_from, indices_to, &part);
	else if (run->job.key_width == 2)
		merge_2(from, to, indices_from, indices_to, &part);
	else if (run->job.key_width == 4)
		merge_4(from, to, indices_from, indices_to, &part);
	else if (run->job.key_width == 8)
		merge_8(from, to, indices_from, indices_to, &part);
	else
		merge_16(from, to, indices_from, indices_to, &part);
}

/* Whether every run ends before, or equal to, the begin of the next one. */
static bool
runs_are_in_order(const mgpu_run *run)
{
	const merge_state *state = run->state;
	const char *codes = state->sides.codes[state->sides.current];
	mgpu_order_watch watch;

	for (uint64_t next = state->run_items; next < run->job.num_items; next += state->run_items)
	{
		mgpu_order_watch_init(&watch, false);
		mgpu_order_watch_codes(&watch, codes + (next - 1) * run->job.key_width, run->job.key_width, 2);
		if (!watch.ascending)
			return false;
	}
	return true;
}

static bool
start_merge(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	merge_state *state = calloc(1, sizeof(*state));

	if (state == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for mergesort");
		return false;
	}
	run->state = state;
	state->worker_bytes = order_bytes(run);
	return mgpu_sides_start(run, &state->sides, status, err) &&
		mgpu_buffer_allocate(&state->scratch, state->worker_bytes * (uint64_t) run->num_threads, status, err);
}

static void
begin_runs(mgpu_run *run)
{
	merge_state *state = run->state;
	bool		pairs = run->job.op == MGPU_OP_SORT_PAIRS;

	state->run_items = run->tuning.run_items;
	state->sides.current = pairs ? 1 : 0;
	mgpu_begin_phase(run, pairs ? order_run_task : sort_run_task,
					 mgpu_num_tasks(run->job.num_items, state->run_items));
}

/* From the input's arrival to the end of the merges; then sides to result. */
static bool
sort_by_merging(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	merge_state *state = run->state;

	switch (run->step)
	{
		case 2:
			if (!start_merge(run, status, err))
				return false;
			state = run->state;
			run->step = 3;
			if (mgpu_sides_begin_load(run, &state->sides))
				return true;
			/* FALLTHROUGH */
		case 3:
			run->step = 4;
			begin_runs(run);
			return true;
		case 5:
			state->sides.current = !state->sides.current;
			state->run_items *= 2;
			/* FALLTHROUGH */
		case 4:
			if (state->run_items < run->job.num_items &&
				!(run->job.algorithm == MGPU_ALGORITHM_LOCALITY && runs_are_in_order(run)))
			{
				run->step = 5;
				mgpu_begin_phase(run, merge_task, mgpu_num_tasks(run->job.num_items, run->tuning.merge_items));
				return true;
			}
			run->step = 6;
			/* FALLTHROUGH */
		default:
			return mgpu_sides_finish(run, &state->sides);
	}
}

static bool
merge_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	if (run->step < 2)
		run->step = 2;
	return sort_by_merging(run, status, err);
}

/* Input in order, or reversed: straight to the result. */
static bool
copy_in_order(mgpu_run *run)
{
	bool		reversed = !atomic_load(&run->ascending);

	if (run->job.op == MGPU_OP_SORT)
		mgpu_begin_copy_pass(run, reversed);
	else
		mgpu_begin_identity_pass(run, reversed);
	return true;
}

static bool
locality_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	if (run->step == 0)
	{
		run->step = 1;
		if (mgpu_begin_order_pass(run))
			return true;
	}
	if (run->step == 1)
	{
		run->step = 2;
		if (atomic_load(&run->ascending) || atomic_load(&run->descending))
		{
			run->step = 7;
			return copy_in_order(run);
		}
	}
	if (run->step < 7)
		return sort_by_merging(run, status, err);
	return run->step++ == 7 && run->job.op == MGPU_OP_SORT_PAIRS &&
		mgpu_begin_gather_pass(run, MGPU_OUT_KEYS | MGPU_OUT_VALUES);
}

static void
merge_release(mgpu_run *run)
{
	merge_state *state = run->state;

	mgpu_sides_release(&state->sides);
	mgpu_buffer_free(&state->scratch);
	free(state);
}

const mgpu_strategy mgpu_strategy_merge = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.codes_in_result = false,
	.scratch_bytes = merge_scratch_bytes,
	.advance = merge_advance,
	.release = merge_release,
};

const mgpu_strategy mgpu_strategy_locality = {
	.algorithm = MGPU_ALGORITHM_LOCALITY,
	.codes_in_result = false,
	.scratch_bytes = merge_scratch_bytes,
	.advance = locality_advance,
	.release = merge_release,
};
