/*
 * device/split_search.cuh
 *		Where tiles begin: a parallel search with several probes a round.
 *
 * A Search class says which items of a list lie before boundary `tile`:
 *
 *	 range(tile, low, high)		the split is in [low, high]
 *	 before(tile, probe)		item `probe` of [low, high) lies before the boundary
 *	 expected(tile)				the split if both sides are distributed alike
 *	 distance(tile, probe)		signed distance of item `probe` from the boundary; 0: unknown
 *
 * mgpu_find_split probes evenly and needs range and before alone.  mgpu_find_split_near starts
 * around the expected place in long ranges, then interpolates: 4 or 5 rounds of 4 probes for 50
 * million random items, where even ones take 12.  Distances only advise.  Unsorted lists give some
 * split within the range, the same one every time.
 *
 * Source: interpolation search (Perl, Itai and Avni, 1978).
 */
#ifndef MGPU_DEVICE_SPLIT_SEARCH_CUH
#define MGPU_DEVICE_SPLIT_SEARCH_CUH

#include "device/arithmetic.cuh"
#include "device/tuning.cuh"

/* The distance of even probes. */
template <int lanes>
MGPU_HOST_DEVICE uint32_t
mgpu_group_stride(uint64_t low, uint64_t high)
{
	return (uint32_t) (high - low) / (lanes + 1) + 1;
}

/* Probe `lane` of the open range [low, high), which is not empty: ascending. */
template <int lanes>
MGPU_HOST_DEVICE uint64_t
mgpu_group_probe(uint64_t low, uint64_t high, uint32_t lane)
{
	uint64_t	probe = low + (uint64_t) (lane + 1) * mgpu_group_stride<lanes>(low, high) - 1;

	return probe < high ? probe : high - 1;
}

/* Shrink the range by the number of probes before the boundary; at(lane) is where they are. */
template <int lanes, typename Place, class At>
MGPU_HOST_DEVICE void
mgpu_narrow(Place &low, Place &high, uint32_t num_before, At at)
{
	Place		new_low = num_before > 0 ? at(num_before - 1) + 1 : low;

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

/* floor(items * part / whole) to within a millionth of items, without a long division. */
MGPU_HOST_DEVICE uint64_t
mgpu_in_proportion(uint64_t items, uint64_t part, uint64_t whole)
{
	return (uint64_t) ((float) items * mgpu_guess_quotient((float) part, (float) whole));
}

/*
 * A search between two rounds.  Places have 32 bits and quotients are approximate, to keep few
 * operations between two rounds' loads.
 */
struct mgpu_split_search
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	first;			/* first probe, counted from low */
	uint32_t	stride;			/* from probe to probe */
	bool		guesses;		/* the next probes interpolate */
	uint32_t	guesses_left;	/* misleading rounds still allowed */
	float		roots;			/* that interpolating probes reach to either side */
	float		below;			/* distance of item low - 1; not below 0: unknown */
	float		above;			/* distance of item high; not above 0: unknown */
};

/* The stride of probes that reach `roots` times sqrt(items) to either side. */
MGPU_HOST_DEVICE uint32_t
mgpu_near_stride(float items, float roots)
{
	return (uint32_t) (items * rsqrtf(items) * (2.0f * roots / MGPU_SPLIT_LANES)) + 1;
}

MGPU_HOST_DEVICE void
mgpu_probe_evenly(mgpu_split_search &search)
{
	search.stride = mgpu_group_stride<MGPU_SPLIT_LANES>(search.low, search.high);
	search.first = search.stride - 1;
	search.guesses = false;
}

/* Probe on both sides of the place with num_before items of the range before it, or as near as the range allows. */
MGPU_HOST_DEVICE void
mgpu_probe_around(mgpu_split_search &search, uint32_t num_before, uint32_t stride)
{
	uint32_t	reach = (MGPU_SPLIT_LANES - 1) * stride;
	uint32_t	back = reach / 2 + 1;
	uint32_t	first = num_before > back ? num_before - back : 0;
	uint32_t	last_first = search.high - search.low - 1 - reach;

	search.stride = stride;
	search.first = first < last_first ? first : last_first;
}

MGPU_HOST_DEVICE uint32_t
mgpu_search_probe(const mgpu_split_search &search, uint32_t lane)
{
	uint32_t	probe = search.first + lane * search.stride;
	uint32_t	last = search.high - search.low - 1;

	return search.low + (probe < last ? probe : last);
}

/* Start around the expected place of a long range, else evenly. */
template <class Search>
MGPU_HOST_DEVICE mgpu_split_search
mgpu_start_search(const Search &search, uint64_t tile)
{
	uint64_t	low;
	uint64_t	high;
	mgpu_split_search state;

	search.range(tile, low, high);
	state = {(uint32_t) low, (uint32_t) high, 0, 0, false, MGPU_SPLIT_GUESSES, MGPU_SPLIT_GUESS_ROOTS, 0, 0};
	mgpu_probe_evenly(state);
	if (high - low >= MGPU_SPLIT_NEAR_MIN_RANGE)
	{
		uint64_t	expected = search.expected(tile);

		mgpu_probe_around(state, expected <= low ? 0 : (uint32_t) ((expected < high ? expected : high) - low),
						  mgpu_near_stride((float) (high - low), MGPU_SPLIT_NEAR_ROOTS));
	}
	return state;
}

