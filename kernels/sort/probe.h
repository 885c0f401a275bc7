/*
 * sort/probe.h
 *		The first look at the keys of a sort: are they in order, in reverse, near
 *		their places, or anywhere?
 */
#ifndef MGPU_SORT_PROBE_H
#define MGPU_SORT_PROBE_H

#include "sort/sorter.h"

/* What a glance saw; all but the first two is from samples, and may be wrong. */
typedef struct mgpu_sortedness
{
	bool		sorted;			/* no key before its predecessor */
	bool		reversed;		/* the other side holds the keys turned round, with their indices: the result */
	bool		scattered;		/* neighbours far from each other descend about as often as they ascend */
	bool		near;			/* keys are MGPU_NEAR_PLACES from theirs, or less */
	int			window_passes;	/* passes of a merge sort until its runs are as long as keys are off; -1: never */
	bool		quantised;		/* tiles of the compact sort (sort/quantised_tiles.cuh) are as long already, and take one round of codes */
	uint32_t	key_bits;		/* all samples are alike in higher ones */
} mgpu_sortedness;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Look at the keys of a request: a small kernel where keys are in no order, and
 * one that reads all keys where they are.  Waits until it has looked.  Overwrites
 * the side that is not the request's current one, and no more.  num_items is
 * MGPU_PROBE_MIN_ITEMS at least.
 */
cudaError_t mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_PROBE_H */
