/*
 * ops_search.cuh
 *		Where tiles begin: a search of several probes at a time.
 *
 * Boundary `tile` of a partition splits a list: so many of its items lie before
 * it.  A Search says what that means:
 *
 *	 range(tile, low, high)		the split is in [low, high]
 *	 before(tile, probe)		item `probe`, in [low, high), lies before the
 *								boundary; true up to some item, then false
 *	 diagonal(tile)				items before the boundary, in what is cut into tiles
 *	 expected(tile)				where in the range the split is if what lies on both
 *								sides is spread alike: for mgpu_find_splits_near
 *
 * A group of lanes probes at even distances and keeps the part in which the
 * answers change: 17 ways a round with 16 lanes, 7 dependent loads instead of
 * 26 for 50 million items.  32 lanes were rejected: one round less, but twice
 * the sectors, which for every tile of a merge come to a tenth of its bytes.
 *
 * Items in random order are nearly spread alike: a split is seldom further than
 * a root of the range from where it is expected.  So the first probes of a large
 * range lie around that place, and leave but a root of it: 7 rounds of 4 probes
 * instead of 12 for 50 million items.  Where the split is elsewhere after all,
 * they cost a round.
 *
 * What a launch of so many searches takes is rounds, of more than a microsecond each, and
 * sectors: one probe of device memory is as dear as 64 bytes copied.  So a warp's
 * groups go round together, few lanes search where boundaries are many, and of very many
 * boundaries one in MGPU_OPS_REFINE_STEP is found first, between which the others are
 * no further from where they are expected than a root of what lies between.
 *
 * Answers that do not change once (an unsorted list) give some split of the
 * range, the same one to whoever asks.
 */
#ifndef MGPU_OPS_SEARCH_CUH
#define MGPU_OPS_SEARCH_CUH

#include <math.h>

#include "launch.cuh"
#include "merge_path.cuh"
#include "ops_tuning.cuh"

/* Probe `lane` of the open range [low, high), which is not empty: ascending. */
template <int lanes>
MGPU_HOST_DEVICE uint64_t
mgpu_group_probe(uint64_t low, uint64_t high, uint32_t lane)
{
	uint32_t	stride = (uint32_t) (high - low) / (lanes + 1) + 1;
	uint64_t	probe = low + (uint64_t) (lane + 1) * stride - 1;

	return probe < high ? probe : high - 1;
}

/* The same for probes around the expected split: so many roots of the range, to either side. */
template <int lanes>
MGPU_HOST_DEVICE uint64_t
mgpu_near_probe(uint64_t low, uint64_t high, uint64_t expected, uint32_t lane, float roots = MGPU_OPS_NEAR_ROOTS)
{
	uint32_t	stride = (uint32_t) (sqrtf((float) (high - low)) * (2.0f * roots / lanes)) + 1;
	int64_t		probe = (int64_t) expected + ((int64_t) lane * 2 - (lanes - 1)) * stride / 2;

	if (probe < (int64_t) low)
		return low;
	return probe < (int64_t) high ? (uint64_t) probe : high - 1;
}

/* Shrink the range by the number of probes that lie before the boundary; at(lane) is where they are. */
template <int lanes, class At>
MGPU_HOST_DEVICE void
mgpu_narrow(uint64_t &low, uint64_t &high, uint32_t num_before, At at)
{
	uint64_t	new_low = num_before > 0 ? at(num_before - 1) + 1 : low;

	if (num_before < lanes)
		high = at(num_before);
	low = new_low;
}

template <int lanes>
MGPU_HOST_DEVICE void
mgpu_group_narrow(uint64_t &low, uint64_t &high, uint32_t num_before)
{
	uint64_t	from = low;
	uint64_t	to = high;

	mgpu_narrow<lanes>(low, high, num_before, [=] (uint32_t lane) { return mgpu_group_probe<lanes>(from, to, lane); });
}

template <int lanes>
MGPU_HOST_DEVICE void
mgpu_near_narrow(uint64_t &low, uint64_t &high, uint64_t expected, uint32_t num_before,
				 float roots = MGPU_OPS_NEAR_ROOTS)
{
	uint64_t	from = low;
	uint64_t	to = high;

	mgpu_narrow<lanes>(low, high, num_before,
					   [=] (uint32_t lane) { return mgpu_near_probe<lanes>(from, to, expected, lane, roots); });
}

