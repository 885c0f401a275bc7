/*
 * sort/k_way_pass.cuh
 *		Geometry of a merge pass over up to 32 runs.
 *
 * A k-way pass merges groups of 2^levels runs, so an item moves through memory once for up to five
 * levels of merging.  A group's output is cut near diagonals.  A cut is a split of its runs: how
 * many items of each lie before it.
 *
 *	 run 0	 [ - - - | - - - - - - - ]
 *	 run 1	 [ - - - - - - | - - - - ]		items left of the cut: the split
 *	 run 2	 [ - - | - - - - - - - - ]
 *
 * Equal keys are ordered by run, then position.  A cut may lie up to MGPU_K_WAY_SLACK items before
 * its diagonal, which saves the search (k_way_search.cuh) its last rounds; tiles hold as many
 * items more.  Cuts by samples alone were rejected: for tiles nine tenths full, a thirtieth of all
 * items must be sampled and sorted.
 */
#ifndef MGPU_SORT_K_WAY_PASS_CUH
#define MGPU_SORT_K_WAY_PASS_CUH

#include "device/arithmetic.cuh"
#include "sort/tuning.cuh"

#define MGPU_K_WAY_LEVELS 5		/* at most, of one pass */
#define MGPU_K_WAY_RUNS (1 << MGPU_K_WAY_LEVELS)	/* a lane each */

struct mgpu_k_way_pass
{
	uint64_t	num_items;
	uint64_t	run_items;		/* distance of runs */
	uint32_t	levels;			/* a group is 2^levels runs */
	uint32_t	tile_items;		/* distance of diagonals */
	uint32_t	group_tiles;	/* of a whole group */
	uint32_t	num_tiles;
};

/* How a sort continues after its block sort. */
struct mgpu_merge_plan
{
	mgpu_k_way_pass pass;		/* the next one */
	uint32_t	levels;			/* two-way levels still to do */
	int			num_passes;		/* passes they take */
	uint32_t	threads;		/* of a CTA */
	uint32_t	items;			/* of a thread */
};

/*
 * Items that a tile can hold whatever its lists are: at the first level, each pair's output may
 * waste all but one item of a thread.
 */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_k_way_capacity(uint32_t threads, uint32_t items, uint32_t levels)
{
	return threads * items - (1u << levels) / 2 * (items - 1);
}

/* Lay out the next pass.  Levels are spread evenly over passes, and tiles are as full as their slack allows. */
static inline void
mgpu_plan_k_way_pass(mgpu_merge_plan *plan)
{
	mgpu_k_way_pass *pass = &plan->pass;
	uint64_t	group_items;
	uint64_t	most_items;
	uint64_t	some_items;		/* of the first group */
	uint32_t	num_tiles;

	if (plan->num_passes == 0)
		return;
	pass->levels = mgpu_divide_up(plan->levels, plan->num_passes);
	most_items = mgpu_k_way_capacity(plan->threads, plan->items, pass->levels) - MGPU_K_WAY_SLACK;
	group_items = pass->run_items << pass->levels;
	some_items = group_items < pass->num_items ? group_items : pass->num_items;
	num_tiles = mgpu_divide_up(some_items, most_items);
	pass->tile_items = mgpu_divide_up(some_items, num_tiles);
	pass->group_tiles = mgpu_divide_up(group_items, pass->tile_items);
	pass->num_tiles = (uint32_t) (pass->num_items / group_items * pass->group_tiles +
								  mgpu_divide_up(pass->num_items % group_items, pass->tile_items));
}

template <class Tuning>
static mgpu_merge_plan
mgpu_plan_merges(uint64_t num_items)
{
	mgpu_merge_plan plan = {};
	uint32_t	most_levels = 0;

	static_assert(mgpu_k_way_capacity(Tuning::threads, Tuning::items_per_thread, 1) > 2 * MGPU_K_WAY_SLACK,
				  "a cut lies behind the one before it");
	while (2 << most_levels <= Tuning::ways)
		most_levels++;
	plan.threads = Tuning::threads;
	plan.items = Tuning::items_per_thread;
	plan.pass.num_items = num_items;
	plan.pass.run_items = Tuning::tile_items;
	while (plan.pass.run_items << plan.levels < num_items)
		plan.levels++;
	plan.num_passes = (int) mgpu_divide_up(plan.levels, most_levels);
	mgpu_plan_k_way_pass(&plan);
	return plan;
}

static inline void
mgpu_advance_plan(mgpu_merge_plan *plan)
{
	plan->pass.run_items <<= plan->pass.levels;
	plan->levels -= plan->pass.levels;
	plan->num_passes--;
	mgpu_plan_k_way_pass(plan);
}

/*
 * An upper bound of the bytes of any pass's splits.  Every tile is at least half full, except the
 * last of each group.
 */
template <class Tuning>
static uint64_t
mgpu_k_way_temp_bytes(uint64_t num_items)
{
	constexpr uint32_t capacity = Tuning::tile_items - Tuning::ways / 2 * Tuning::items_per_thread;
	uint64_t	num_tiles = 4 * (num_items / (capacity - MGPU_K_WAY_SLACK) + 1);

	return num_tiles * Tuning::ways * sizeof(uint32_t);
}

/* The runs that a tile belongs to, and its place among their tiles. */
struct mgpu_k_way_group
{
	uint64_t	begin;			/* of run 0 */
	uint32_t	num_items;		/* of all runs */
	uint32_t	place;			/* of the tile in the group */
	bool		is_last;		/* the group's last tile */
};

MGPU_HOST_DEVICE mgpu_k_way_group
mgpu_find_k_way_group(const mgpu_k_way_pass &pass, uint32_t tile)
{
	mgpu_k_way_group group;
	uint32_t	number = tile / pass.group_tiles;
	uint64_t	group_items = pass.run_items << pass.levels;
	uint64_t	left;

	group.begin = number * group_items;
	left = pass.num_items - group.begin;
	group.num_items = (uint32_t) (left < group_items ? left : group_items);
	group.place = tile - number * pass.group_tiles;
	group.is_last = group.place + 1 == pass.group_tiles || tile + 1 == pass.num_tiles;
	return group;
}

MGPU_HOST_DEVICE uint32_t
mgpu_k_way_run_items(const mgpu_k_way_pass &pass, const mgpu_k_way_group &group, uint32_t run)
{
	uint64_t	before = run * pass.run_items;
	uint64_t	left = group.num_items > before ? group.num_items - before : 0;

	return (uint32_t) (left < pass.run_items ? left : pass.run_items);
}

#endif							/* MGPU_SORT_K_WAY_PASS_CUH */
