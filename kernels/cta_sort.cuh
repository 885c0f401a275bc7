/*
 * cta_sort.cuh
 *		Sorts one tile inside a CTA: each thread its own items in registers, then
 *		log2(threads) levels of cooperative merges through shared memory.
 *
 * At the level with runs of run_threads threads, every thread writes its sorted
 * items to its place in its run, all wait, and each then finds its diagonal in
 * the pair of runs and merges items_per_thread outputs back into registers:
 *
 *	 registers  t0 t1 | t2 t3 | ...			run_threads = 2
 *	 shared     [ run 0 -> ][ <- run 1 ]	pair of facing runs
 *	 diagonals  d0   d1   d2   d3			one a thread
 *
 * Outputs in registers halve the shared memory, since inputs may be overwritten
 * once all have merged.  While a pair of runs belongs to one warp, the warp
 * waits for itself alone.  In-warp bitonic merges by shuffles were rejected for
 * now: about the same count of instructions for twice the code (NOTES.md).
 *
 * Steps between two barriers are functions of (thread, state) that run on the
 * host too; the loops over levels are below them.
 */
#ifndef MGPU_CTA_SORT_CUH
#define MGPU_CTA_SORT_CUH

#include "thread_sort.cuh"

/* Put a thread's items at slot, slot + 1 … */
template <int items, typename Item>
MGPU_HOST_DEVICE void
mgpu_store_forwards(const Item (&values)[items], Item *tile, uint32_t slot)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile[slot + i] = values[i];
}

/* … or at end - 1, end - 2 … */
template <int items, typename Item>
MGPU_HOST_DEVICE void
mgpu_store_backwards(const Item (&values)[items], Item *tile, uint32_t end)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile[end - 1 - i] = values[i];
}

/*
 * Put a thread's items into its run: forwards in even runs, backwards in odd.
 * Lanes of a warp may differ, so the direction is a step and not a branch.
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
 * Merge a thread's share of facing lists that begin at tile[begin]: `items`
 * outputs from diagonal on, all of them within the lists.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_facing(Key (&keys)[items], const Key *tile, uint32_t begin, uint32_t a_items, uint32_t b_items,
				  uint32_t diagonal)
{
	uint32_t	a = mgpu_merge_path_facing(tile + begin, a_items, b_items, diagonal);
	uint32_t	b = a_items + b_items - 1 - (diagonal - a);

	mgpu_serial_merge<-1, items>(reinterpret_cast<const char *>(tile), (begin + a) * (uint32_t) sizeof(Key),
								 (begin + b) * (uint32_t) sizeof(Key), keys);
}

/* Merge a thread's share of its pair of facing runs. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_facing_runs(Key (&keys)[items], const Key *tile, uint32_t thread, uint32_t run_threads)
{
	uint32_t	pair_first = thread & ~(2 * run_threads - 1);
	uint32_t	run_items = run_threads * items;

	mgpu_merge_facing(keys, tile, pair_first * items, run_items, run_items, (thread - pair_first) * items);
}

/* The same for keys with values: both runs forwards, bounded, stable. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_pairs(Key (&keys)[items], uint32_t (&values)[items], const Key *tile,
				 const uint32_t *tile_values, uint32_t thread, uint32_t run_threads)
{
	uint32_t	pair_first = thread & ~(2 * run_threads - 1);
	uint32_t	begin = pair_first * items;
	uint32_t	run_items = run_threads * items;
	uint32_t	diagonal = (thread - pair_first) * items;
	mgpu_merge_range range = mgpu_find_merge_range(tile, begin, run_items, begin + run_items, run_items, diagonal);

	mgpu_serial_merge_bounded(tile, tile_values, tile_values, range, keys, values);
}

#ifdef __CUDACC__

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
 * Sort the keys of a CTA; thread t ends with items t * items … of the tile.
 * tile has room for threads * items keys and is free for use when the last
 * thread returns (callers put a barrier before they reuse it).
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

/* Stable, with values; thread t starts with items t * items … of the tile. */
template <int threads, int items, typename Key>
static __device__ __forceinline__ void
mgpu_cta_sort_pairs(Key (&keys)[items], uint32_t (&values)[items], Key *tile,
					uint32_t *tile_values, uint32_t thread)
{
	mgpu_thread_sort_stable(keys, values);
#pragma unroll 1
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		mgpu_store_forwards(keys, tile, thread * items);
		mgpu_store_forwards(values, tile_values, thread * items);
		mgpu_sync_pair(run_threads);	/* both runs are written */
		mgpu_merge_pairs(keys, values, tile, tile_values, thread, run_threads);
		mgpu_sync_pair(run_threads);	/* both runs are read */
	}
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_CTA_SORT_CUH */
