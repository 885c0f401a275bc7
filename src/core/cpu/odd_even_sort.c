/*
 * odd_even_sort.c
 *		Strategy for Batcher's odd-even mergesort network (1968), without
 *		recursion.
 *
 * For size = 2, 4 ... and stride = size / 2, size / 4 ... 1, items at a distance of
 * stride are compared and exchanged.  At stride = size / 2, the left items of pairs
 * are those in the lower half of each group of size items.  At smaller strides, a
 * group falls into runs of stride items, and left items are those of odd runs except
 * the last.  Pairs that reach past the end are left out, as if +infinity stood
 * there: any length works.
 *
 * One task sorts the groups within a block that fits a cache.  Above that, each long
 * stride is a pass over memory.  Short strides are done together, first in each
 * block as far as pairs depend on nothing outside it, then in the ranges left
 * around borders.
 */
#include "core/cpu/exchange.h"
#include "core/cpu/cpu_run.h"

/* The longest short stride is the block's items divided by this. */
#define STRIDES_IN_BLOCK 8

#define MIN_BLOCK_ITEMS 64

typedef struct odd_even_state
{
	mgpu_exchange_level level;
	uint64_t	num_items;
	uint64_t	block_items;	/* a power of two */
	uint64_t	num_blocks;		/* blocks at short strides; the last one is the longest */
	uint64_t	short_stride;	/* the longest short stride */
	uint64_t	size;
	uint64_t	stride;
} odd_even_state;

/*
 * Exchange the pairs whose left item is in [begin, end).  Runs of stride left items,
 * each followed by stride right items, begin at first_run.
 */
static void
exchange_runs(const mgpu_run *run, uint64_t first_run, uint64_t stride, uint64_t begin, uint64_t end)
{
	const odd_even_state *state = run->state;
	uint64_t	num_items = state->num_items;

	if (begin >= first_run + stride)
		first_run += (begin - first_run + stride) / (2 * stride) * (2 * stride);
	while (first_run < end && first_run + stride < num_items)
	{
		uint64_t	left = first_run > begin ? first_run : begin;
		uint64_t	stop = mgpu_min(mgpu_min(first_run + stride, end), num_items - stride);

		if (left == first_run && stop == first_run + stride)
		{
			uint64_t	num_runs = mgpu_min((end - first_run + stride) / (2 * stride),
										   (num_items - first_run) / (2 * stride));

			mgpu_exchange_runs(state->level, mgpu_out_key_at(run, first_run), num_runs, stride, run->job.key_width);
			first_run += num_runs * 2 * stride;
			continue;
		}
		if (left < stop)
			mgpu_exchange_items(state->level, mgpu_out_key_at(run, left), mgpu_out_key_at(run, left + stride), stop - left,
								run->job.key_width);
		first_run += 2 * stride;
	}
}

/* Exchange all pairs of one stride whose left item is in [begin, end). */
static void
exchange_range(const mgpu_run *run, uint64_t size, uint64_t stride, uint64_t begin, uint64_t end)
{
	if (stride == size / 2)
	{
		/* lower halves and upper halves of groups alternate throughout */
		exchange_runs(run, 0, stride, begin, end);
		return;
	}
	for (uint64_t group = begin / size * size; group < end; group += size)
	{
		uint64_t	lefts_begin = group + stride;
		uint64_t	lefts_end = group + size - 2 * stride;

		if (begin < lefts_end)
			exchange_runs(run, lefts_begin, stride, begin > lefts_begin ? begin : lefts_begin,
						  mgpu_min(end, lefts_end));
	}
}

static void
sort_block_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const odd_even_state *state = run->state;
	uint64_t	begin = task * state->block_items;
	uint64_t	end = mgpu_min(begin + state->block_items, state->num_items);

	for (uint64_t size = 2; size / 2 < end - begin; size *= 2)
		for (uint64_t stride = size / 2; stride > 0; stride /= 2)
			exchange_range(run, size, stride, begin, end);
}

