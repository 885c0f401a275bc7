/*
 * merge/splits.cuh
 *		How the tiles of merge, bulk remove and bulk insert get their boundaries.
 *
 * Few tiles search themselves.  For more, one launch finds all boundaries, and the tiles start
 * while it runs (device/launch.cuh).  The first tiles wait for it; those of a merge receive each
 * boundary as soon as it is found.  A word holds the number of the launch and a split, so nothing
 * has to be cleared.  Tiles that wait are on the device only once all CTAs that search are, and
 * those wait for no tile.
 *
 * Launches of a device follow one another, from one thread, and none may be captured to be
 * launched again: its number would repeat.
 *
 * Rejected: first tiles that search themselves, which takes as long as the launch; searches of a
 * tile while the one before is merged; words for removes and inserts, whose items load while they
 * wait.
 */
#ifndef MGPU_MERGE_SPLITS_CUH
#define MGPU_MERGE_SPLITS_CUH

#include "device/launch.cuh"
#include "device/split_search.cuh"
#include "merge/tuning.cuh"

/* What the tiles of a launch know of their boundaries. */
struct mgpu_tile_plan
{
	const uint32_t *splits;		/* NULL: they search themselves */
	uint32_t	ahead;			/* a CTA prefetches the tile this far behind its own */
	bool		overlaps;		/* they start while splits are still searched */
	uint32_t	launch;			/* number of the launch whose words they read, or 0 */
};

static inline uint64_t
mgpu_tiles_of(uint64_t num_items, uint32_t tile_items)
{
	return (num_items + tile_items - 1) / tile_items;
}

/* Bytes that the boundaries of num_tiles tiles take. */
static inline uint64_t
mgpu_splits_bytes(uint64_t num_tiles)
{
	return (num_tiles + 1) * sizeof(uint32_t);
}

/* Bytes to ask for: none while the tiles had better search themselves. */
static inline uint64_t
mgpu_splits_temp_bytes(uint64_t num_tiles)
{
	return num_tiles <= MGPU_OPS_SEARCH_IN_TILE_TILES ? 0 : mgpu_splits_bytes(num_tiles);
}

#ifdef __CUDACC__

/* ------------------------------------------------------------------- words */

/* The first boundaries of the last launches.  Zero when the module is loaded. */
static __device__ uint64_t mgpu_split_words[MGPU_OPS_WORDS];

static __device__ __forceinline__ void
mgpu_publish_split(uint32_t launch, uint64_t tile, uint32_t split)
{
	if (launch != 0 && tile < MGPU_OPS_WORDS)
		asm volatile("st.relaxed.gpu.u64 [%0], %1;"
					 : : "l"(&mgpu_split_words[tile]), "l"((uint64_t) launch << 32 | split) : "memory");
}

static __device__ __forceinline__ uint64_t
mgpu_load_split_word(uint64_t tile)
{
	uint64_t	word;

	asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(&mgpu_split_words[tile]) : "memory");
	return word;
}

/* The number of a launch, which is not 0. */
static inline uint32_t
mgpu_number_launch()
{
	static uint32_t last = 0;
	uint32_t	launch = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);

	return launch != 0 ? launch : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ search */

/* The splits of all boundaries, from 0 to num_tiles.  The next launch may start meanwhile. */
template <int lanes, class Search>
static __global__ void
__launch_bounds__(MGPU_OPS_LAUNCH_THREADS)
mgpu_find_splits(Search search, uint64_t num_tiles, uint32_t *splits, uint32_t launch)
{
	uint64_t	number = (uint64_t) blockIdx.x * (MGPU_OPS_LAUNCH_THREADS / lanes) + threadIdx.x / lanes;
	uint64_t	tile = min(number, num_tiles);
	uint32_t	split;

	mgpu_await_previous();
	split = mgpu_find_splits_near<lanes, true>(search, tile, mgpu_boundary_of(search, tile), MGPU_OPS_LAUNCH_ROOTS);
	if (threadIdx.x % lanes == 0)
	{
		mgpu_publish_split(launch, tile, split);
		splits[tile] = split;
	}
}

