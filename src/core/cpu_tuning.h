/*
 * cpu_tuning.h
 *		The CPU executor's measured constants, as data.
 *
 * A run copies them when it opens.  Tests change them before that, to reach with a
 * few hundred items the code that otherwise takes millions.  Sizes are in bytes or
 * items and at least 1.
 */
#ifndef MGPU_CPU_TUNING_H
#define MGPU_CPU_TUNING_H

#include <stdint.h>

#include "core/sizes.h"

typedef enum mgpu_radix_choice
{
	MGPU_RADIX_IF_FASTER,		/* as a measurement says */
	MGPU_RADIX_NEVER,
	MGPU_RADIX_ALWAYS,
} mgpu_radix_choice;

/* Parts into which a table job by threads cuts its rows, to be grouped one by one: a power of two. */
#define MGPU_TABLE_PARTS 64

/* Groups of a thread from which on a table job drops no more rows that are beyond a limit: of more, each has few. */
#define MGPU_TABLE_CUT_GROUPS MGPU_SIZE(1 << 16, 20)

/* Rows that such a thread keeps before it looks at them again. */
#define MGPU_TABLE_CUT_ROWS MGPU_SIZE(1 << 15, 64)

typedef struct mgpu_cpu_tuning
{
	uint64_t	slot_bytes;		/* input slot: fits the second-level cache */
	uint64_t	step_bytes;		/* one task of a linear pass: encode, gather ... */
	uint64_t	poll_ms;		/* poll starts no task after this long */
	uint64_t	threads_min_bytes;	/* bytes of keys and indices; below, one thread works */

	mgpu_radix_choice radix;	/* for many unsigned keys, instead of vqsort */
	uint64_t	direct_bytes;	/* keys, one thread: up to here one vqsort call sorts all */
	uint64_t	radix_bytes;	/* the same where keys are sorted by radix, and planned size of a bucket */
	uint64_t	count_min_items;	/* 2-byte keys: from here on counting sort */
	uint64_t	chunk_bytes;	/* keys: one task splits, or sorts and merges, this much in cache */
	uint64_t	bucket_bytes;	/* keys: planned size of a bucket */

	uint64_t	pair_direct_items;	/* pairs: up to here one bucket */
	uint64_t	pair_chunk_items;	/* pairs: one task of counting, scattering */
	uint64_t	pair_bucket_items;	/* pairs: planned size of a bucket */

	uint64_t	max_buckets;	/* most buckets planned, unless those of pairs grow too large */
	uint64_t	samples_per_bucket;

	uint64_t	vectors;		/* 0: no AVX-512 and no AVX2 */
	uint64_t	tile_items;		/* merge, locality: size of a tile, a power of two;
								 * lowered if vectors sort fewer at once
								 * (cpu/tiles.h) */
	uint64_t	segment_task_items; /* segments: a task owns those that begin in so many items */
	uint64_t	segment_items;	/* segments: longer ones are sorted like an array */
	uint64_t	merge_items;	/* merge of two lists: output of one task */

	uint64_t	table_task_pages;	/* tables: that a task reads at least, if a batch is cut */
	uint64_t	table_slot_pages;	/* tables: pages of a batch, with one less that is copied */
	uint64_t	table_fold_bytes;	/* tables: a thread with more of groups keeps its next rows */
	uint64_t	table_task_rows;	/* tables: that are grouped or sorted by one task */
	uint64_t	table_part_bytes;	/* tables: that values of a part may have in memory, though there is more */
	uint64_t	table_large_values; /* tables: a group's values that all threads sort together */
	uint64_t	table_write_bytes;	/* tables: of an output, by one task or in a piece; a multiple of 8 */
} mgpu_cpu_tuning;

extern mgpu_cpu_tuning mgpu_cpu_tunables;

#endif							/* MGPU_CPU_TUNING_H */
