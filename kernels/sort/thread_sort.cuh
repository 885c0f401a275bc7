/*
 * sort/thread_sort.cuh
 *		Sorting networks over one thread's registers.
 *
 * Every index is a compile-time constant, so that items stay in registers.  Batcher's odd-even
 * mergesort (1968), for items whose equals cannot be told apart or that have none: 185 comparators
 * for 31 items, 59 for 15, 38 for 11.  Pairs that reach past the end are left out.  Odd-even
 * transposition, which is stable, was rejected for keys with an index: 55 comparators for 11
 * items, where comparing the index too costs one operation.
 */
#ifndef MGPU_SORT_THREAD_SORT_CUH
#define MGPU_SORT_THREAD_SORT_CUH

#include "device/merge_path.cuh"

template <typename Key>
MGPU_HOST_DEVICE void
mgpu_compare_exchange(Key &low, Key &high)
{
	Key			smaller = high < low ? high : low;

	high = high < low ? low : high;
	low = smaller;
}

/*
 * Level (size, stride) of the network: item x meets x + stride if x lies in an even stretch of
 * `stride` items, counted from stride mod size, of one group of 2 * size.  Levels recur by
 * template, since loop bounds must be constants.
 */
template <int size, int stride, int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_batcher_levels(Key (&keys)[items])
{
	constexpr int first = stride % size;

#pragma unroll
	for (int x = first; x + stride < items; x++)
	{
		if ((x - first) / stride % 2 == 0 && x / (2 * size) == (x + stride) / (2 * size))
			mgpu_compare_exchange(keys[x], keys[x + stride]);
	}
	if constexpr (stride > 1)
		mgpu_batcher_levels<size, stride / 2>(keys);
	else if constexpr (2 * size < items)
		mgpu_batcher_levels<2 * size, 2 * size>(keys);
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_thread_sort(Key (&keys)[items])
{
	if constexpr (items > 1)
		mgpu_batcher_levels<1, 1>(keys);
}

#endif							/* MGPU_SORT_THREAD_SORT_CUH */
