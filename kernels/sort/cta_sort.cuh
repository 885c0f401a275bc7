/*
 * sort/cta_sort.cuh
 *		Sorts one tile inside a CTA: each thread its own items in registers, then
 *		log2(threads) levels of cooperative merges through shared memory.
 *
 * Every thread writes its sorted items to its run, all wait, and each finds its diagonal in the
 * pair of runs and merges items_per_thread outputs back into registers:
 *
 *	 registers  t0 t1 | t2 t3 | ...			run_threads = 2
 *	 shared     [ run 0 -> ][ <- run 1 ]	pair of facing runs
 *	 diagonals  d0   d1   d2   d3			one a thread
 *
 * The merge sort's runs both walk up, each followed by a largest item; the segmented sort's face
 * each other.  Rejected: in-warp bitonic merges by shuffles, slower (NOTES.md).  Steps between two
 * barriers run on the host too.
 */
#ifndef MGPU_SORT_CTA_SORT_CUH
#define MGPU_SORT_CTA_SORT_CUH

#include "device/merge_path.cuh"

/* The tile of a kernel's CTA. */
extern __shared__ __align__(16) char mgpu_shared[];

/* --------------------------------------------------- one thread's items */

/*
 * Batcher's odd-even mergesort (1968) over registers, for items whose equals cannot be told apart
 * or that have none: 185 comparators for 31 items, 59 for 15, 38 for 11.  Every index is a
 * compile-time constant, so that items stay in registers; pairs that reach past the end are left
 * out.  Odd-even transposition, which is stable, was rejected for keys with an index: 55
 * comparators for 11 items, where comparing the index too costs one operation.
 */
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

/* ----------------------------------------------------------- facing runs */

/* Put a thread's items at slot, slot + 1 ... */
template <int items, typename Item>
MGPU_HOST_DEVICE void
mgpu_store_forwards(const Item (&values)[items], Item *tile, uint32_t slot)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile[slot + i] = values[i];
}

/*
 * Put a thread's items into its run: forwards in even runs, backwards in odd.  Lanes of a warp may
 * differ, so the direction is a step, not a branch.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_facing(const Key (&keys)[items], Key *tile, uint32_t thread, uint32_t run_threads)
{
	uint32_t	run_first = thread & ~(run_threads - 1);
	bool		is_odd = (thread & run_threads) != 0;
	uint32_t	slot = is_odd ? (2 * run_first + run_threads - thread) * items - 1 : thread * items;
	uint32_t	step = is_odd ? 0u - 1 : 1;

#pragma unroll
	for (int i = 0; i < items; i++)
		tile[slot + i * step] = keys[i];
}

/*
 * Merge a thread's share of facing lists that begin at tile[begin]: the first `outputs` items of
 * keys, from the diagonal on.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_facing(Key (&keys)[items], const Key *tile, uint32_t begin, uint32_t a_items, uint32_t b_items,
				  uint32_t diagonal, uint32_t outputs = items)
{
	uint32_t	a = mgpu_merge_path_facing(tile + begin, a_items, b_items, diagonal);
	uint32_t	b = a_items + b_items - 1 - (diagonal - a);

	mgpu_serial_merge_facing(reinterpret_cast<const char *>(tile), (begin + a) * (uint32_t) sizeof(Key),
							 (begin + b) * (uint32_t) sizeof(Key), keys, outputs);
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_facing_runs(Key (&keys)[items], const Key *tile, uint32_t thread, uint32_t run_threads)
{
	uint32_t	pair_first = thread & ~(2 * run_threads - 1);
	uint32_t	run_items = run_threads * items;

	mgpu_merge_facing(keys, tile, pair_first * items, run_items, run_items, (thread - pair_first) * items);
}

/* ----------------------------------------------- runs that both walk up */

/*
 * Runs that both walk up, each followed by one largest item.  Every level gives a run run_threads *
 * (items + 2) slots, so that threads' slots lie in different banks:
 *
 *	 [ t0 t1 largest . . . ][ t2 t3 largest . . . ]		run_threads = 2
 */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_run_slots(uint32_t threads, uint32_t items)
{
	return threads * (items + 2);
}

