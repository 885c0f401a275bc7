/*
 * phase.c
 *		A run's threads, the phases of independent tasks that they work through, and linear passes
 *		over all items, which strategies share.
 *
 * Input that is in order is copied.  All other input is the strategy's.  Tasks of these passes go
 * through their items in blocks on the stack that fit the first-level cache.
 */
#include "core/cpu/cpu_run.h"

#include <string.h>

#include "core/unsigned_sort.h"

bool
mgpu_start_threads(mgpu_run *run)
{
	if (run->pool != NULL)
		return true;
	mgpu_unsigned_sort_prepare();
	run->pool = mgpu_pool_start(run->num_threads);
	if (run->pool == NULL)
	{
		mgpu_fail(&run->error, MGPU_HOST_MEMORY, "out of memory for threads");
		return false;
	}
	run->num_threads = mgpu_pool_size(run->pool);
	return true;
}

void
mgpu_begin_phase(mgpu_run *run, mgpu_task_function function, uint64_t num_tasks)
{
	if (run->pool == NULL)
		for (uint64_t task = 0; task < num_tasks; task++)
			function(run, task, 0);
	else
	{
		run->phase_open = true;
		mgpu_pool_begin(run->pool, function, run, num_tasks);
	}
}

uint64_t
mgpu_pass_items(const mgpu_run *run, uint32_t item_bytes)
{
	uint64_t	items = run->tuning.step_bytes / item_bytes;

	return items > 0 ? items : 1;
}

uint64_t
mgpu_num_tasks(uint64_t num_items, uint64_t task_items)
{
	return (num_items + task_items - 1) / task_items;
}

void
mgpu_begin_pass(mgpu_run *run, mgpu_task_function function, uint32_t item_bytes)
{
	run->pass_items = mgpu_pass_items(run, item_bytes);
	mgpu_begin_phase(run, function, mgpu_num_tasks(run->job.num_items, run->pass_items));
}

/* ---- passes and gathers */

uint64_t
mgpu_positions_below(const uint32_t *positions, uint64_t num_positions, uint64_t limit)
{
	uint64_t	begin = 0;
	uint64_t	end = num_positions;

	MGPU_SEARCH(begin, end, positions[middle] < limit);
	return begin;
}

/* The smallest page size.  A huge page is touched several times. */
#define PAGE_BYTES 4096

static void
touch_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	begin = task * run->pass_items;

	for (int i = 0; i < 2; i++)
	{
		uint64_t	end = mgpu_min(run->pass_touched[i].bytes, begin + run->pass_items);

		for (uint64_t byte = begin; byte < end; byte += PAGE_BYTES)
			((volatile char *) run->pass_touched[i].data)[byte] = 0;
	}
}

void
mgpu_begin_touch_pass(mgpu_run *run, void *first, uint64_t first_bytes,
					  void *second, uint64_t second_bytes)
{
	uint64_t	longest = first_bytes > second_bytes ? first_bytes : second_bytes;

	run->pass_touched[0].data = first;
	run->pass_touched[0].bytes = first_bytes;
	run->pass_touched[1].data = second;
	run->pass_touched[1].bytes = second != NULL ? second_bytes : 0;
	run->pass_items = run->tuning.step_bytes;
	mgpu_begin_phase(run, touch_task, mgpu_num_tasks(longest, run->pass_items));
}

#define DEFINE_GATHER(type) \
static void \
gather_##type(const type *src, const uint32_t *indices, type *dst, uint64_t num_items) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
		dst[i] = src[indices[i]]; \
} \
static void \
gather_packed_##type(const type *src, const uint64_t *packed, uint64_t mask, type *dst, uint64_t num_items) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
		dst[i] = src[packed[i] & mask]; \
}

MGPU_FOR_WIDTHS(DEFINE_GATHER)

void
mgpu_gather_items(const void *src, uint32_t width, const uint32_t *indices,
				  void *dst, uint64_t num_items)
{
	MGPU_CALL_WIDTH(width, gather, src, indices, dst, num_items);
}

void
mgpu_gather_packed(const void *src, uint32_t width, const uint64_t *packed, uint64_t mask,
				   void *dst, uint64_t num_items)
{
	MGPU_CALL_WIDTH(width, gather_packed, src, packed, mask, dst, num_items);
}

static void
encode_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	begin = task * run->pass_items;

	mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), mgpu_out_key_at(run, begin),
					  mgpu_task_end(run, task) - begin);
}

void
mgpu_begin_encode_pass(mgpu_run *run)
{
	mgpu_begin_pass(run, encode_task, run->job.key_width);
}

static void
decode_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	begin = task * run->pass_items;
	void	   *keys = mgpu_out_key_at(run, begin);

	mgpu_decode_items(&run->codec, keys, keys, mgpu_task_end(run, task) - begin);
}

void
mgpu_begin_decode_pass(mgpu_run *run)
{
	mgpu_begin_pass(run, decode_task, run->job.key_width);
}

/* ---- input in order */

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
