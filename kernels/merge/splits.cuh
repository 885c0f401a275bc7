/*
 * merge/splits.cuh
 *		How the tiles of merge, bulk remove and bulk insert get their boundaries.
 *
 * One launch finds all boundaries.  Where the device can, the tiles start while it runs, and wait
 * for its end before they read splits or write (device/launch.cuh).
 */
#ifndef MGPU_MERGE_SPLITS_CUH
#define MGPU_MERGE_SPLITS_CUH

#include "device/launch.cuh"
#include "device/split_search.cuh"
#include "merge/tuning.cuh"

/* What the tiles of a launch know of their boundaries. */
struct mgpu_tile_plan
{
	const uint32_t *splits;
	uint32_t	ahead;			/* a CTA prefetches the tile this far behind its own */
};

/* Bytes that the boundaries of num_items items in tiles of tile_items take. */
static inline uint64_t
mgpu_splits_bytes(uint64_t num_items, uint32_t tile_items)
{
	return (mgpu_divide_up(num_items, tile_items) + UINT64_C(1)) * sizeof(uint32_t);
}

/* The splits of all boundaries, from 0 to num_tiles.  The next launch may start meanwhile. */
template <class Search>
static __global__ void
__launch_bounds__(MGPU_OPS_SEARCH_THREADS)
mgpu_find_splits(Search search, uint32_t num_tiles, uint32_t *splits)
{
	uint32_t	tile = min((blockIdx.x * MGPU_OPS_SEARCH_THREADS + threadIdx.x) / MGPU_SPLIT_LANES, num_tiles);
	uint32_t	split;

	mgpu_await_previous();
	split = mgpu_find_split_near(search, tile);
	if (threadIdx.x % MGPU_SPLIT_LANES == 0)
		splits[tile] = split;
}

/* Both splits of a tile.  Behind mgpu_await_previous. */
static __device__ __forceinline__ uint2
mgpu_splits_of(mgpu_tile_plan plan, uint64_t tile)
{
	return make_uint2(plan.splits[tile], plan.splits[tile + 1]);
}

/* Does this thread prefetch a tile? *tile says which. */
static __device__ __forceinline__ bool
mgpu_prefetches(mgpu_tile_plan plan, uint64_t *tile)
{
	*tile = (uint64_t) blockIdx.x + plan.ahead;
	return threadIdx.x == 0 && *tile < gridDim.x;
}

/* Enqueue the search for all boundaries.  splits has a place for each. */
template <class Search>
static cudaError_t
mgpu_enqueue_splits(const Search &search, uint32_t num_tiles, uint32_t *splits, cudaStream_t stream)
{
	unsigned int ctas = mgpu_divide_up(num_tiles + UINT64_C(1), MGPU_OPS_SEARCH_THREADS / MGPU_SPLIT_LANES);

	return mgpu_launch_kernel(false, mgpu_find_splits<Search>, ctas, MGPU_OPS_SEARCH_THREADS, 0, stream, search,
							  num_tiles, splits);
}

/*
 * Launch kernel(search, plan, arguments ...), one CTA a tile, behind the search for its boundaries.
 * The kernel may read inputs while that runs, since all before it has ended.  It calls
 * mgpu_await_previous before it reads splits or writes.
 */
template <class Tuning, class Request, class Search, typename... Parameters, typename... Arguments>
static cudaError_t
mgpu_launch_tiles(const Request *request, const Search &search, uint32_t shared_bytes,
				  void (*kernel) (Search, mgpu_tile_plan, Parameters...), Arguments... arguments)
{
	uint32_t	num_tiles = mgpu_divide_up(search.tiled_items(), search.tile_items);
	uint32_t   *splits = static_cast<uint32_t *>(request->temp);
	int			num_sms;
	bool		overlaps;
	cudaError_t status;

	if (num_tiles == 0)
		return cudaSuccess;
	status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);
	if (status == cudaSuccess)
		status = mgpu_can_overlap(&overlaps);
	if (status == cudaSuccess)
		status = mgpu_enqueue_splits(search, num_tiles, splits, request->stream);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_kernel(overlaps, kernel, num_tiles, Tuning::threads, shared_bytes, request->stream, search,
							  mgpu_tile_plan{splits, (uint32_t) (num_sms * Tuning::ahead)}, arguments...);
}

#endif							/* MGPU_MERGE_SPLITS_CUH */
