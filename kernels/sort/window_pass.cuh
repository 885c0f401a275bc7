/*
 * sort/window_pass.cuh
 *		Geometry of a window pass: the last pass over runs of keys that are near their
 *		places.
 *
 * If no key is further from its place than a run is long, run i - 1 ends before run i + 1 begins,
 * in the order of keys.  Then the places of run i hold a tail of run i - 1, a middle of run i and
 * a head of run i + 1, and tail and head together are in order:
 *
 *	 runs		[      i - 1   |tail][head| i, middle  |tail][head|   i + 1      ]
 *	 places of run i			 [ middle  merged with tail, head ]
 *
 * So one pass of 2-way merges ends the sort, however many runs there are: it merges run i with the
 * list of run i - 1 followed by run i + 1.  Items are ordered by key, then run. splits[t] is the
 * number of items of tile t's own run before the tile's first place.  A tile that ends where its
 * run does takes its end from the next run's first tile.
 *
 * All of this runs on the host too. merge_pass.cuh has the same for pairs of runs.
 */
#ifndef MGPU_SORT_WINDOW_PASS_CUH
#define MGPU_SORT_WINDOW_PASS_CUH

#include "sort/merge_pass.cuh"

/* A tile's own run and its neighbours. */
struct mgpu_run_window
{
	uint64_t	run_begin;
	uint64_t	run_items;
	uint64_t	left_begin;
	uint64_t	left_items;		/* of the run before it: 0 or a whole run */
	uint64_t	right_items;	/* of the run behind it */
	uint64_t	diagonal;		/* items of all three before the tile's first place */
};

/* A tile's inputs: of its own run, and of the two others. */
struct mgpu_window_inputs
{
	uint64_t	run_begin;
	uint64_t	left_begin;
	uint64_t	right_begin;
	uint32_t	run_items;
	uint32_t	left_items;
	uint32_t	right_items;
};

MGPU_HOST_DEVICE mgpu_run_window
mgpu_find_run_window(const mgpu_merge_pass &pass, uint64_t tile)
{
	mgpu_run_window window;
	uint64_t	first_tile = tile & ~(pass.run_tiles - 1);
	uint64_t	most_items = pass.run_tiles * pass.tile_items;
	uint64_t	left;

	window.run_begin = first_tile * pass.tile_items;
	window.left_items = first_tile > 0 ? most_items : 0;
	window.left_begin = window.run_begin - window.left_items;
	left = pass.num_items - window.run_begin;
	window.run_items = left < most_items ? left : most_items;
	left -= window.run_items;
	window.right_items = left < most_items ? left : most_items;
	window.diagonal = window.left_items + (tile - first_tile) * pass.tile_items;
	return window;
}

MGPU_HOST_DEVICE void
mgpu_window_split_range(const mgpu_run_window &window, uint64_t &low, uint64_t &high)
{
	uint64_t	others = window.left_items + window.right_items;

	low = window.diagonal > others ? window.diagonal - others : 0;
	high = window.diagonal < window.run_items ? window.diagonal : window.run_items;
}

/* Does the run's item at this place come before the diagonal's item of the others? */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_window_split_test(const Key *keys, const mgpu_run_window &window, uint64_t item)
{
	uint64_t	other = window.diagonal - 1 - item;
	Key			key = keys[window.run_begin + item];

	if (other < window.left_items)
		return key < keys[window.left_begin + other];
	return !(keys[window.run_begin + window.run_items + (other - window.left_items)] < key);
}

/*
 * Would a window pass be wrong here? The tile that begins run i + 1 checks run i, which must end
 * before both i + 2 and i + 3 begin.  All later runs follow, from i to i + 2 to i + 4 and i + 5.
 * Run i + 2 alone would not be enough: of runs all 3, all 1, all 3, all 2 the last belongs to the
 * second's places.
 */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_window_fails(const Key *keys, const mgpu_run_window &window, uint64_t tile, const mgpu_merge_pass &pass)
{
	uint64_t	second = window.run_begin + window.run_items;
	uint64_t	third = second + pass.run_tiles * pass.tile_items;

	if (tile % pass.run_tiles != 0 || window.left_items == 0)
		return false;
	return (second < pass.num_items && keys[second] < keys[window.run_begin - 1]) ||
		(third < pass.num_items && keys[third] < keys[window.run_begin - 1]);
}

/* The same if each tile is a run.  The tile checks both runs before the one before it. */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_window_fails_before(const Key *keys, const mgpu_merge_pass &pass, uint64_t tile)
{
	const Key  *begin = keys + tile * pass.tile_items;

	return (tile >= 2 && *begin < *(begin - pass.tile_items - 1)) ||
		(tile >= 3 && *begin < *(begin - 2 * (uint64_t) pass.tile_items - 1));
}

/* next_split: splits[tile + 1], if there is such a tile. */
MGPU_HOST_DEVICE mgpu_window_inputs
mgpu_find_window_inputs(const mgpu_merge_pass &pass, const mgpu_run_window &window, uint64_t tile, uint64_t split,
						uint64_t next_split)
{
	mgpu_window_inputs inputs;
	uint64_t	others = window.diagonal - split;	/* left, then right */
	uint64_t	end_split = window.run_items;
	uint64_t	end_others = window.left_items + window.right_items;
	uint64_t	left = others < window.left_items ? others : window.left_items;
	uint64_t	end_left;

	if (tile + 1 < pass.num_tiles)
	{
		bool		ends_run = (tile + 1) % pass.run_tiles == 0;

		end_split = ends_run ? window.run_items - next_split : next_split;
		end_others = ends_run ? window.left_items + next_split : window.diagonal + pass.tile_items - next_split;
	}
	end_left = end_others < window.left_items ? end_others : window.left_items;
	inputs.run_begin = window.run_begin + split;
	inputs.run_items = (uint32_t) (end_split - split);
	inputs.left_begin = window.left_begin + left;
	inputs.left_items = (uint32_t) (end_left - left);
	inputs.right_begin = window.run_begin + window.run_items + (others - left);
	inputs.right_items = (uint32_t) ((end_others - end_left) - (others - left));
	return inputs;
}

#endif							/* MGPU_SORT_WINDOW_PASS_CUH */
