/*
 * advance.c
 *		A run's next phase: input that is in order is copied, all other input is the
 *		strategy's.
 *
 * Tasks go through their items in blocks on the stack that fit the first-level cache.
 */
#include "core/cpu/cpu_run.h"

#include <string.h>

#define BLOCK_ITEMS 512

/* Ends as soon as both orders are broken, by any task. */
static void
order_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_u128	codes[BLOCK_ITEMS];
	mgpu_order_watch watch;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_task_end(run, task);

	if (begin > 0)
		begin--;				/* also compare across the border of two tasks */
	mgpu_order_watch_init(&watch, run->job.op == MGPU_OP_SORT_PAIRS);
	for (; begin + 1 < end; begin += BLOCK_ITEMS - 1)
	{
		uint64_t	num_items = mgpu_min(end - begin, BLOCK_ITEMS);

		mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), codes, num_items);
		watch.num_seen = 0;
		mgpu_order_watch_codes(&watch, codes, run->job.key_width, num_items);
		if (!watch.ascending)
			atomic_store(&run->ascending, false);
		if (!watch.descending)
			atomic_store(&run->descending, false);
		if (!atomic_load(&run->ascending) && !atomic_load(&run->descending))
			return;
	}
}

/*
 * Begin a phase that sets run->ascending and run->descending (strictly, for pairs).
 * False if it needs no phase: streamed keys were watched when they arrived.
 */
static bool
begin_order_pass(mgpu_run *run)
{
	if (run->binding.in_keys == NULL)
	{
		atomic_store(&run->ascending, run->order.ascending);
		atomic_store(&run->descending, run->order.descending);
		return false;
	}
	atomic_store(&run->ascending, true);
	atomic_store(&run->descending, true);
	mgpu_begin_pass(run, order_task, run->job.key_width);
	return true;
}

/*
 * Encoding and decoding makes floats canonical, as all other paths to the result
 * do.  Integers stay unchanged.
 */
static void
copy_keys(const mgpu_run *run, uint64_t begin, uint64_t to, uint64_t num_items)
{
	void	   *keys = mgpu_out_key_at(run, to);

	mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), keys, num_items);
	if (run->pass_reversed)
		mgpu_reverse_items(keys, run->job.key_width, num_items);
	mgpu_decode_items(&run->codec, keys, keys, num_items);
}

static void
copy_values(const mgpu_run *run, uint64_t begin, uint64_t to, uint64_t num_items)
{
	uint32_t	width = run->job.value_width;
	char	   *values = (char *) run->binding.out_values + to * width;

	memcpy(values, (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * width, num_items * width);
	if (run->pass_reversed)
		mgpu_reverse_items(values, width, num_items);
}

static void
copy_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint32_t	outputs = run->job.outputs;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_task_end(run, task);

	while (begin < end)
	{
		uint64_t	num_items = mgpu_min(end - begin, BLOCK_ITEMS);
		uint64_t	to = run->pass_reversed ? run->job.num_items - begin - num_items : begin;

		if (outputs & MGPU_OUT_KEYS)
			copy_keys(run, begin, to, num_items);
		if (outputs & MGPU_OUT_INDICES)
			for (uint64_t i = 0; i < num_items; i++)
				run->binding.out_indices[to + i] =
					(uint32_t) (run->pass_reversed ? begin + num_items - 1 - i : begin + i);
		if (outputs & MGPU_OUT_VALUES)
			copy_values(run, begin, to, num_items);
		begin += num_items;
	}
}

bool
mgpu_run_next_phase(mgpu_run *run)
{
	if (!run->strategy->copies_ordered)
		return run->strategy->advance(run);
	if (run->order_step == 0)
	{
		run->order_step = 1;
		if (begin_order_pass(run))
			return true;
	}
	if (run->order_step == 1)
	{
		run->order_step = 2;
		run->pass_reversed = !atomic_load(&run->ascending);
		/* what stands in the result already cannot be reversed block by block */
		run->is_copied = !run->pass_reversed ||
			(atomic_load(&run->descending) && run->keys.data != run->binding.out_keys);
		if (run->is_copied)
		{
			mgpu_begin_pass(run, copy_task, run->job.key_width + run->job.value_width);
			return true;
		}
	}
	return !run->is_copied && run->strategy->advance(run);
}
