/*
 * gather.h
 *		Copies elements of different sizes, from anywhere in memory, to one
 *		contiguous result.
 *
 * A task owns a range of the result.  It finds its elements and counts their bytes,
 * learns from the previous task where they go, tells the next task, and copies.
 * Each element is looked up once, and a task waits only for the counting of
 * another.  Rejected: a separate pass that sums all sizes first, which misses the
 * cache as often as the copy.
 */
#ifndef MGPU_GATHER_H
#define MGPU_GATHER_H

#include <stdatomic.h>
#include <stdint.h>

#include "byte_keys.h"
#include "sizes.h"

/* Most items of one task. */
#define MGPU_GATHER_TASK_ITEMS MGPU_SIZE(1024, 64)

/* Approximate bytes of one task: it ends soon enough for a cancel. */
#define MGPU_GATHER_TASK_BYTES MGPU_SIZE(4 * 1024 * 1024, 64 * 1024)

/* All memory is the caller's. */
typedef struct mgpu_gather
{
	/*
	 * Element i is data[offsets[i], offsets[i + 1]).  If offsets is NULL, it begins
	 * at cells[i] or, if that is NULL too, at data + spans[i].offset, and bytes_of
	 * returns its length.
	 */
	const char *data;
	const uint32_t *offsets;
	const char *const *cells;
	const mgpu_span *spans;
	uint32_t	(*bytes_of) (const char *element);

	/* Number of the element at each place of the result. */
	const uint32_t *positions;
	uint64_t	num_items;
	uint32_t	task_items;		/* mgpu_gather_task_items */
	char	   *dest;

	/* One entry a task, zeroed by the caller: where the task's elements end in dest, plus one. */
	_Atomic uint64_t *ends;
} mgpu_gather;

/* task_items for num_items elements of num_bytes bytes in all. */
static inline uint32_t
mgpu_gather_task_items(uint64_t num_items, uint64_t num_bytes)
{
	uint64_t	mean_bytes = num_items > 0 ? num_bytes / num_items + 1 : 1;
	uint64_t	items = MGPU_GATHER_TASK_BYTES / mean_bytes;

	if (items < 1)
		return 1;
	return items < MGPU_GATHER_TASK_ITEMS ? (uint32_t) items : MGPU_GATHER_TASK_ITEMS;
}

static inline uint64_t
mgpu_gather_tasks(const mgpu_gather *gather)
{
	return (gather->num_items + gather->task_items - 1) / gather->task_items;
}

/* A task; context is the gather.  Tasks must begin in ascending order. */
void		mgpu_gather_task(void *context, uint64_t task, int worker);

#endif							/* MGPU_GATHER_H */
