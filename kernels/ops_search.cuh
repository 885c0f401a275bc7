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
 *
 * and for mgpu_find_splits_near
 *
 *	 expected(tile)				where in the range the split is if what lies on both
 *								sides is spread alike
 *	 distance(tile, probe)		how far item `probe` is from the boundary in the measure of
 *								the items, less than 0 before it; 0 where no measure helps
 *	 many_probes				probes of a round where tiles are many
 *	 tells_splits				whether tiles hear of their boundaries as these are found (ops_splits.cuh)
 *
 * A group of lanes probes at even distances and keeps the part in which the
 * answers change: 17 ways a round with 16 lanes, 7 dependent loads instead of
 * 26 for 50 million items.  32 lanes were rejected: one round less, but twice
 * the sectors, which for every tile of a merge come to a tenth of its bytes.
 *
 * Items in random order are nearly spread alike: a split is seldom further than
 * a root of the range from where it is expected.  So the first probes of a large
 * range lie around that place, and leave but a root of it.  What they read says
 * in proportion where the split lies between two of them, again to within a root:
 * 4 or 5 rounds of 4 probes instead of 12 for 50 million items, in half the
 * sectors.  Where it lies beyond them all, the line through the outermost leads on.
 *
 * Distances are advice: what is before the boundary is never asked of them, and
 * probes stay within the range.  Where they mislead (few distinct items, gaps), probes
 * reach further out each time, and after MGPU_OPS_GUESSES such rounds all others are even.
 *
 * What a launch of so many searches takes is rounds, of more than a microsecond each, and
 * sectors: one probe of device memory is as dear as 64 bytes copied.  So a warp's
 * groups go round together, and fewer lanes search where boundaries are many.  One
 * boundary in 16 first, and the others between these, by a launch more, paid while a
 * search took ten rounds; of four or five it saves one, for which it waits for the launch.
 *
 * Answers that do not change once (an unsorted list) give some split of the
 * range, the same one to whoever asks in the same way.
 *
 * Source: interpolation search (Perl, Itai and Avni, 1978), by several probes.
 */
#ifndef MGPU_OPS_SEARCH_CUH
#define MGPU_OPS_SEARCH_CUH

#include "guess_math.cuh"
#include "merge_path.cuh"
#include "ops_tuning.cuh"

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

/* Shrink the range by the number of probes that lie before the boundary; at(lane) is where they are. */
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

/* Of so many items those in proportion to a part of a whole, to within a millionth of them all: no long division. */
MGPU_HOST_DEVICE uint64_t
mgpu_in_proportion(uint64_t items, uint64_t part, uint64_t whole)
{
	return (uint64_t) ((float) items * mgpu_guess_quotient((float) part, (float) whole));
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
	{
		uint64_t	expected = search.expected(tile);

		range.expected = expected < range.high ? expected : range.high;
	}
	return range;
}

/*
 * A search between two rounds.  Few operations lie between a round's loads and the next
 * one's: places have 32 bits, as splits do, and quotients and roots are rough.
 */
struct mgpu_split_search
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	first;			/* first probe, counted from low */
	uint32_t	stride;			/* from probe to probe */
	bool		guesses;		/* they lie where distances say */
	uint32_t	guesses_left;	/* that may still fail */
	float		roots;			/* that a guess reaches to either side */
	float		below;			/* distance of item low - 1, less than 0 or not known */
	float		above;			/* of item high, more than 0 or not known */
};

/* The distance of probes that reach so many roots of so many items to either side. */
template <int lanes>
MGPU_HOST_DEVICE uint32_t
mgpu_near_stride(float items, float roots)
{
	return (uint32_t) (items * rsqrtf(items) * (2.0f * roots / lanes)) + 1;
}

template <int lanes>
MGPU_HOST_DEVICE void
mgpu_probe_evenly(mgpu_split_search &search)
{
	search.stride = mgpu_group_stride<lanes>(search.low, search.high);
	search.first = search.stride - 1;
	search.guesses = false;
}

