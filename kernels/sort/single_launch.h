/*
 * sort/single_launch.h
 *		The cooperative single-launch sort, for keys that fit the registers of all SMs.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_H
#define MGPU_SORT_SINGLE_LAUNCH_H

#include "sort/sorter.h"

/* The word of a sort's answer: 1 if the keys' order was used, 0 if digits were sorted. */
#define MGPU_SINGLE_LAUNCH_ANSWER 0

#ifdef __cplusplus
extern "C" {
#endif

struct mgpu_single_launch_state;

/* Can the current device sort num_items items in a single launch? If so, that is faster than the radix sort. */
cudaError_t mgpu_single_launch_holds(mgpu_sort_shape shape, uint64_t num_items, bool *holds);

/*
 * Enqueue such a sort.  Its result is where the keys are, and request->pending will tell what it
 * did.  The other side may be overwritten.  Not *started: the device cannot hold these keys, or not
 * now; nothing was enqueued.
 */
cudaError_t mgpu_single_launch_sort(mgpu_sort_shape shape, mgpu_sort_request *request, bool *started);

/*
 * One shape's kernels in one translation unit. cudaErrorCooperativeLaunchTooLarge: the device
 * cannot hold the keys.
 */
cudaError_t mgpu_single_launch_sort_u32(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u64(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u32_index(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u64_index(mgpu_sort_request *request, struct mgpu_single_launch_state *state);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_SINGLE_LAUNCH_H */
