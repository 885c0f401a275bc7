/*
 * segmented/aligned.cuh
 *		Geometry of the aligned segmented sort: tiles begin where segments do.
 *
 * A segment of up to tile_items is sorted by a group of a CTA's threads.  A longer one is cut into
 * chunks of tile_items and a rest, which are then merged in pairs:
 *
 *	 segments	|---|--|------------------------------|-|-------|
 *	 sorts		 [ ][  ][  chunk    ][  chunk   ][rest][][      ]
 *
 * So short segments take no pass, and k chunks take ceil(log2 k).  Groups have a power of two of
 * threads.  Each size is a class; a CTA sorts chunks of one class, longest first, so its groups
 * wait for each other equally long.  A segment of k passes starts on the side from which they lead to
 * side 0.  Keys and indices are two arrays on both sides, packed in shared memory.
 *
 * Rejected: chunks of equal length, which leave threads of every group idle; CTAs of 1,024 threads
 * for one pass less.  All of this runs on the host too, where a test emulates a CTA.
 */
#ifndef MGPU_SEGMENTED_ALIGNED_CUH
#define MGPU_SEGMENTED_ALIGNED_CUH

#include "segmented/tuning.cuh"
#include "sort/cta_sort.cuh"

#define MGPU_ALIGNED_MAX_PASSES 24

/* What a group sorts: a segment, or a part of a long one. */
struct __align__(8) mgpu_aligned_chunk
{
	uint32_t	begin;
	uint32_t	items_flags;	/* items times 8, and flags */

	MGPU_MEMBER uint32_t
	num_items() const
	{
		return items_flags >> 3;
	}

	MGPU_MEMBER uint32_t
	side() const
	{
		return items_flags & 1;
	}

	MGPU_MEMBER bool
	is_part() const
	{
		return (items_flags & 2) != 0;
	}

	/* Is this a part of a segment that goes on behind it? */
	MGPU_MEMBER bool
	goes_on() const
	{
		return (items_flags & 4) != 0;
	}
};

MGPU_HOST_DEVICE mgpu_aligned_chunk
mgpu_make_chunk(uint32_t begin, uint32_t num_items, uint32_t passes, bool goes_on)
{
	return {begin, num_items << 3 | (uint32_t) goes_on << 2 | (uint32_t) (passes > 0) << 1 | (passes & 1)};
}

/* A tile of a long segment's passes. */
struct __align__(16) mgpu_aligned_tile
{
	uint32_t	begin;			/* of the segment */
	uint32_t	end;
	uint32_t	tile;			/* in the segment */
	uint32_t	unused;
};

/* Groups of class c have 2, 4, 8 ... threads. */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_group_threads(uint32_t group_class)
{
	return 2u << group_class;
}

/* The longest segment of a class.  Its tile must not reach the next group's (mgpu_group_slot). */
template <class Tuning>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_group_most_items(uint32_t group_class)
{
	uint32_t	items = mgpu_group_threads(group_class) * Tuning::items_per_thread;

	return group_class + 1 < Tuning::num_classes ? items - 2 * Tuning::most_phase : items;
}

/* The class of a segment of 1 to tile_items items. */
template <class Tuning>
MGPU_HOST_DEVICE uint32_t
mgpu_find_group_class(uint32_t num_items)
{
	uint32_t	group_class = 0;

#pragma unroll
	for (uint32_t i = 0; i + 1 < Tuning::num_classes; i++)
		group_class += num_items > mgpu_group_most_items<Tuning>(i);
	return group_class;
}

/*
 * The most entries that a class can have among num_items items, in segments of
 * MGPU_ALIGNED_MIN_MEAN or more on average.
 */
template <class Tuning>
MGPU_HOST_DEVICE uint64_t
mgpu_most_of_class(uint64_t num_items, uint32_t group_class)
{
	uint64_t	least = group_class > 0 ? mgpu_group_most_items<Tuning>(group_class - 1) + 1 : 1;

	return num_items / (least > MGPU_ALIGNED_MIN_MEAN ? least : MGPU_ALIGNED_MIN_MEAN) + 1;
}

template <class Tuning>
MGPU_HOST_DEVICE uint32_t
mgpu_count_aligned_passes(uint32_t num_items)
{
	uint32_t	passes = 0;

	while ((uint64_t) Tuning::tile_items << passes < num_items)
		passes++;
	return passes;
}

/* The most tiles that segments of one number of passes, 1 or more, can have. */
template <class Tuning>
MGPU_HOST_DEVICE uint64_t
mgpu_most_aligned_tiles(uint64_t num_items)
{
	return 2 * (num_items / Tuning::tile_items) + 1;
}

/* ------------------------------------------------------------------- groups */

/* Threads of a group that have items: whole warps if the group has more than one. */
template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_count_live_threads(uint32_t num_items, uint32_t group_threads)
{
	uint32_t	threads = (num_items + items - 1) / items;

	return group_threads <= 32 ? group_threads : (threads + 31) / 32 * 32;
}

/* Does a thread merge at this level? It counts in the CTA; live_end is behind its group's last live thread. */
MGPU_HOST_DEVICE bool
mgpu_group_merges(uint32_t thread, uint32_t live_end, uint32_t run_threads)
{
	return thread < live_end && (thread & ~(2 * run_threads - 1)) + run_threads < live_end;
}

