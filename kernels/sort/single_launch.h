/*
 * sort/single_launch.h
 *		Sorts of keys that fit the chip, in one launch that nobody waits for.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_H
#define MGPU_SORT_SINGLE_LAUNCH_H

#include "sort/sorter.h"

/* The word of a sort's verdict: 1 where the keys' order was used, 0 where digits were sorted. */
#define MGPU_SINGLE_LAUNCH_ANSWER 0

#ifdef __cplusplus
extern "C" {
#endif

struct mgpu_single_launch_state;

/*
 * Can the current device sort so many items on the chip?  Where it can, that is
 * faster than a radix sort by a launch a pass.
 */
cudaError_t mgpu_single_launch_holds(mgpu_sort_shape shape, uint64_t num_items, bool *holds);

/*
 * Enqueue such a sort.  Its result is where the keys are, and request->verdict will
 * say what it was; all of the other side may be overwritten.  Not *started: the device
 * cannot hold these keys, or not now; nothing was enqueued.
 */
cudaError_t mgpu_single_launch_sort(mgpu_sort_shape shape, mgpu_sort_request *request, bool *started);

/* A shape's kernels, a translation unit each: cudaErrorCooperativeLaunchTooLarge where the device cannot hold the keys. */
cudaError_t mgpu_single_launch_sort_u32(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u64(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u32_index(mgpu_sort_request *request, struct mgpu_single_launch_state *state);
cudaError_t mgpu_single_launch_sort_u64_index(mgpu_sort_request *request, struct mgpu_single_launch_state *state);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_SINGLE_LAUNCH_H */
