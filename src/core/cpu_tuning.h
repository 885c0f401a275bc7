/*
 * cpu_tuning.h
 *		The CPU executor's measured constants, as data.
 *
 * A run copies them when it opens; tests change them before that, to reach with
 * a few hundred items what otherwise takes millions.  All are in bytes or items
 * and at least 1.
 */
#ifndef MGPU_CPU_TUNING_H
#define MGPU_CPU_TUNING_H

#include <stdint.h>

typedef struct mgpu_cpu_tuning
{
	uint64_t	slot_bytes;		/* input slots: stay in the second-level cache */
	uint64_t	step_bytes;		/* a task of a linear pass: encode, gather ... */
	uint64_t	poll_ms;		/* poll starts no task after this long */
	uint64_t	threads_min_bytes;	/* keys and indices; below it one thread works */

	uint64_t	direct_bytes;	/* keys: up to here one vqsort call sorts all */
	uint64_t	count_min_items;	/* 2-byte keys: from here on counting sort */
	uint64_t	chunk_bytes;	/* keys: one task splits, or sorts and merges, so many in cache */
	uint64_t	bucket_bytes;	/* keys: planned size of a bucket */

	uint64_t	pair_direct_items;	/* pairs: up to here one bucket */
	uint64_t	pair_chunk_items;	/* pairs: one task of counting, scattering */
	uint64_t	pair_bucket_items;	/* pairs: planned size of a bucket */

	uint64_t	max_buckets;	/* most buckets planned, unless those of pairs grow too large */
	uint64_t	samples_per_bucket;

	uint64_t	vectors;		/* 0: do without AVX-512 and AVX2 */
	uint64_t	tile_items;		/* merge, locality: a power of two, or fewer if
								 * vectors sort fewer at once; see cpu/tiles.h */
	uint64_t	segment_task_items; /* segments: of a task that starts in so many */
	uint64_t	segment_items;	/* ... longer ones are sorted like an array */
	uint64_t	merge_items;	/* merge of two lists: output of one task */
} mgpu_cpu_tuning;

extern mgpu_cpu_tuning mgpu_cpu_tunables;

#endif							/* MGPU_CPU_TUNING_H */
