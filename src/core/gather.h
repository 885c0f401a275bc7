/*
 * gather.h
 *		Elements of many widths, wherever they lie, one behind the other.
 *
 * A task has a stretch of the result.  It finds its elements and how many bytes
 * they take, learns from the task before it where they go, tells the next one,
 * and copies: each element is looked up once, and threads wait for nothing but
 * another's counting.  Rejected: summing up all sizes in a pass of its own, which
 * takes as many misses of the cache as copying does.
 */
#ifndef MGPU_GATHER_H
#define MGPU_GATHER_H

#include <stdatomic.h>
#include <stdint.h>

#include "byte_keys.h"
#include "sizes.h"

/* Items of one task at most. */
#define MGPU_GATHER_TASK_ITEMS MGPU_SIZE(1024, 64)

/* The same in bytes, about: a task ends in time for a cancel. */
#define MGPU_GATHER_TASK_BYTES MGPU_SIZE(4 * 1024 * 1024, 64 * 1024)

/* All memory is the caller's. */
typedef struct mgpu_gather
{
	/*
	 * Element i is offsets[i] … offsets[i + 1] of data; or, where offsets is NULL, it
	 * begins at cells[i] or, where that is NULL too, at data + spans[i].offset, and
	 * bytes_of says how many bytes it has.
	 */
	const char *data;
	const uint32_t *offsets;
	const char *const *cells;
	const mgpu_span *spans;
	uint32_t	(*bytes_of) (const char *element);

	/* The element at each place of the result. */
	const uint32_t *positions;
	uint64_t	num_items;
	uint32_t	task_items;		/* mgpu_gather_task_items */
	char	   *dest;

	/* Where each task's elements end in dest, plus one; of each task, zeroed. */
	_Atomic uint64_t *ends;
} mgpu_gather;

/* For so many elements that take so many bytes together. */
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

/* A task, context a gather.  Tasks must begin in ascending order. */
void		mgpu_gather_task(void *context, uint64_t task, int worker);

#endif							/* MGPU_GATHER_H */