/* What a round's probes read: the outermost distances and those on both sides of the split. */
struct mgpu_probe_distances
{
	float		first;
	float		last;
	float		before;			/* if there is such a probe */
	float		behind;
};

/* The distances at both ends of what a round leaves: read, or extrapolated through the outermost probes. */
MGPU_HOST_DEVICE void
mgpu_record_distances(mgpu_split_search &search, uint32_t num_before, const mgpu_probe_distances &distances)
{
	bool		no_below = num_before == 0 && !(search.below < 0);
	bool		no_above = num_before == MGPU_SPLIT_LANES && !(search.above > 0);

	if (num_before > 0)
		search.below = distances.before;
	if (num_before < MGPU_SPLIT_LANES)
		search.above = distances.behind;
	if (no_below || no_above)
	{
		uint32_t	first = mgpu_search_probe(search, 0);
		uint32_t	last = mgpu_search_probe(search, MGPU_SPLIT_LANES - 1);
		float		slope = mgpu_guess_quotient(distances.last - distances.first, (float) (last - first));

		if (slope > 0 && no_below)
			search.below = fminf(distances.first - slope * (float) (first - search.low + 1), -slope);
		if (slope > 0 && no_above)
			search.above = fmaxf(distances.last + slope * (float) (search.high - last), slope);
	}
}

/* Interpolate if that is nearer than the planned even probes. */
MGPU_HOST_DEVICE void
mgpu_probe_by_distances(mgpu_split_search &search)
{
	float		items = (float) (search.high - search.low) + 1;
	float		share = mgpu_guess_quotient(search.below, search.below - search.above);
	float		place = share * items;	/* of the split, counted from low - 1 */
	uint32_t	stride;

	if (search.guesses_left == 0 || !(search.below < 0 && search.above > 0 && share <= 1))
		return;
	stride = mgpu_near_stride(fmaxf(fminf(place, items - place), 1), search.roots);
	if (stride >= search.stride)
		return;
	mgpu_probe_around(search, (uint32_t) place, stride);
	search.guesses = true;
}

/* Shrink the range by a round, and plan the next one: by distances if they help, else evenly. */
MGPU_HOST_DEVICE void
mgpu_narrow_by_distances(mgpu_split_search &search, uint32_t num_before, const mgpu_probe_distances &distances)
{
	const mgpu_split_search round = search;
	uint32_t	even_stride = mgpu_group_stride<MGPU_SPLIT_LANES>(search.low, search.high);

	mgpu_record_distances(search, num_before, distances);
	mgpu_narrow<MGPU_SPLIT_LANES>(search.low, search.high, num_before,
								  [&] (uint32_t lane) { return mgpu_search_probe(round, lane); });
	mgpu_probe_evenly(search);
	if (round.guesses && search.high - search.low >= even_stride)
	{
		search.guesses_left--;
		search.roots *= MGPU_SPLIT_GUESS_GROWTH;
	}
	mgpu_probe_by_distances(search);
}

/* The lanes of a warp that search together with this thread. */
template <int lanes>
static __device__ __forceinline__ uint32_t
mgpu_group_of(uint32_t thread)
{
	return (uint32_t) ((UINT64_C(1) << lanes) - 1) << (thread % 32 - thread % lanes);
}

/* The split of a boundary, for every lane of the group.  Other lanes of the warp may do something else. */
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

/* What this lane's group read; num_before of its probes lie before the boundary. */
static __device__ __forceinline__ mgpu_probe_distances
mgpu_share_distances(float distance, uint32_t num_before)
{
	constexpr uint32_t lanes = MGPU_SPLIT_LANES;
	mgpu_probe_distances distances;

	distances.first = __shfl_sync(MGPU_WHOLE_WARP, distance, 0, lanes);
	distances.last = __shfl_sync(MGPU_WHOLE_WARP, distance, lanes - 1, lanes);
	distances.before = __shfl_sync(MGPU_WHOLE_WARP, distance, (num_before + lanes - 1) % lanes, lanes);
	distances.behind = __shfl_sync(MGPU_WHOLE_WARP, distance, num_before % lanes, lanes);
	return distances;
}

/* The split of one boundary for each group of MGPU_SPLIT_LANES lanes.  All groups of the warp search together. */
template <class Search>
static __device__ __forceinline__ uint32_t
mgpu_find_split_near(const Search &search, uint64_t tile)
{
	mgpu_split_search state = mgpu_start_search(search, tile);
	uint32_t	group = mgpu_group_of<MGPU_SPLIT_LANES>(threadIdx.x);

	while (__any_sync(MGPU_WHOLE_WARP, state.low < state.high))
	{
		bool		searches = state.low < state.high;
		uint32_t	probe = mgpu_search_probe(state, threadIdx.x % MGPU_SPLIT_LANES);
		bool		before = searches && search.before(tile, probe);
		float		distance = searches ? search.distance(tile, probe) : 0;
		uint32_t	num_before = __popc(__ballot_sync(MGPU_WHOLE_WARP, before) & group);
		mgpu_probe_distances distances = mgpu_share_distances(distance, num_before);

		if (searches)
			mgpu_narrow_by_distances(state, num_before, distances);
	}
	return state.low;
}

#endif							/* MGPU_DEVICE_SPLIT_SEARCH_CUH */
