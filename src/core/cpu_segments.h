/*
 * cpu_segments.h
 *		State of the segments strategy, between cpu_segsort.c, which hands out
 *		segments and sorts keys, and cpu_segsort_pairs.c, which orders pairs.
 */
#ifndef MGPU_CPU_SEGMENTS_H
#define MGPU_CPU_SEGMENTS_H

#include "cpu_run.h"

/* Codes that are sorted together, in the first-level cache. */
#define MGPU_SEGMENT_BLOCK_BYTES 8192

typedef struct mgpu_segments
{
	mgpu_buffer scratch;		/* pairs, [workers]: codes, packed of a segment */
	uint64_t	worker_bytes;

	/* segments that are sorted like arrays, and the one that is being sorted */
	mgpu_buffer long_segments;	/* uint32_t [num_long] */
	_Atomic uint32_t num_long;
	uint32_t	next_long;
	mgpu_run   *run;			/* NULL between two of them */
	uint64_t	long_begin;
	bool		is_shifting;
} mgpu_segments;

/*
 * Pairs whose indices nobody asked for: values go straight where they belong
 * within their segment, which is in cache then, and indices are never made.
 */
static inline bool
mgpu_segments_move_values(const mgpu_run *run)
{
	return run->job.op == MGPU_OP_SORT_PAIRS && (run->job.outputs & MGPU_OUT_INDICES) == 0;
}

/* Items of a block. */
static inline uint64_t
mgpu_segment_block_items(const mgpu_run *run)
{
	uint32_t	item_bytes = run->job.key_width;

	if (run->job.op == MGPU_OP_SORT_PAIRS && item_bytes < sizeof(uint64_t))
		item_bytes = sizeof(uint64_t);
	return MGPU_SEGMENT_BLOCK_BYTES / item_bytes;
}

/* cpu_segsort_pairs.c */

/* A segment of more items is sorted like an array. */
uint64_t	mgpu_segment_most_items(const mgpu_run *run);

/* Scratch of a worker; 0 for keys alone. */
uint64_t	mgpu_segment_scratch_bytes(const mgpu_run *run);

/*
 * Order the pairs of segments [first, last), of which the last ends at end: one
 * segment of at most mgpu_segment_most_items, or several that make up at most a block.
 */
void		mgpu_order_segments(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, int worker);

#endif							/* MGPU_CPU_SEGMENTS_H */
