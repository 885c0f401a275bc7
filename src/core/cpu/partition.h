/*
 * partition.h
 *		The phases that cut a run's items into buckets that fit a cache.
 *
 * Bounds come from a random sample (bounds.h).  Each chunk of the input counts its
 * items in each bucket.  Prefix sums give each chunk's first place in each bucket.
 * Then chunks move their items, and buckets are sorted.  Chunks are numbered in
 * input order, so a bucket's items keep that order with any number of threads.
 */
#ifndef MGPU_CPU_PARTITION_H
#define MGPU_CPU_PARTITION_H

#include "core/bounds.h"
#include "core/cpu/cpu_run.h"

/* The strategy's part.  Tasks have the run as context. */
typedef struct mgpu_partition_tasks
{
	mgpu_task_function count;	/* of a chunk: fill its row with sizes */
	mgpu_task_function move;	/* of a chunk: move its items to the places in its row */
	mgpu_task_function sort;	/* of a bucket */

	/* After the count: allocate memory and begin a touch pass. */
	bool		(*prepare) (mgpu_run *run);
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
	uint32_t   *table;			/* [num_chunks][2 * planned_buckets] */
	uint64_t	begin[MGPU_MAX_BUCKETS + 1];	/* where buckets begin, and num_items */
} mgpu_partition;

/*
 * Prepare for about planned_buckets buckets of equal size.  The caller has set
 * tasks, chunk_items (best for caches) and planned_buckets.
 */
bool		mgpu_partition_start(mgpu_run *run, mgpu_partition *partition);

/* Begin the next phase.  False when all are done, or on failure. */
bool		mgpu_partition_advance(mgpu_run *run, mgpu_partition *partition);

/* A chunk's row, one entry a bucket: sizes after the count, places from prepare on. */
static inline uint32_t *
mgpu_chunk_row(const mgpu_partition *partition, uint64_t chunk)
{
	return partition->table + chunk * 2 * partition->planned_buckets;
}

/* One past a chunk's last item. */
static inline uint64_t
mgpu_chunk_end(const mgpu_partition *partition, uint64_t chunk)
{
	return mgpu_min((chunk + 1) * partition->chunk_items, partition->num_items);
}

/* Items of the largest bucket that needs sorting. */
uint64_t	mgpu_largest_bucket(const mgpu_partition *partition);

#endif							/* MGPU_CPU_PARTITION_H */
