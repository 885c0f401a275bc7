/*
 * executor/auto_sort.h
 *		The sort that chooses among all sorts.
 */
#ifndef MGPU_EXECUTOR_AUTO_SORT_H
#define MGPU_EXECUTOR_AUTO_SORT_H

#include "sort/sorter.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sort by what is fastest for these keys.  Large arrays are probed first, which waits for
 * the stream unless they fit a single launch.  key_width: bytes of a stored key.
 * *ran: MERGE or RADIX, or LOCALITY for every sort that uses the keys' present order, as far
 * as that is known yet.  With less temporary memory than mgpu_auto_temp_bytes, but no less
 * than the merge sort needs, sorts that want more are left out; so is the locality sort
 * without request->has_regions.
 */
cudaError_t mgpu_auto_sort(mgpu_sort_shape shape, mgpu_sort_request *request, uint32_t key_width, mgpu_algorithm *ran);

/* What ran, once the stream has ended: ran is what mgpu_auto_sort said. */
mgpu_algorithm mgpu_auto_ran(const mgpu_pending_answer *pending, mgpu_algorithm ran);

/* Temporary bytes with which every sort can run. */
uint64_t	mgpu_auto_temp_bytes(mgpu_sort_shape shape, uint64_t num_items);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_EXECUTOR_AUTO_SORT_H */