/* Where a split may be, and where it is expected, which short ranges need not know. */
struct mgpu_boundary_range
{
	uint64_t	low;
	uint64_t	high;
	uint64_t	expected;
};

template <class Search>
MGPU_HOST_DEVICE mgpu_boundary_range
mgpu_boundary_of(const Search &search, uint64_t tile)
{
	mgpu_boundary_range range = {0, 0, 0};

	search.range(tile, range.low, range.high);
	if (range.high - range.low >= MGPU_OPS_NEAR_MIN_RANGE)
		range.expected = search.expected(tile);
	return range;
}

/*
 * The range of a boundary between the two of every step-th, or the last, whose splits
 * are known; its own split if it is one of these.  Those of unsorted lists may be
 * anywhere: what is probed is in the range of the search all the same.
 */
template <class Search>
MGPU_HOST_DEVICE mgpu_boundary_range
mgpu_boundary_between(const Search &search, const uint32_t *splits, uint64_t tile, uint64_t num_tiles, uint32_t step)
{
	uint64_t	first = tile == num_tiles ? tile : tile - tile % step;
	uint64_t	next = first + step < num_tiles ? first + step : num_tiles;
	uint64_t	from = search.diagonal(first);
	uint64_t	begin = splits[first];
	uint64_t	end = tile == first ? begin : splits[next];
	mgpu_boundary_range range;

	search.range(tile, range.low, range.high);
	range.expected = begin;
	if (end > begin)
		range.expected += (end - begin) * (search.diagonal(tile) - from) / (search.diagonal(next) - from);
	if (begin > range.low)
		range.low = begin < range.high ? begin : range.high;
	if (end < range.high)
		range.high = end > range.low ? end : range.low;
	return range;
}

/* What the tiles of a launch are told of their boundaries. */
struct mgpu_tile_plan
{
	const uint32_t *splits;		/* NULL: they search themselves */
	uint32_t	ahead;			/* a CTA asks for the tile so many behind its own */
	bool		overlaps;		/* they start while splits are still being found */
};

static inline uint64_t
mgpu_tiles_of(uint64_t num_items, uint32_t tile_items)
{
	return (num_items + tile_items - 1) / tile_items;
}

/* Bytes that the boundaries of so many tiles take. */
static inline uint64_t
mgpu_splits_bytes(uint64_t num_tiles)
{
	return (num_tiles + 1) * sizeof(uint32_t);
}

/* Bytes to ask for: none while the tiles do better to look themselves. */
static inline uint64_t
mgpu_splits_temp_bytes(uint64_t num_tiles)
{
	return num_tiles <= MGPU_OPS_SEARCH_IN_TILE_TILES ? 0 : mgpu_splits_bytes(num_tiles);
}

#ifdef __CUDACC__

/* The lanes that search together with a thread. */
template <int lanes>
static __device__ __forceinline__ uint32_t
mgpu_group_of(uint32_t thread)
{
	return (uint32_t) ((UINT64_C(1) << lanes) - 1) << (thread % 32 - thread % lanes);
}

/* The split of a boundary; every lane of the group gets it.  Others of its warp may do something else. */
template <int lanes, class Search>
static __device__ __forceinline__ uint32_t
mgpu_find_split(const Search &search, uint64_t tile, uint32_t thread)
{
	uint32_t	group = mgpu_group_of<lanes>(thread);
	uint64_t	low;
	uint64_t	high;

	search.range(tile, low, high);
	while (low < high)
	{
		uint64_t	probe = mgpu_group_probe<lanes>(low, high, thread % lanes);
		uint32_t	before = __ballot_sync(group, search.before(tile, probe));

		mgpu_group_narrow<lanes>(low, high, __popc(before & group));
	}
	return (uint32_t) low;
}

/* How many lanes of this one's group, of whole warps, have a probe before their boundary. */
template <int lanes>
static __device__ __forceinline__ uint32_t
mgpu_count_in_group(bool before)
{
	return __popc(__ballot_sync(0xFFFFFFFFu, before) & mgpu_group_of<lanes>(threadIdx.x));
}

/*
 * The splits of a boundary a group, all of a warp's together: first where they are
 * expected, in `roots` of the range around it.
 */
