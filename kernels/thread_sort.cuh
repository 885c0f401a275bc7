/*
 * thread_sort.cuh
 *		Sorting networks over one thread's registers.
 *
 * Every index is a compile-time constant, so that the items stay in registers.
 *
 *	 Batcher's odd-even mergesort (1968) for keys whose equals cannot be told
 *	 apart: 185 comparators for 31 items, 59 for 15.  Pairs that reach past the
 *	 end are left out, as if the largest key stood there.
 *	 Odd-even transposition for keys that carry an index: n(n-1)/2 comparators,
 *	 but it swaps neighbours alone and only when they are out of order, so it is
 *	 stable (moderngpu's choice, 2013).
 *
 * Comparing (key, index) as 96 bits under Batcher's network was rejected: fewer
 * comparators, but each twice as long.
 */
#ifndef MGPU_THREAD_SORT_CUH
#define MGPU_THREAD_SORT_CUH

#include "merge_path.cuh"

template <typename Key>
MGPU_HOST_DEVICE void
mgpu_compare_exchange(Key &low, Key &high)
{
	Key			smaller = high < low ? high : low;

	high = high < low ? low : high;
	low = smaller;
}

/*
 * Level (size, stride) of the network: item x meets x + stride where x lies in
 * an even stride-long stretch, counted from stride mod size, of one group of
 * 2 * size.  The recursion over levels is by template, since a loop's bounds
 * must be constants for its items to stay in registers.
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

/* Stable; values follow their keys. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_thread_sort_stable(Key (&keys)[items], uint32_t (&values)[items])
{
#pragma unroll
	for (int round = 0; round < items; round++)
	{
#pragma unroll
		for (int i = round % 2; i + 1 < items; i += 2)
		{
			if (keys[i + 1] < keys[i])
			{
				Key			key = keys[i];
				uint32_t	value = values[i];

				keys[i] = keys[i + 1];
				keys[i + 1] = key;
				values[i] = values[i + 1];
				values[i + 1] = value;
			}
		}
	}
}

#endif							/* MGPU_THREAD_SORT_CUH */
