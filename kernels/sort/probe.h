/*
 * sort/probe.h
 *		The sortedness probe: are the keys of a sort in order, or in reverse?
 */
#ifndef MGPU_SORT_PROBE_H
#define MGPU_SORT_PROBE_H

#include "sort/sorter.h"

typedef enum mgpu_sortedness
{
	MGPU_KEYS_UNSORTED = 0,
	MGPU_KEYS_SORTED,			/* no key before its predecessor */
	MGPU_KEYS_REVERSED			/* the other side holds the result: the keys in reverse, with their indices */
} mgpu_sortedness;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Probe the keys of a request, whose num_items is MGPU_PROBE_MIN_ITEMS or more.  Waits for the
 * answer, which is proven.  Reads on while all keys read so far ascend, or descend.  Overwrites the
 * side that is not current, nothing else.
 */
cudaError_t mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_PROBE_H */