template <int lanes, class Search>
static __device__ __forceinline__ uint32_t
mgpu_find_splits_near(const Search &search, uint64_t tile, mgpu_boundary_range range, float roots)
{
	uint32_t	lane = threadIdx.x % lanes;
	uint64_t	low = range.low;
	uint64_t	high = range.high;
	bool		is_long = high - low >= MGPU_OPS_NEAR_MIN_RANGE;
	uint32_t	num_before = mgpu_count_in_group<lanes>
		(is_long && search.before(tile, mgpu_near_probe<lanes>(low, high, range.expected, lane, roots)));

	if (is_long)
		mgpu_near_narrow<lanes>(low, high, range.expected, num_before, roots);
	while (__any_sync(0xFFFFFFFFu, low < high))
	{
		num_before = mgpu_count_in_group<lanes>
			(low < high && search.before(tile, mgpu_group_probe<lanes>(low, high, lane)));
		if (low < high)
			mgpu_group_narrow<lanes>(low, high, num_before);
	}
	return (uint32_t) low;
}

/*
 * The splits of every step-th boundary, from 0 to num_tiles, and of the last.  What is
 * launched behind it may start meanwhile.
 */
template <int lanes, class Search>
__global__ void
__launch_bounds__(MGPU_OPS_LAUNCH_THREADS)
mgpu_find_splits(Search search, uint64_t num_tiles, uint32_t step, uint32_t *splits)
{
	uint64_t	number = (uint64_t) blockIdx.x * (MGPU_OPS_LAUNCH_THREADS / lanes) + threadIdx.x / lanes;
	uint64_t	tile = min(number * step, num_tiles);
	uint32_t	split;

	mgpu_await_previous();
	split = mgpu_find_splits_near<lanes>(search, tile, mgpu_boundary_of(search, tile), MGPU_OPS_NEAR_ROOTS);
	if (threadIdx.x % lanes == 0)
		splits[tile] = split;
}

/* The splits of those between them. */
template <int lanes, class Search>
__global__ void
__launch_bounds__(MGPU_OPS_LAUNCH_THREADS)
mgpu_refine_splits(Search search, uint64_t num_tiles, uint32_t step, uint32_t *splits)
{
	uint64_t	number = (uint64_t) blockIdx.x * (MGPU_OPS_LAUNCH_THREADS / lanes) + threadIdx.x / lanes;
	uint64_t	tile = min(number, num_tiles);
	uint32_t	split;

	mgpu_await_previous();
	split = mgpu_find_splits_near<lanes>(search, tile, mgpu_boundary_between(search, splits, tile, num_tiles, step),
										 MGPU_OPS_REFINE_ROOTS);
	if (threadIdx.x % lanes == 0 && tile < num_tiles && tile % step != 0)
		splits[tile] = split;
}

/*
 * Both boundaries of this CTA's tile, as planned or by a search.  All threads
 * call it, behind mgpu_await_previous; it ends with a barrier if it searches.
 */
template <class Search>
static __device__ __forceinline__ uint2
mgpu_tile_splits(const Search &search, mgpu_tile_plan plan)
{
	constexpr uint32_t lanes = MGPU_OPS_TILE_PROBES;
	__shared__ uint32_t found[2];

	if (plan.splits != nullptr)
		return make_uint2(plan.splits[blockIdx.x], plan.splits[blockIdx.x + 1]);
	if (threadIdx.x < 2 * lanes)
	{
		uint64_t	tile = (uint64_t) blockIdx.x + threadIdx.x / lanes;
		uint32_t	split = mgpu_find_splits_near<lanes>(search, tile, mgpu_boundary_of(search, tile), MGPU_OPS_NEAR_ROOTS);

		if (threadIdx.x % lanes == 0)
			found[threadIdx.x / lanes] = split;
	}
	__syncthreads();				/* both splits are found */
	return make_uint2(found[0], found[1]);
}

/* Behind mgpu_await_previous, for one thread of a CTA: the tile to ask for and its splits; false: there is none. */
static __device__ __forceinline__ bool
mgpu_tile_ahead(mgpu_tile_plan plan, uint64_t *tile, uint2 *split)
{
	*tile = (uint64_t) blockIdx.x + plan.ahead;
	if (threadIdx.x != 0 || plan.splits == nullptr || *tile >= gridDim.x)
		return false;
	*split = make_uint2(plan.splits[*tile], plan.splits[*tile + 1]);
	return true;
}