/* Both splits of the CTA's tile by its own search.  All threads call it; it ends with a barrier. */
template <class Search>
static __device__ __forceinline__ uint2
mgpu_search_tile_splits(const Search &search)
{
	constexpr uint32_t lanes = MGPU_OPS_TILE_PROBES;
	__shared__ uint32_t found[2];

	if (threadIdx.x < 2 * lanes)
	{
		uint64_t	tile = (uint64_t) blockIdx.x + threadIdx.x / lanes;
		uint32_t	split = mgpu_find_splits_near<lanes, false>(search, tile, mgpu_boundary_of(search, tile),
																MGPU_OPS_TILE_ROOTS);

		if (threadIdx.x % lanes == 0)
			found[threadIdx.x / lanes] = split;
	}
	__syncthreads();				/* both splits are found */
	return make_uint2(found[0], found[1]);
}

/* ------------------------------------------------------------------- tiles */

/* Both splits of a tile, if they are found. */
struct mgpu_tile_splits
{
	uint2		split;
	bool		known;
};

/*
 * Does this CTA take splits from words? Not the last one, so that the tiles do not end before the
 * launch that searches.
 */
static __device__ __forceinline__ bool
mgpu_receives_splits(mgpu_tile_plan plan)
{
	return plan.launch != 0 && blockIdx.x < MGPU_OPS_RECEIVING_TILES && blockIdx.x + 1 < gridDim.x;
}

/* Read a planned tile's splits without waiting. */
static __device__ __forceinline__ mgpu_tile_splits
mgpu_look_up_splits(mgpu_tile_plan plan, uint64_t tile)
{
	uint64_t	words[2];

	if (!mgpu_receives_splits(plan))
		return {make_uint2(plan.splits[tile], plan.splits[tile + 1]), true};
	if (tile + 1 >= MGPU_OPS_WORDS)
		return {make_uint2(0, 0), false};
	words[0] = mgpu_load_split_word(tile);
	words[1] = mgpu_load_split_word(tile + 1);
	return {make_uint2((uint32_t) words[0], (uint32_t) words[1]),
		words[0] >> 32 == plan.launch && words[1] >> 32 == plan.launch};
}

/* The tile that this CTA prefetches, and its splits, which one thread gets if they are known. */
struct mgpu_tile_ahead
{
	uint64_t	tile;
	uint2		split;
	bool		asks;
};

static __device__ __forceinline__ mgpu_tile_ahead
mgpu_find_tile_ahead(mgpu_tile_plan plan)
{
	mgpu_tile_ahead ahead = {(uint64_t) blockIdx.x + plan.ahead, make_uint2(0, 0), false};

	if (threadIdx.x == 0 && plan.splits != nullptr && ahead.tile < gridDim.x)
	{
		mgpu_tile_splits splits = mgpu_look_up_splits(plan, ahead.tile);

		ahead.split = splits.split;
		ahead.asks = splits.known;
	}
	return ahead;
}

/* Every tile calls this: work before the search has ended, and the search too if this tile needs that. */
static __device__ __forceinline__ void
mgpu_await_splits(mgpu_tile_plan plan)
{
	if (!mgpu_receives_splits(plan))
		mgpu_await_previous();
}

/* The boundaries of a CTA's tile and of the one that it prefetches. */
struct mgpu_all_splits
{
	uint2		own;
	uint2		ahead;
	uint64_t	tile_ahead;
	bool		asks;			/* this thread prefetches */
};

/*
 * All of them, loaded together, for kernels that prefetch first and receive no words.  All threads
 * call it, behind mgpu_await_previous; it ends with a barrier if it searches.
 */
