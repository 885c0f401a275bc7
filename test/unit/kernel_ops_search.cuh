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

/* mgpu_find_split_near, lanes in turn. */
template <class Search>
static uint32_t
find_split(const Search &search, uint64_t tile)
{
	constexpr uint32_t lanes = MGPU_SPLIT_LANES;
	mgpu_split_search state = mgpu_start_search(search, tile);

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
		mgpu_narrow_by_distances(state, num_before, {distances[0], distances[lanes - 1],
			distances[(num_before + lanes - 1) % lanes], distances[num_before % lanes]});
		search_rounds++;
	}
	return state.low;
}

static inline uint64_t
positions_before(const std::vector<uint32_t> &positions, uint64_t item)
{
	return (uint64_t) (std::lower_bound(positions.begin(), positions.end(), item) - positions.begin());
}

#endif							/* MGPU_KERNEL_OPS_SEARCH_CUH */
