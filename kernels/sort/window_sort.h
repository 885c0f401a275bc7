/*
 * sort/window_sort.h
 *		Merge sorts that end early where keys are near their places.
 */
#ifndef MGPU_SORT_WINDOW_SORT_H
#define MGPU_SORT_WINDOW_SORT_H

#include "sort/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sort as the merge sort does, but end by a window pass as soon as that is right: from
 * sortedness->window_passes passes on, or at once from quantised tiles if the probe says so.
 * window_passes is not negative, so the device has much shared memory an SM.  Temporary memory is
 * the merge sort's.  Waits for the answer to each try; *ended: a window pass ended the sort.
 */
cudaError_t mgpu_window_sort_u32(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended);
cudaError_t mgpu_window_sort_u64(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended);
cudaError_t mgpu_window_sort_u32_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended);
cudaError_t mgpu_window_sort_u64_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_WINDOW_SORT_H */