/* Probe on both sides of the split if so many of the range's items lie before it; or as near as the range allows. */
template <int lanes>
MGPU_HOST_DEVICE void
mgpu_probe_around(mgpu_split_search &search, uint32_t num_before, uint32_t stride)
{
	uint32_t	reach = (lanes - 1) * stride;
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

/* Begin where the split is expected, in so many roots of a long range around it. */
template <int lanes>
MGPU_HOST_DEVICE mgpu_split_search
mgpu_start_search(const mgpu_boundary_range &range, float roots)
{
	mgpu_split_search search = {(uint32_t) range.low, (uint32_t) range.high, 0, 0, false, MGPU_OPS_GUESSES,
		MGPU_OPS_GUESS_ROOTS, 0, 0};

	mgpu_probe_evenly<lanes>(search);
	if (range.high - range.low >= MGPU_OPS_NEAR_MIN_RANGE)
		mgpu_probe_around<lanes>(search, range.expected > range.low ? (uint32_t) (range.expected - range.low) : 0,
								 mgpu_near_stride<lanes>((float) (range.high - range.low), roots));
	return search;
}

/* Shrink the range by a round; the next one's probes are even. */
template <int lanes>
MGPU_HOST_DEVICE void
mgpu_narrow_evenly(mgpu_split_search &search, uint32_t num_before)
{
	const mgpu_split_search round = search;

	mgpu_narrow<lanes>(search.low, search.high, num_before, [&] (uint32_t lane) { return mgpu_search_probe(round, lane); });
	mgpu_probe_evenly<lanes>(search);
}

/* What a round's probes read: the distances of the outermost and of those on both sides of the split. */
struct mgpu_probe_distances
{
	float		first;
	float		last;
	float		before;			/* if there is such a probe, or anything */
	float		behind;
};

/* The distances at both ends of what a round leaves: read, or else on the line through the outermost probes. */
template <int lanes>
MGPU_HOST_DEVICE void
mgpu_note_distances(mgpu_split_search &search, uint32_t num_before, const mgpu_probe_distances &distances)
{
	bool		no_below = num_before == 0 && !(search.below < 0);
	bool		no_above = num_before == lanes && !(search.above > 0);

	if (num_before > 0)
		search.below = distances.before;
	if (num_before < lanes)
		search.above = distances.behind;
	if (no_below || no_above)
	{
		uint32_t	first = mgpu_search_probe(search, 0);
		uint32_t	last = mgpu_search_probe(search, lanes - 1);
		float		slope = mgpu_guess_quotient(distances.last - distances.first, (float) (last - first));

		if (slope > 0 && no_below)
			search.below = fminf(distances.first - slope * (float) (first - search.low + 1), -slope);
		if (slope > 0 && no_above)
			search.above = fmaxf(distances.last + slope * (float) (search.high - last), slope);
	}
}

/* Probe in proportion to the distances, where that is nearer than the even probes that are planned. */
template <int lanes>
MGPU_HOST_DEVICE void
mgpu_probe_by_distances(mgpu_split_search &search)
{
	float		items = (float) (search.high - search.low) + 1;
	float		share = mgpu_guess_quotient(search.below, search.below - search.above);
	float		place = share * items;	/* of the split, from low - 1 on */
	uint32_t	stride;

	if (search.guesses_left == 0 || !(search.below < 0 && search.above > 0 && share <= 1))
		return;
	stride = mgpu_near_stride<lanes>(fmaxf(fminf(place, items - place), 1), search.roots);
	if (stride >= search.stride)
		return;
	mgpu_probe_around<lanes>(search, (uint32_t) place, stride);
	search.guesses = true;
}

/* Shrink the range by a round, and see where the distances lead. */
template <int lanes>
MGPU_HOST_DEVICE void
mgpu_narrow_by_distances(mgpu_split_search &search, uint32_t num_before, const mgpu_probe_distances &distances)
{
	uint32_t	even_stride = mgpu_group_stride<lanes>(search.low, search.high);
	bool		guessed = search.guesses;

	mgpu_note_distances<lanes>(search, num_before, distances);
	mgpu_narrow_evenly<lanes>(search, num_before);
	if (guessed && search.high - search.low >= even_stride)
	{
		search.guesses_left--;
		search.roots *= MGPU_OPS_GUESS_GROWTH;
	}
	mgpu_probe_by_distances<lanes>(search);
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

/* What this lane's group read, of whose probes so many lie before the boundary. */
template <int lanes>
static __device__ __forceinline__ mgpu_probe_distances
mgpu_share_distances(float distance, uint32_t num_before)
{
	mgpu_probe_distances distances;

	distances.first = __shfl_sync(0xFFFFFFFFu, distance, 0, lanes);
	distances.last = __shfl_sync(0xFFFFFFFFu, distance, lanes - 1, lanes);
	distances.before = __shfl_sync(0xFFFFFFFFu, distance, (num_before + lanes - 1) % lanes, lanes);
	distances.behind = __shfl_sync(0xFFFFFFFFu, distance, num_before % lanes, lanes);
	return distances;
}

/*
 * The splits of a boundary a group, all of a warp's together: first where they are
 * expected, in `roots` of the range around it, then by distances if so asked, which
 * takes registers.
 */
template <int lanes, bool by_distances, class Search>
static __device__ __forceinline__ uint32_t
mgpu_find_splits_near(const Search &search, uint64_t tile, mgpu_boundary_range range, float roots)
{
	mgpu_split_search state = mgpu_start_search<lanes>(range, roots);

	while (__any_sync(0xFFFFFFFFu, state.low < state.high))
	{
		bool		searches = state.low < state.high;
		uint32_t	probe = mgpu_search_probe(state, threadIdx.x % lanes);
		bool		before = searches && search.before(tile, probe);
		float		distance = by_distances && searches ? search.distance(tile, probe) : 0;
		uint32_t	num_before = mgpu_count_in_group<lanes>(before);

		if constexpr (by_distances)
		{
			mgpu_probe_distances distances = mgpu_share_distances<lanes>(distance, num_before);

			if (searches)
				mgpu_narrow_by_distances<lanes>(state, num_before, distances);
		}
		else if (searches)
			mgpu_narrow_evenly<lanes>(state, num_before);
	}
	return state.low;
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_OPS_SEARCH_CUH */