/* As mgpu_store_facing, in a group whose last run may be short. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_group_facing(const Key (&keys)[items], Key *tile, uint32_t thread, uint32_t live_end, uint32_t run_threads)
{
	uint32_t	run_first = thread & ~(run_threads - 1);
	uint32_t	run_end = run_first + run_threads < live_end ? run_first + run_threads : live_end;
	bool		is_odd = (thread & run_threads) != 0;
	uint32_t	slot = is_odd ? (run_first + run_end - thread) * items - 1 : thread * items;
	uint32_t	step = is_odd ? 0u - 1 : 1;

#pragma unroll
	for (int i = 0; i < items; i++)
		tile[slot + i * step] = keys[i];
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_group_facing(Key (&keys)[items], const Key *tile, uint32_t thread, uint32_t live_end, uint32_t run_threads)
{
	uint32_t	pair_first = thread & ~(2 * run_threads - 1);
	uint32_t	pair_end = pair_first + 2 * run_threads < live_end ? pair_first + 2 * run_threads : live_end;
	uint32_t	run_items = run_threads * items;

	mgpu_merge_facing(keys, tile, pair_first * items, run_items, (pair_end - pair_first) * items - run_items,
					  (thread - pair_first) * items);
}

/*
 * Where a group's sorted items go: at the phase of their place, in the group's own slots except for
 * the rounding to a vector.
 */
template <class Tuning>
MGPU_HOST_DEVICE uint32_t
mgpu_group_slot(uint32_t first_thread, uint32_t phase)
{
	constexpr uint32_t vector_items = Tuning::most_phase + 1;
	uint32_t	slot = first_thread * Tuning::items_per_thread;

	return (slot + vector_items - 1) / vector_items * vector_items + phase;
}

/* Put a thread's items, without pads, into its group's tile. group_thread counts in the group. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_group_items(const Key (&keys)[items], Key *group_tile, uint32_t group_thread, uint32_t num_items)
{
	uint32_t	begin = group_thread * items;
	int			count = num_items > begin ? (int) (num_items - begin) : 0;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		if (i < count)
			group_tile[begin + i] = keys[i];
	}
}

/* ------------------------------------------------------------------- passes */

/* What a tile of a pass merges, from the start of the array.  Diagonals count in the pair of lists. */
struct mgpu_aligned_inputs
{
	uint32_t	a_begin;
	uint32_t	a_items;		/* of the whole list */
	uint32_t	b_begin;
	uint32_t	b_items;		/* may be 0: the tile is copied */
	uint32_t	diagonals[2];	/* where the tile begins and ends */
};

template <class Tuning>
MGPU_HOST_DEVICE mgpu_aligned_inputs
mgpu_find_aligned_inputs(const mgpu_aligned_tile &work, uint32_t pass)
{
	uint32_t	run_tiles = 1u << pass;
	uint32_t	pair_tile = work.tile & ~(2 * run_tiles - 1);
	uint64_t	run_items = (uint64_t) Tuning::tile_items << pass;
	uint32_t	pair_begin = work.begin + pair_tile * Tuning::tile_items;
	uint32_t	left = work.end - pair_begin;
	uint32_t	pair_items = left < 2 * run_items ? left : (uint32_t) (2 * run_items);
	mgpu_aligned_inputs inputs;

	inputs.a_begin = pair_begin;
	inputs.a_items = pair_items < run_items ? pair_items : (uint32_t) run_items;
	inputs.b_begin = pair_begin + inputs.a_items;
	inputs.b_items = pair_items - inputs.a_items;
	inputs.diagonals[0] = (work.tile - pair_tile) * Tuning::tile_items;
	left = pair_items - inputs.diagonals[0];
	inputs.diagonals[1] = inputs.diagonals[0] + (left < Tuning::tile_items ? left : Tuning::tile_items);
	return inputs;
}

/* Where b's items begin in shared memory, behind a's and their guard. */
template <class Tuning>
MGPU_HOST_DEVICE uint32_t
mgpu_second_slot(uint32_t a_end, uint32_t phase)
{
	constexpr uint32_t vector_items = Tuning::most_phase + 1;

	return (a_end + Tuning::items_per_thread + vector_items - 1) / vector_items * vector_items + phase;
}

/* A Search of split_search.cuh: how many of a's items come before diagonal 0 or 1. */
template <typename Stored>
struct mgpu_aligned_search
{
	const Stored *keys;			/* indices only grow from list a to list b */
	mgpu_aligned_inputs inputs;

	MGPU_MEMBER void
	range(uint64_t which, uint64_t &low, uint64_t &high) const
	{
		uint32_t	diagonal = inputs.diagonals[which];

		low = diagonal > inputs.b_items ? diagonal - inputs.b_items : 0;
		high = diagonal < inputs.a_items ? diagonal : inputs.a_items;
	}

	MGPU_MEMBER bool
	before(uint64_t which, uint64_t a) const
	{
		return !(keys[inputs.b_begin + (inputs.diagonals[which] - 1 - (uint32_t) a)] < keys[inputs.a_begin + (uint32_t) a]);
	}
};

#endif							/* MGPU_SEGMENTED_ALIGNED_CUH */
