/*
 * sort/block_sort.cuh
 *		The first kernel of a merge sort: each CTA sorts a tile.
 *
 * Keys come from a source and go to a sink (device/array.cuh), so the first and the last pass can
 * change their form.  Equal items cannot be told apart, or there are none.
 *
 * Rejected: persistent CTAs that prefetch the next tile, since three CTAs an SM already overlap
 * loads with merges (NOTES.md).
 */
#ifndef MGPU_SORT_BLOCK_SORT_CUH
#define MGPU_SORT_BLOCK_SORT_CUH

#include "device/array.cuh"
#include "device/launch.cuh"
#include "sort/cta_sort.cuh"
#include "sort/tuning.cuh"

/* Exchange items of a tile, from every threads-th one to neighbours in a thread. */
template <int threads, int items, class Tile>
static __device__ __forceinline__ void
mgpu_exchange_items(typename Tile::Item (&values)[items], const Tile &tile, uint32_t thread)
{
#pragma unroll
	for (int i = 0; i < items; i++)
		tile.put(thread + i * threads, values[i]);
	__syncthreads();				/* the tile is loaded */
#pragma unroll
	for (int i = 0; i < items; i++)
		values[i] = tile.at((thread * items + i) * Tile::unit);
	__syncthreads();				/* and has been read */
}

/* Sort every tile.  Source and sink may be the same memory. */
template <class Tuning, class Source, class Sink>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::resident_threads / Tuning::threads)
mgpu_sort_tiles(Source source, Sink sink, uint64_t num_items)
{
	typedef typename Sink::Item Item;
	constexpr int threads = Tuning::threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, mgpu_sort_slots(threads, items));
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * Tuning::tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) Tuning::tile_items, num_items - begin);
	Item		sorted[items];

	mgpu_await_previous();
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = thread + i * threads;

		sorted[i] = item < count ? source.load(begin + item) : mgpu_largest_key<Item>();
	}
	/* any thread may sort any items, except that equal keys must keep the order of threads */
	if constexpr (mgpu_tile<Item>::is_indexed)
		mgpu_exchange_items<threads>(sorted, tile, thread);
	mgpu_cta_sort_runs<threads>(sorted, tile, thread);
	mgpu_put_forwards(sorted, tile, sink.phase(begin) + thread * items);
	__syncthreads();				/* the sorted tile is whole */
	sink.template store_tile<threads>(begin, tile, count, thread);
}

#endif							/* MGPU_SORT_BLOCK_SORT_CUH */