/* Slots of such a tile.  A merge may read past its last run. */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_sort_slots(uint32_t threads, uint32_t items)
{
	return mgpu_run_slots(threads, items) + items;
}

template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_forwards(const typename Tile::Item (&values)[items], const Tile &tile, uint32_t slot)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile.put(slot + i, values[i]);
}

template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_run(const typename Tile::Item (&values)[items], const Tile &tile, uint32_t thread, uint32_t run_threads)
{
	uint32_t	in_run = thread & (run_threads - 1);
	uint32_t	slot = mgpu_run_slots(thread - in_run, items) + in_run * items;

	mgpu_put_forwards(values, tile, slot);
	if (in_run == run_threads - 1)
		tile.put(slot + items, mgpu_largest_key<typename Tile::Item>());
}

/*
 * Merge a thread's share of its pair of runs.  A largest item follows an exhausted run, but if the
 * tile has such items of its own (has_largest), a merge may run past it.  Then all outputs behind
 * the first largest item are raised to that.
 */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_runs(typename Tile::Item (&values)[items], const Tile &tile, uint32_t thread, uint32_t run_threads,
				bool has_largest)
{
	uint32_t	in_pair = thread & (2 * run_threads - 1);
	uint32_t	a_slot = mgpu_run_slots(thread - in_pair, items);
	uint32_t	b_slot = a_slot + mgpu_run_slots(run_threads, items);
	uint32_t	diagonal = in_pair * items;
	uint32_t	a = mgpu_merge_path(tile.keys + a_slot, run_threads * items, tile.keys + b_slot, run_threads * items,
									diagonal);

	mgpu_serial_merge_forwards(tile, (a_slot + a) * Tile::unit, (b_slot + diagonal - a) * Tile::unit, values);
	if (has_largest)
	{
#pragma unroll
		for (int i = 1; i < items; i++)
			values[i] = values[i] < values[i - 1] ? values[i - 1] : values[i];
	}
}

/* Has a thread's sorted share a largest item? */
template <int items, typename Item>
MGPU_HOST_DEVICE bool
mgpu_ends_largest(const Item (&values)[items])
{
	return !(values[items - 1] < mgpu_largest_key<Item>());
}

/* ------------------------------------------------------------- whole tiles */

/* Wait for all threads that share a pair of runs. */
static __device__ __forceinline__ void
mgpu_sync_pair(uint32_t run_threads)
{
	if (2 * run_threads <= 32)
		__syncwarp();
	else
		__syncthreads();
}

/*
 * Sort the keys of a CTA; thread t ends with items t * items ... of the tile. tile holds threads *
 * items keys and is free when the last thread returns (callers put a barrier before they reuse it).
 */
template <int threads, int items, typename Key>
static __device__ __forceinline__ void
mgpu_cta_sort(Key (&keys)[items], Key *tile, uint32_t thread)
{
	mgpu_thread_sort(keys);
#pragma unroll 1
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		mgpu_store_facing(keys, tile, thread, run_threads);
		mgpu_sync_pair(run_threads);	/* both runs are written */
		mgpu_merge_facing_runs(keys, tile, thread, run_threads);
		mgpu_sync_pair(run_threads);	/* both runs are read */
	}
}

/* The same by guarded merges, for a tile of mgpu_sort_slots. */
template <int threads, int items, class Tile>
static __device__ __forceinline__ void
mgpu_cta_sort_runs(typename Tile::Item (&values)[items], const Tile &tile, uint32_t thread)
{
	bool		has_largest;

	mgpu_thread_sort(values);
	has_largest = __syncthreads_or(mgpu_ends_largest(values));
#pragma unroll 1
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		/* with largest items, a merge may read other warps' slots */
		uint32_t	sync_threads = has_largest ? threads : run_threads;

		mgpu_put_run(values, tile, thread, run_threads);
		mgpu_sync_pair(sync_threads);	/* both runs are written */
		mgpu_merge_runs(values, tile, thread, run_threads, has_largest);
		mgpu_sync_pair(sync_threads);	/* both runs are read */
	}
}

#endif							/* MGPU_SORT_CTA_SORT_CUH */
