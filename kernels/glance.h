/*
 * glance.h
 *		The first look at the keys of a sort: are they in order, in reverse, near
 *		their places, or anywhere?
 */
#ifndef MGPU_GLANCE_H
#define MGPU_GLANCE_H

#include "device_sort.h"

/* What a glance saw; all but the first two is from samples, and may be wrong. */
typedef struct mgpu_glance
{
	bool		sorted;			/* no key before its predecessor */
	bool		reversed;		/* the other side holds the keys turned round, with their indices: the result */
	bool		scattered;		/* neighbours far from each other descend about as often as they ascend */
	bool		near;			/* keys are MGPU_NEAR_PLACES from theirs, or less */
	int			window_passes;	/* passes of a merge sort until its runs are as long as keys are off; -1: never */
	bool		compact;		/* tiles of the compact sort (compact_tiles.cuh) are as long already, and take one round of codes */
	uint32_t	key_bits;		/* all samples are alike in higher ones */
} mgpu_glance;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Look at the keys of a request: a small kernel where keys are in no order, and
 * one that reads all keys where they are.  Waits until it has looked.  Overwrites
 * the side that is not the request's current one, and no more.  num_items is
 * MGPU_LOOK_MIN_ITEMS at least.
 */
cudaError_t mgpu_take_glance(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_glance *glance);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_GLANCE_H */
