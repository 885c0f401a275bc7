/*
 * gather.c
 *		See gather.h.
 *
 * A task prefetches its elements while it counts their bytes, so that they are in
 * cache when it copies them.
 */
#include "gather.h"

#include <sched.h>
#include <string.h>

/* Prefetch distance, in elements. */
#define PLACES_AHEAD 48

/* Reads of the previous task's end before this task yields the processor. */
#define PATIENCE 4096

typedef struct found_element
{
	const char *start;
	uint64_t	bytes;
} found_element;

/*
 * gcc assumes that a function that only prefetches has no effect and drops its
 * calls, unless the function is always inlined.
 */
__attribute__((always_inline)) static inline void
fetch(const found_element *element)
{
	__builtin_prefetch(element->start);
	__builtin_prefetch(element->start + (element->bytes | 1) - 1);
}

/* Returns the bytes of all elements. */
static uint64_t
find_by_offset(const mgpu_gather *gather, const uint32_t *positions, uint32_t num_items, found_element *found)
{
	const uint32_t *offsets = gather->offsets;
	uint64_t	total = 0;

	for (uint32_t i = 0; i < num_items; i++)
	{
		uint32_t	begin = offsets[positions[i]];

		if (i + PLACES_AHEAD < num_items)
			__builtin_prefetch(&offsets[positions[i + PLACES_AHEAD]]);
		found[i].start = gather->data + begin;
		found[i].bytes = offsets[positions[i] + 1] - begin;
		total += found[i].bytes;
		fetch(&found[i]);
	}
	return total;
}

static void
start_by_cell(const mgpu_gather *gather, const uint32_t *positions, uint32_t num_items, found_element *found)
{
	for (uint32_t i = 0; i < num_items; i++)
	{
		if (i + PLACES_AHEAD < num_items)
			__builtin_prefetch(&gather->cells[positions[i + PLACES_AHEAD]]);
		found[i].start = gather->cells[positions[i]];
		__builtin_prefetch(found[i].start);
	}
}

static void
start_by_span(const mgpu_gather *gather, const uint32_t *positions, uint32_t num_items, found_element *found)
{
	for (uint32_t i = 0; i < num_items; i++)
	{
		if (i + PLACES_AHEAD < num_items)
			__builtin_prefetch(&gather->spans[positions[i + PLACES_AHEAD]]);
		found[i].start = gather->data + gather->spans[positions[i]].offset;
		__builtin_prefetch(found[i].start);
	}
}

static uint64_t
find_by_itself(const mgpu_gather *gather, const uint32_t *positions, uint32_t num_items, found_element *found)
{
	uint64_t	total = 0;

	if (gather->cells)
		start_by_cell(gather, positions, num_items, found);
	else
		start_by_span(gather, positions, num_items, found);
	for (uint32_t i = 0; i < num_items; i++)
	{
		found[i].bytes = gather->bytes_of(found[i].start);
		total += found[i].bytes;
	}
	return total;
}

/*
 * Where the previous task's elements end.  Tasks begin in ascending order, so that
 * task runs or is done.
 */
static uint64_t
wait_for_begin(const mgpu_gather *gather, uint64_t task)
{
	uint64_t	end;

	if (task == 0)
		return 0;
	for (uint32_t reads = 1; (end = atomic_load_explicit(&gather->ends[task - 1], memory_order_acquire)) == 0; reads++)
		if (reads % PATIENCE == 0)
			sched_yield();
	return end - 1;
}

/* Two copies that may overlap, for elements of width to 2 * width bytes. */
#define COPY_BOTH_ENDS(width) \
	(memcpy(dest, start, width), memcpy(dest + bytes - (width), start + bytes - (width), width))

static inline void
copy_element(char *dest, const char *start, uint64_t bytes)
{
	if (bytes > 32)
		memcpy(dest, start, bytes);
	else if (bytes >= 16)
		COPY_BOTH_ENDS(16);
	else if (bytes >= 8)
		COPY_BOTH_ENDS(8);
	else if (bytes >= 4)
		COPY_BOTH_ENDS(4);
	else
		for (uint64_t i = 0; i < bytes; i++)
			dest[i] = start[i];
}

void
mgpu_gather_task(void *context, uint64_t task, int worker)
{
	mgpu_gather *gather = context;
	uint64_t	first = task * gather->task_items;
	uint64_t	rest = gather->num_items - first;
	uint32_t	num_items = rest < gather->task_items ? (uint32_t) rest : gather->task_items;
	const uint32_t *positions = gather->positions + first;
	found_element found[MGPU_GATHER_TASK_ITEMS];
	uint64_t	bytes;
	uint64_t	begin;

	if (gather->offsets)
		bytes = find_by_offset(gather, positions, num_items, found);
	else
		bytes = find_by_itself(gather, positions, num_items, found);
	begin = wait_for_begin(gather, task);
	atomic_store_explicit(&gather->ends[task], begin + bytes + 1, memory_order_release);
	for (uint32_t i = 0; i < num_items; i++)
	{
		copy_element(gather->dest + begin, found[i].start, found[i].bytes);
		begin += found[i].bytes;
	}
}
