/*
 * passes.c
 *		Linear passes over all items, and gathers, shared by the CPU's strategies.
 */
#include "core/cpu/cpu_run.h"

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
