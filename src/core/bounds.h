/*
 * bounds.h
 *		Bounds that cut codes into buckets: chosen from a sample, then searched
 *		for a code's bucket.
 *
 * Bucket b holds the codes in (bound[b - 1], bound[b]].  The first bucket has no
 * lower bound and the last no upper one.  A code so frequent that it would fill a
 * bucket gets one of its own: code - 1 and code both become bounds, so the bucket
 * between them holds that code alone and needs no sorting.
 */
#ifndef MGPU_BOUNDS_H
#define MGPU_BOUNDS_H

#include "cpu_codec.h"

/* Most buckets that a caller may plan, and that may result: a frequent code adds a bound. */
#define MGPU_MAX_PLANNED_BUCKETS 512
#define MGPU_MAX_BUCKETS 1024

typedef struct mgpu_bounds
{
	uint32_t	num_buckets;	/* number of bounds, plus one */
	uint32_t	tree_levels;	/* of both trees, which have 2^levels - 1 nodes */
	mgpu_u128	bound[MGPU_MAX_BUCKETS];	/* ascending, distinct */
	mgpu_u128	highest;		/* largest code of the width */

	/*
	 * search trees: root at 1, children of k at 2k and 2k + 1, unused nodes hold
	 * the largest number; narrow for codes up to 8 bytes, wide for 16
	 */
	uint64_t	narrow[MGPU_MAX_BUCKETS];
	mgpu_u128	wide[MGPU_MAX_BUCKETS];
} mgpu_bounds;

/*
 * Choose bounds for about num_buckets (1 to MGPU_MAX_PLANNED_BUCKETS) buckets.
 * samples are codes of 4, 8 or 16 bytes; they are sorted in place.
 */
void		mgpu_bounds_choose(mgpu_bounds *bounds, void *samples, uint64_t num_samples,
							   uint32_t width, uint32_t num_buckets);

/* One bucket for each code of one byte. */
void		mgpu_bounds_of_bytes(mgpu_bounds *bounds);

/* Fill positions with random numbers below num_items.  Each call uses another seed. */
void		mgpu_sample_positions(uint32_t *positions, uint64_t num_samples, uint64_t num_items);

/* Whether all codes of a bucket are equal; if so, *code is that code. */
bool		mgpu_bucket_is_constant(const mgpu_bounds *bounds, uint32_t bucket, mgpu_u128 *code);

/* buckets[i] = bucket of codes[i].  codes: uint64_t, or mgpu_u128 for width 16. */
void		mgpu_classify(const mgpu_bounds *bounds, const void *codes, uint32_t width,
						  uint16_t *buckets, uint32_t num_items);

#endif							/* MGPU_BOUNDS_H */