static void
long_stride_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const odd_even_state *state = run->state;

	exchange_range(run, state->size, state->stride, task * run->pass_items, mgpu_task_end(run, task));
}

/*
 * Left items whose pairs at one short stride a block can exchange: both items'
 * pairs at all longer short strides are within the block.  The range shrinks from
 * stride to stride, and the ranges around borders grow.
 */
typedef struct block_range
{
	uint64_t	begin;
	uint64_t	end;
} block_range;

static block_range
range_of_block(const odd_even_state *state, uint64_t block, uint64_t stride)
{
	block_range range;

	/* begin moves up by all longer strides, end down by those and the stride itself */
	range.begin = block * state->block_items + 2 * (state->short_stride - stride);
	range.end = block + 1 == state->num_blocks ? state->num_items : (block + 1) * state->block_items;
	range.end -= 2 * state->short_stride - stride;
	return range;
}

static void
block_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const odd_even_state *state = run->state;

	for (uint64_t stride = state->short_stride; stride > 0; stride /= 2)
	{
		block_range range = range_of_block(state, task, stride);

		exchange_range(run, state->size, stride, range.begin, range.end);
	}
}

/* The range between those of blocks task - 1 and task. */
static void
border_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const odd_even_state *state = run->state;

	for (uint64_t stride = state->short_stride; stride > 0; stride /= 2)
		exchange_range(run, state->size, stride,
					   task == 0 ? 0 : range_of_block(state, task - 1, stride).end,
					   task == state->num_blocks ? state->num_items : range_of_block(state, task, stride).begin);
}

static void
start_odd_even(mgpu_run *run)
{
	odd_even_state *state = run->state;

	state->level = run->tuning.vectors != 0 ? mgpu_exchange_best_level() : MGPU_EXCHANGE_PORTABLE;
	state->num_items = run->job.num_items;
	state->block_items = MIN_BLOCK_ITEMS;
	while (2 * state->block_items * run->job.key_width <= run->tuning.chunk_bytes)
		state->block_items *= 2;
	state->num_blocks = state->num_items / state->block_items;
	state->short_stride = state->block_items / STRIDES_IN_BLOCK;
	state->size = state->block_items;
}

/* Long strides take a pass each, then all others are done block by block. */
static void
begin_next_stride(mgpu_run *run)
{
	odd_even_state *state = run->state;

	state->stride /= 2;
	run->step = state->stride > state->short_stride ? 3 : 4;
	if (run->step == 3)
		mgpu_begin_pass(run, long_stride_task, run->job.key_width);
	else
		mgpu_begin_phase(run, block_task, state->num_blocks);
}

static bool
odd_even_advance(mgpu_run *run)
{
	odd_even_state *state = run->state;

	switch (run->step)
	{
		case 0:
			run->step = 1;
			start_odd_even(run);
			if (run->binding.in_keys != NULL)
			{
				mgpu_begin_encode_pass(run);
				return true;
			}
			/* FALLTHROUGH */
		case 1:
			run->step = 2;
			mgpu_begin_phase(run, sort_block_task, mgpu_num_tasks(state->num_items, state->block_items));
			return true;
		case 2:
			/* a size is done */
			if (state->size >= state->num_items)
			{
				run->step = 5;
				mgpu_begin_decode_pass(run);
				return true;
			}
			state->size *= 2;
			state->stride = state->size;
			/* FALLTHROUGH */
		case 3:
			begin_next_stride(run);
			return true;
		case 4:
			run->step = 2;
			mgpu_begin_phase(run, border_task, state->num_blocks + 1);
			return true;
		default:
			return false;
	}
}

const mgpu_strategy mgpu_strategy_odd_even = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.state_bytes = sizeof(odd_even_state),
	.codes_in_result = true,
	.advance = odd_even_advance,
};