template <class Search>
static __device__ __forceinline__ mgpu_all_splits
mgpu_find_all_splits(const Search &search, mgpu_tile_plan plan)
{
	uint64_t	ahead = (uint64_t) blockIdx.x + plan.ahead;
	uint64_t	tile_ahead = min(ahead, (uint64_t) gridDim.x - 1);

	static_assert(!Search::publishes_splits, "these are read once");
	if (plan.splits == nullptr)
		return {mgpu_search_tile_splits(search), make_uint2(0, 0), 0, false};
	return {make_uint2(plan.splits[blockIdx.x], plan.splits[blockIdx.x + 1]),
		make_uint2(plan.splits[tile_ahead], plan.splits[tile_ahead + 1]), tile_ahead,
		threadIdx.x == 0 && ahead < gridDim.x};
}

/*
 * Both boundaries of this CTA's tile.  All threads call it, behind mgpu_await_splits; it ends with
 * a barrier if it searches.
 */
template <class Search>
static __device__ __forceinline__ uint2
mgpu_find_tile_splits(const Search &search, mgpu_tile_plan plan)
{
	mgpu_tile_splits splits;

	if (plan.splits == nullptr)
		return mgpu_search_tile_splits(search);
	do
		splits = mgpu_look_up_splits(plan, blockIdx.x);
	while (!splits.known);
	return splits.split;
}

/* -------------------------------------------------------------------- host */

/* Enqueue the search for all boundaries with this number of lanes each. splits has a place for each. */
template <int lanes, class Search>
static cudaError_t
mgpu_enqueue_search(const Search &search, uint64_t num_tiles, uint32_t *splits, uint32_t launch, cudaStream_t stream)
{
	constexpr uint32_t per_cta = MGPU_OPS_LAUNCH_THREADS / lanes;

	mgpu_find_splits<lanes><<<(unsigned) mgpu_tiles_of(num_tiles + 1, per_cta), MGPU_OPS_LAUNCH_THREADS, 0, stream>>>
		(search, num_tiles, splits, launch);
	return cudaGetLastError();
}

template <class Search>
static cudaError_t
mgpu_enqueue_splits(const Search &search, uint64_t num_tiles, uint32_t *splits, uint32_t launch, cudaStream_t stream)
{
	if (num_tiles <= MGPU_OPS_FEW_TILES)
		return mgpu_enqueue_search<MGPU_OPS_FEW_PROBES>(search, num_tiles, splits, launch, stream);
	return mgpu_enqueue_search<Search::many_probes>(search, num_tiles, splits, launch, stream);
}

/*
 * The same if temp is large enough.  The plan says what the tiles do; ahead is in tiles an SM.
 * mgpu_launch_tiles must be the next launch.
 */
template <class Search>
static cudaError_t
mgpu_plan_tiles(const Search &search, uint64_t num_tiles, int ahead, void *temp, uint64_t temp_bytes,
				cudaStream_t stream, mgpu_tile_plan *plan)
{
	int			num_sms;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);

	*plan = mgpu_tile_plan();
	if (status != cudaSuccess)
		return status;
	plan->ahead = (uint32_t) (num_sms * ahead);
	if (temp == nullptr || temp_bytes < mgpu_splits_bytes(num_tiles))
		return cudaSuccess;
	status = mgpu_can_overlap(&plan->overlaps);
	if (status != cudaSuccess)
		return status;
	plan->launch = Search::publishes_splits && plan->overlaps ? mgpu_number_launch() : 0;
	plan->splits = static_cast<const uint32_t *>(temp);
	return mgpu_enqueue_splits(search, num_tiles, static_cast<uint32_t *>(temp), plan->launch, stream);
}

/*
 * Launch a kernel of one CTA a tile.  It may read inputs while splits are still searched, since the
 * search was launched when all before it had ended.  Before it reads splits or writes, it calls
 * mgpu_await_splits or mgpu_await_previous.
 */
template <class Tuning, typename... Parameters, typename... Arguments>
static cudaError_t
mgpu_launch_tiles(const mgpu_tile_plan &plan, void (*kernel) (Parameters...), uint64_t num_tiles, uint32_t shared_bytes,
				  cudaStream_t stream, Arguments... arguments)
{
	return mgpu_launch_kernel(plan.overlaps, kernel, (unsigned int) num_tiles, Tuning::threads, shared_bytes, stream,
							  arguments...);
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_MERGE_SPLITS_CUH */
