/*
 * partition.h
 *		A run's items cut into buckets that fit a cache: the phases of it.
 *
 * Bounds come from a random sample (bounds.h).  Each chunk of the input counts how
 * many of its items go to each bucket; prefix sums say where each chunk's items
 * begin in each bucket; then chunks move their items, and buckets are sorted.
 * Chunks are numbered in input order, so items of a bucket keep that order
 * whatever the number of threads.
 */
#ifndef MGPU_CPU_PARTITION_H
#define MGPU_CPU_PARTITION_H

#include "core/bounds.h"
#include "core/cpu/run.h"

/* What a strategy does; tasks have the run as context. */
typedef struct mgpu_partition_tasks
{
	mgpu_task_function count;	/* chunk number task: fills its row with sizes */
	mgpu_task_function move;	/* chunk number task: its items to the places its row says */
	mgpu_task_function sort;	/* bucket number task */

	/* Buckets are known: take memory and begin a touch pass. */
	bool		(*prepare) (mgpu_run *run, mgpu_status *status, mgpu_error *err);
} mgpu_partition_tasks;

typedef struct mgpu_partition
{
	const mgpu_partition_tasks *tasks;
	mgpu_bounds bounds;
	uint32_t	planned_buckets;
	int			num_samplings;
	int			step;
	uint64_t	num_items;
	uint64_t	chunk_items;
	uint64_t	num_chunks;
	mgpu_buffer table;			/* uint32_t [num_chunks][2 * planned_buckets] */
	uint64_t	begin[MGPU_MAX_BUCKETS + 1];	/* where buckets begin, and num_items */
} mgpu_partition;

/*
 * For about planned_buckets buckets of the same size.  Of tasks, chunk_items (best
 * for caches) and planned_buckets, the caller has set partition's fields.
 */
bool		mgpu_partition_start(mgpu_run *run, mgpu_partition *partition, mgpu_status *status, mgpu_error *err);

/* The next phase; false when all are done, or with *status on failure. */
bool		mgpu_partition_advance(mgpu_run *run, mgpu_partition *partition, mgpu_status *status, mgpu_error *err);

void		mgpu_partition_release(mgpu_partition *partition);

/* Of a chunk, by bucket: sizes from count on, places from prepare on. */
static inline uint32_t *
mgpu_chunk_row(const mgpu_partition *partition, uint64_t chunk)
{
	return (uint32_t *) partition->table.data + chunk * 2 * partition->planned_buckets;
}

/* One past a chunk's last item. */
static inline uint64_t
mgpu_chunk_end(const mgpu_partition *partition, uint64_t chunk)
{
	uint64_t	end = (chunk + 1) * partition->chunk_items;

	return end < partition->num_items ? end : partition->num_items;
}

/* Items of the largest bucket that needs sorting. */
uint64_t	mgpu_largest_bucket(const mgpu_partition *partition);

#endif							/* MGPU_CPU_PARTITION_H */