/* Enqueue the search for every step-th boundary, by so many lanes each. */
template <int lanes, class Search>
static cudaError_t
mgpu_enqueue_search(const Search &search, uint64_t num_tiles, uint32_t step, uint32_t *splits, cudaStream_t stream)
{
	constexpr uint32_t per_cta = MGPU_OPS_LAUNCH_THREADS / lanes;
	uint64_t	boundaries = mgpu_tiles_of(num_tiles, step) + 1;

	mgpu_find_splits<lanes><<<(unsigned) mgpu_tiles_of(boundaries, per_cta), MGPU_OPS_LAUNCH_THREADS, 0, stream>>>
		(search, num_tiles, step, splits);
	return cudaGetLastError();
}

template <class Search>
static cudaError_t
mgpu_enqueue_each(const Search &search, uint64_t num_tiles, uint32_t step, uint32_t *splits, cudaStream_t stream)
{
	switch (mgpu_launch_probes(mgpu_tiles_of(num_tiles, step)))
	{
		case MGPU_OPS_LAUNCH_PROBES / 4:
			return mgpu_enqueue_search<MGPU_OPS_LAUNCH_PROBES / 4>(search, num_tiles, step, splits, stream);
		case MGPU_OPS_LAUNCH_PROBES:
			return mgpu_enqueue_search<MGPU_OPS_LAUNCH_PROBES>(search, num_tiles, step, splits, stream);
		default:
			return mgpu_enqueue_search<2 * MGPU_OPS_LAUNCH_PROBES>(search, num_tiles, step, splits, stream);
	}
}

/* Enqueue the search for all boundaries; splits has a place for each. */
template <class Search>
static cudaError_t
mgpu_enqueue_splits(const Search &search, uint64_t num_tiles, bool overlaps, uint32_t *splits, cudaStream_t stream)
{
	constexpr uint32_t per_cta = MGPU_OPS_LAUNCH_THREADS / MGPU_OPS_REFINE_PROBES;
	cudaError_t status;

	if (num_tiles < MGPU_OPS_REFINE_MIN_TILES)
		return mgpu_enqueue_each(search, num_tiles, 1, splits, stream);
	status = mgpu_enqueue_each(search, num_tiles, MGPU_OPS_REFINE_STEP, splits, stream);
	if (status != cudaSuccess)
		return status;
	return mgpu_launch_kernel(overlaps, mgpu_refine_splits<MGPU_OPS_REFINE_PROBES, Search>,
							  (unsigned int) mgpu_tiles_of(num_tiles, per_cta), MGPU_OPS_LAUNCH_THREADS, 0, stream,
							  search, num_tiles, (uint32_t) MGPU_OPS_REFINE_STEP, splits);
}

/*
 * The same if temp has room; the plan says what the tiles are to do.  ahead is in
 * tiles an SM.  The tiles are launched next, by mgpu_launch_tiles.
 */
template <class Search>
static cudaError_t
mgpu_plan_tiles(const Search &search, uint64_t num_tiles, int ahead, void *temp, uint64_t temp_bytes,
				cudaStream_t stream, mgpu_tile_plan *plan)
{
	int			device;
	int			num_sms = 0;
	cudaError_t status = cudaGetDevice(&device);

	*plan = mgpu_tile_plan();
	if (status == cudaSuccess)
		status = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
	if (status != cudaSuccess)
		return status;
	plan->ahead = (uint32_t) (num_sms * ahead);
	if (temp == nullptr || temp_bytes < mgpu_splits_bytes(num_tiles))
		return cudaSuccess;
	status = mgpu_can_overlap(&plan->overlaps);
	if (status != cudaSuccess)
		return status;
	plan->splits = static_cast<const uint32_t *>(temp);
	return mgpu_enqueue_splits(search, num_tiles, plan->overlaps, static_cast<uint32_t *>(temp), stream);
}

/*
 * Launch a kernel of one CTA a tile.  It may read inputs while splits are still
 * being found, since that search was launched as usual, when all before it had
 * ended; before it reads splits or writes it calls mgpu_await_previous.
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
#endif							/* MGPU_OPS_SEARCH_CUH */
