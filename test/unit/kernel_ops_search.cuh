/*
 * kernel_ops_search.cuh
 *		Searches for tiles' boundaries, played on the host for kernel_ops_test.
 */
#ifndef MGPU_KERNEL_OPS_SEARCH_CUH
#define MGPU_KERNEL_OPS_SEARCH_CUH

#include "kernel_ops_test.cuh"

#include "merge/bulk_tile.cuh"
#include "merge/merge_tile.cuh"

extern uint64_t search_rounds;	/* of probes, in all searches */

extern void check_searches();

/* mgpu_find_splits_near, lanes in turn. */
template <int lanes, bool by_distances, class Search>
static uint64_t
find_near(const Search &search, uint64_t tile, mgpu_boundary_range range, float roots)
{
	mgpu_split_search state = mgpu_start_search<lanes>(range, roots);

	while (state.low < state.high)
	{
		uint32_t	num_before = 0;
		float		distances[lanes];

		for (uint32_t lane = 0; lane < lanes; lane++)
		{
			uint64_t	probe = mgpu_search_probe(state, lane);

			num_before += search.before(tile, probe);
			distances[lane] = search.distance(tile, probe);
		}
		/* mgpu_share_distances */
		if (by_distances)
			mgpu_narrow_by_distances<lanes>(state, num_before, {distances[0], distances[lanes - 1],
				distances[(num_before + lanes - 1) % lanes], distances[num_before % lanes]});
		else
			mgpu_narrow_evenly<lanes>(state, num_before);
		search_rounds++;
	}
	return state.low;
}

/* As the tiles do it, with as many probes as they have, or else as a launch does. */
template <int lanes, class Search>
static uint64_t
find_split(const Search &search, uint64_t tile)
{
	constexpr bool in_tile = lanes == MGPU_OPS_TILE_PROBES;

	return find_near<lanes, !in_tile>(search, tile, mgpu_boundary_of(search, tile),
									  in_tile ? MGPU_OPS_TILE_ROOTS : MGPU_OPS_LAUNCH_ROOTS);
}

template <class Search>
static uint32_t
find_either(const Search &search, uint64_t tile, bool in_tile)
{
	return (uint32_t) (in_tile ? find_split<MGPU_OPS_TILE_PROBES>(search, tile) :
					   find_split<MGPU_OPS_MANY_PROBES>(search, tile));
}

static inline uint64_t
positions_before(const std::vector<uint32_t> &positions, uint64_t item)
{
	return (uint64_t) (std::lower_bound(positions.begin(), positions.end(), item) - positions.begin());
}

#endif							/* MGPU_KERNEL_OPS_SEARCH_CUH */
