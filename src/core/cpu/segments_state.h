/*
 * segments_state.h
 *		State of the segments strategy.  segments.c hands out segments and sorts
 *		keys, segment_pairs.c orders pairs, long_segments.c sorts long segments.
 */
#ifndef MGPU_CPU_SEGMENTS_STATE_H
#define MGPU_CPU_SEGMENTS_STATE_H

#include "core/cpu/cpu_run.h"

/* A block: codes that are sorted together, in the first-level cache. */
#define MGPU_SEGMENT_BLOCK_BYTES 8192

typedef struct mgpu_segments
{
	char	   *scratch;		/* pairs: [workers], a segment's codes and packed codes */
	uint64_t	worker_bytes;

	/* long segments (more than segment_items); run->part sorts the current one */
	uint32_t   *long_segments;	/* [num_long] */
	_Atomic uint32_t num_long;
	uint32_t	next_long;
	uint64_t	long_begin;
	bool		is_shifting;
} mgpu_segments;

static inline uint64_t
mgpu_segment_end(const mgpu_run *run, uint64_t segment)
{
	return segment + 1 < run->job.num_segments ?
		run->binding.in_segment_heads[segment + 1] : run->job.num_items;
}

/* segment_pairs.c */

/* Scratch bytes of a worker; 0 for keys alone. */
uint64_t	mgpu_segment_scratch_bytes(const mgpu_run *run);

/*
 * Order the pairs of segments [first, last), which end at end: one segment of at
 * most segment_items, or several of together at most a block.
 */
void		mgpu_order_segments(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, int worker);

/* long_segments.c */

/*
 * Begin the next phase of the long segments, one segment after another.  False when
 * all are done, or on failure.
 */
bool		mgpu_advance_long(mgpu_run *run);

#endif							/* MGPU_CPU_SEGMENTS_STATE_H */
