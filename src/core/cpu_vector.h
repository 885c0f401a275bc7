/*
 * cpu_vector.h
 *		Sorting networks and merges in vector registers, for keys of 4 and 8
 *		bytes, where the machine has AVX-512.
 *
 * Everything else has a portable way too; callers ask mgpu_vector_items first.
 */
#ifndef MGPU_CPU_VECTOR_H
#define MGPU_CPU_VECTOR_H

#include "cpu_codec.h"

/* Parts of a merge that run together, so that their latencies overlap. */
#define MGPU_MERGE_LANES 4

/* How far behind its part of a list, in items, a merge may read. */
#define MGPU_MERGE_AHEAD 32

typedef struct mgpu_merge_lane
{
	const void *a;				/* next items of both lists */
	const void *b;
	void	   *out;
} mgpu_merge_lane;

/* Items of this width that fill a vector; 0: there is no such vector here. */
uint32_t	mgpu_vector_items(uint32_t width);

/* Most codes of one segment that mgpu_vector_sort_segments takes. */
uint32_t	mgpu_vector_sort_max(uint32_t width);

/* What items are xor-ed with to become codes, and sorted codes to become items. */
typedef struct mgpu_flips
{
	uint64_t	in;
	uint64_t	out;
} mgpu_flips;

/*
 * Sort items inside each segment by their codes; sorted is items itself or does
 * not overlap it.  items and sorted point at the first segment's first item; heads
 * ascend, and end follows the last segment.  Returns how many segments are
 * sorted: all, or those before the first one longer than mgpu_vector_sort_max.
 */
uint64_t	mgpu_vector_sort_segments(const void *items, void *sorted, const uint32_t *heads,
									  uint64_t num_segments, uint32_t end, uint32_t width,
									  const mgpu_flips *flips);

/*
 * Merge, in each of num_lanes (1 or MGPU_MERGE_LANES) lanes, the first lane_items
 * items of output of two lists that are sorted under the codec.  Both are readable
 * for MGPU_MERGE_AHEAD items behind what that takes of them, and in order there or
 * padded by last items.  Equal items must be indistinguishable: floats have no NaN
 * and no -0.
 */
void		mgpu_vector_merge(const mgpu_codec *codec, const mgpu_merge_lane *lanes, int num_lanes,
							  uint64_t lane_items);

/*
 * Merge in place, by their codes, two neighbouring lists of together at most
 * mgpu_vector_sort_max items.
 */
void		mgpu_vector_merge_short(void *items, uint32_t num_a, uint32_t num_b, uint32_t width, uint64_t flip);

/* What a probe of items found. */
#define MGPU_PROBE_UNSORTED 1	/* meaningless beside MGPU_PROBE_SPECIAL */
#define MGPU_PROBE_SPECIAL 2		/* floats: there is a NaN or a -0 */

unsigned	mgpu_vector_probe(const mgpu_codec *codec, const void *items, uint64_t num_items);

#endif							/* MGPU_CPU_VECTOR_H */
