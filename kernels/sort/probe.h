/*
 * sort/probe.h
 *		The sortedness probe: are the keys of a sort in order, in reverse, near their
 *		places, or in no order?
 */
#ifndef MGPU_SORT_PROBE_H
#define MGPU_SORT_PROBE_H

#include "sort/sorter.h"

/* Result of the probe.  All but the first two come from samples, and may be wrong. */
typedef struct mgpu_sortedness
{
	bool		sorted;			/* no key before its predecessor */
	bool		reversed;		/* the other side holds the result: the keys in reverse, with their indices */
	bool		scattered;		/* keys far from each other descend about as often as they ascend */
	bool		near;			/* keys are at most MGPU_NEAR_PLACES from their places */
	int			window_passes;	/* passes until a merge sort's runs are as long as keys are displaced; -1: never */
	bool		quantised;		/* tiles of quantised keys (quantised_tiles.cuh) are that long already, and take one round */
	uint32_t	key_bits;		/* all samples agree in higher bits */
} mgpu_sortedness;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Probe the keys of a request: a small kernel where keys are in no order, and one that reads all
 * keys where they are.  Waits for the result.  Overwrites the side that is not current, nothing
 * else. num_items is MGPU_PROBE_MIN_ITEMS or more.
 */
cudaError_t mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_PROBE_H */
