/*
 * segments.h
 *		State of the segments strategy, between segments.c, which hands out segments
 *		and sorts keys, segment_pairs.c, which orders pairs, and long_segments.c.
 */
#ifndef MGPU_CPU_SEGMENTS_H
#define MGPU_CPU_SEGMENTS_H

#include "core/cpu/run.h"

/* Codes that are sorted together, in the first-level cache. */
#define MGPU_SEGMENT_BLOCK_BYTES 8192

typedef struct mgpu_segments
{
	mgpu_buffer scratch;		/* pairs, [workers]: codes, packed of a segment */
	uint64_t	worker_bytes;

	/* segments of more than segment_items, and the one that is being sorted */
	mgpu_buffer long_segments;	/* uint32_t [num_long] */
	_Atomic uint32_t num_long;
	uint32_t	next_long;
	mgpu_run   *run;			/* NULL between two of them */
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

/* Scratch of a worker; 0 for keys alone. */
uint64_t	mgpu_segment_scratch_bytes(const mgpu_run *run);

/*
 * Order the pairs of segments [first, last), of which the last ends at end: one
 * segment of at most segment_items, or several that make up at most a block.
 */
void		mgpu_order_segments(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, int worker);

/* long_segments.c */

/* Phases of the segments noted, one segment after another; false when all are done, or with *status. */
bool		mgpu_advance_long(mgpu_run *run, mgpu_status *status, mgpu_error *err);

/* Free the run of the one that is being sorted, if there is one. */
void		mgpu_release_long(mgpu_segments *state);

#endif							/* MGPU_CPU_SEGMENTS_H */
