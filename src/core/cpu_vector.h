/*
 * cpu_vector.h
 *		Sorting networks and merges in vector registers, for keys of 4 and 8
 *		bytes on machines with AVX-512.
 *
 * Every other case has a portable path; callers ask mgpu_vector_items first.
 */
#ifndef MGPU_CPU_VECTOR_H
#define MGPU_CPU_VECTOR_H

#include "cpu_codec.h"

/* Parts of a merge that run side by side, so that their latencies overlap. */
#define MGPU_MERGE_LANES 4

/* Items that a merge may read behind its part of a list. */
#define MGPU_MERGE_AHEAD 32

typedef struct mgpu_merge_lane
{
	const void *a;				/* next items of both lists */
	const void *b;
	void	   *out;
} mgpu_merge_lane;

/* Items of this width in a vector; 0 if the machine has no vectors for it. */
uint32_t	mgpu_vector_items(uint32_t width);

/* Vectors sorted at once: half of the registers. */
#define MGPU_MAX_VECTORS 16

/* Most codes of one segment that mgpu_vector_sort_segments takes. */
static inline uint32_t
mgpu_vector_sort_max(uint32_t width)
{
	return MGPU_MAX_VECTORS * mgpu_vector_items(width);
}

/* Masks of items of a width, which turn them into codes, and sorted codes into items, by xor. */
typedef struct mgpu_flips
{
	uint32_t	width;
	uint64_t	in;
	uint64_t	out;
} mgpu_flips;

/*
 * Sort items by code inside each segment.  sorted is items itself or does not
 * overlap it.  Both point at the first segment's first item; heads ascend, and end
 * follows the last segment.  Returns how many segments are sorted: all, or those
 * before the first one longer than mgpu_vector_sort_max.
 */
uint64_t	mgpu_vector_sort_segments(const void *items, void *sorted, const uint32_t *heads,
									  uint64_t num_segments, uint32_t end, const mgpu_flips *flips);

/*
 * In each of num_lanes lanes (1 or MGPU_MERGE_LANES), merge the first lane_items
 * items of output of two sorted lists.  In both lists, MGPU_MERGE_AHEAD items behind
 * those taken are readable, and are in order or padding of last items.  Equal items
 * must be indistinguishable: floats have no NaN and no -0.
 */
void		mgpu_vector_merge(const mgpu_codec *codec, const mgpu_merge_lane *lanes, int num_lanes,
							  uint64_t lane_items);

/*
 * Merge two neighbouring lists in place, by code.  Together they have at most
 * mgpu_vector_sort_max items.
 */
void		mgpu_vector_merge_short(void *items, uint32_t num_a, uint32_t num_b, uint32_t width, uint64_t flip);

/* Result of a probe, or-ed. */
#define MGPU_PROBE_UNSORTED 1	/* not valid together with MGPU_PROBE_SPECIAL */
#define MGPU_PROBE_SPECIAL 2		/* floats: an item is NaN or -0 */

unsigned	mgpu_vector_probe(const mgpu_codec *codec, const void *items, uint64_t num_items);

#endif							/* MGPU_CPU_VECTOR_H */
