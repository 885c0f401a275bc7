/*
 * sort/k_way_merge.cuh
 *		The merge of up to 32 runs: up to five levels for one trip through memory.
 *
 * A CTA loads its intervals of all runs and merges neighbours, level by level, in shared memory.
 * Lists have any lengths.  Threads share a level's pairs in order, each pair's output rounded up
 * to whole threads, and a list of the next level lies where its threads put it, with a gap for
 * guards between lists:
 *
 *	 level 0	[ run 0 ] [ run 1 ]	[ run 2 ] [ run 3 ]		at the phase of their places in memory
 *	 threads	 t0    t1     t2 	 t3     t4
 *	 level 1	[ list 0             ] gap [ list 1    ] gap
 *
 * A level's pairs and their first threads follow from the runs' lengths, so warps make the tables
 * of all levels at once while the runs load.  The limit is shared memory bandwidth, mostly for
 * bank conflicts between merging lanes.  Rejected: conflict-free reads into a bitonic network over
 * registers, which takes as many operations as it saves words.
 */
#ifndef MGPU_SORT_K_WAY_MERGE_CUH
#define MGPU_SORT_K_WAY_MERGE_CUH

#include "device/array.cuh"
#include "sort/cta_sort.cuh"
#include "sort/guarded_merge.cuh"
#include "sort/k_way_partition.cuh"

/* ----------------------------------------------------------------- tables */

/*
 * Slots between two lists of a level: enough for the first one's guard, and whole rows of banks, so
 * that threads on both sides of a gap do not conflict.
 */
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_k_way_gap(uint32_t items)
{
	return (items + 31) / 32 * 32;
}

/* Slots of a tile: for the runs, each at any phase and with a guard behind it, or for a level's output. */
template <class Array>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_k_way_slots(uint32_t threads, uint32_t items, uint32_t runs)
{
	uint32_t	of_runs = threads * items + runs * (items + 2 * Array::vector_items) + 2 * Array::vector_items;
	uint32_t	of_lists = threads * items + runs / 2 * mgpu_k_way_gap(items);

	return of_runs > of_lists ? of_runs : of_lists;
}

/* Two lists that a level merges. */
struct __align__(8) mgpu_k_way_pair
{
	uint16_t	a_slot;
	uint16_t	b_slot;
	uint16_t	a_items;
	uint16_t	b_items;
};

/* What threads know of a tile's lists: of each level, the pairs and the threads before each. */
struct mgpu_k_way_table
{
	uint32_t	firsts[MGPU_K_WAY_RUNS];
	mgpu_k_way_pair pairs[MGPU_K_WAY_RUNS];
};

/* Where a level's pairs begin in a table. */
MGPU_HOST_DEVICE uint32_t
mgpu_k_way_level_begin(uint32_t runs, uint32_t level)
{
	return runs - (runs >> level);
}

/* The slot of a list that a level put out, by the threads and the lists before it. */
template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_k_way_list_slot(uint32_t first_thread, uint32_t list)
{
	return first_thread * items + list * mgpu_k_way_gap(items);
}

template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_k_way_list_threads(uint32_t list_items)
{
	return (list_items + items - 1) / items;
}

/* A thread's part of a level.  Empty if its diagonal is behind both lists. */
struct mgpu_k_way_share
{
	mgpu_k_way_pair lists;
	uint32_t	pair;
	uint32_t	diagonal;
	bool		any;
};

/* The thread's pair is the last one that begins no later: empty pairs before it begin there too. */
template <int items>
MGPU_HOST_DEVICE mgpu_k_way_share
mgpu_find_k_way_share(const mgpu_k_way_table &table, uint32_t runs, uint32_t level, uint32_t thread)
{
	mgpu_k_way_share share;
	uint32_t	begin = mgpu_k_way_level_begin(runs, level);
	uint32_t	first = 0;

	share.pair = 0;
	for (uint32_t step = runs >> level >> 2; step > 0; step /= 2)
	{
		uint32_t	probed = table.firsts[begin + share.pair + step];

		if (probed <= thread)
		{
			share.pair += step;
			first = probed;
		}
	}
	share.lists = table.pairs[begin + share.pair];
	share.diagonal = (thread - first) * items;
	share.any = share.diagonal < (uint32_t) share.lists.a_items + share.lists.b_items;
	return share;
}

/* Put guards behind all lists that a level is going to read, behind their whole threads. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_k_way_guards(const Tile &tile, const mgpu_k_way_table &table, uint32_t runs, uint32_t level, uint32_t thread,
					  uint32_t threads)
{
	uint32_t	begin = mgpu_k_way_level_begin(runs, level);

	for (uint32_t guard = thread; guard < (runs >> level) * items; guard += threads)
	{
		uint32_t	list = guard / items;
		mgpu_k_way_pair pair = table.pairs[begin + list / 2];
		uint32_t	slot = list % 2 == 0 ? pair.a_slot : pair.b_slot;
		uint32_t	list_items = list % 2 == 0 ? pair.a_items : pair.b_items;

		tile.put(slot + mgpu_k_way_list_threads<items>(list_items) * items + guard - list * items,
				 mgpu_largest_key<typename Tile::Item>());
	}
}

/* A tile's runs, a lane each.  Lanes without a run have 0 items. */
struct mgpu_k_way_runs
{
	uint64_t	begin;			/* in the array */
	uint32_t	items;
	uint32_t	slot;
	uint32_t	items_before;	/* of the runs before it */
	uint32_t	num_items;		/* of all */
};

/* Items of the lane's list at a level: of the runs that it was merged from. */
static __device__ __forceinline__ uint32_t
mgpu_k_way_list_items(const mgpu_k_way_runs &mine, uint32_t level, uint32_t lane)
{
	uint32_t	first_run = lane << level;
	uint32_t	end_run = (lane + 1) << level;
	uint32_t	first = __shfl_sync(MGPU_WHOLE_WARP, mine.items_before, first_run);
	uint32_t	end = __shfl_sync(MGPU_WHOLE_WARP, mine.items_before, end_run);

	return first_run < 32 ? (end_run < 32 ? end : mine.num_items) - first : 0;
}

/* A warp makes the table of a level. */
template <int items>
static __device__ __forceinline__ void
mgpu_plan_k_way_level(mgpu_k_way_table &table, const mgpu_k_way_runs &mine, uint32_t runs, uint32_t level, uint32_t lane)
{
	uint32_t	list_items = mgpu_k_way_list_items(mine, level, lane);
	uint32_t	list_first = mgpu_sum_before(mgpu_k_way_list_threads<items>(list_items), lane);
	uint32_t	pair_items = mgpu_k_way_list_items(mine, level + 1, lane);
	uint32_t	pair_first = mgpu_sum_before(mgpu_k_way_list_threads<items>(pair_items), lane);
	uint32_t	slot = level == 0 ? mine.slot : mgpu_k_way_list_slot<items>(list_first, lane);
	mgpu_k_way_pair pair;

	pair.a_slot = (uint16_t) __shfl_sync(MGPU_WHOLE_WARP, slot, 2 * lane);
	pair.b_slot = (uint16_t) __shfl_sync(MGPU_WHOLE_WARP, slot, 2 * lane + 1);
	pair.a_items = (uint16_t) __shfl_sync(MGPU_WHOLE_WARP, list_items, 2 * lane);
	pair.b_items = (uint16_t) __shfl_sync(MGPU_WHOLE_WARP, list_items, 2 * lane + 1);
	if (lane < runs >> (level + 1))
	{
		table.firsts[mgpu_k_way_level_begin(runs, level) + lane] = pair_first;
		table.pairs[mgpu_k_way_level_begin(runs, level) + lane] = pair;
	}
}

/* ----------------------------------------------------------------- merge */

/* A tile's part of the lane's run, and where the tile begins in the array. */
template <int items, class Array>
static __device__ __forceinline__ mgpu_k_way_runs
mgpu_find_k_way_runs(const Array &array, const mgpu_k_way_pass &pass, const uint32_t *splits, uint32_t lane, uint64_t *begin)
{
	uint32_t	runs = 1u << pass.levels;
	mgpu_k_way_group group = mgpu_find_k_way_group(pass, blockIdx.x);
	uint64_t	split = (uint64_t) blockIdx.x * runs + lane;
	bool		any = lane < runs;
	uint32_t	first = any && group.place > 0 ? splits[split] : 0;
	uint32_t	end = !any ? 0 : group.is_last ? mgpu_k_way_run_items(pass, group, lane) : splits[split + runs];
	mgpu_k_way_runs mine;
	uint32_t	phase;
	uint32_t	slots;

	mine.begin = group.begin + lane * pass.run_items + first;
	mine.items = end - first;
	phase = array.phase(mine.begin);
	slots = any ? (phase + mine.items + items + Array::vector_items - 1) / Array::vector_items * Array::vector_items : 0;
	mine.slot = mgpu_sum_before(slots, lane) + phase;
	mine.items_before = mgpu_sum_before(mine.items, lane);
	mine.num_items = mgpu_sum_lanes(mine.items, 32);
	*begin = group.begin + mgpu_sum_lanes(first, 32);
	return mine;
}

/* Load all runs, a warp some of them, with their guards. */
template <int items, class Array, class Tile>
static __device__ __forceinline__ void
mgpu_load_k_way_runs(const Array &array, const Tile &tile, const mgpu_k_way_runs &mine, uint32_t runs, uint32_t warp,
					 uint32_t warps, uint32_t lane)
{
	for (uint32_t run = warp; run < runs; run += warps)
	{
		uint64_t	begin = __shfl_sync(MGPU_WHOLE_WARP, mine.begin, run);
		uint32_t	slot = __shfl_sync(MGPU_WHOLE_WARP, mine.slot, run);
		uint32_t	num_items = __shfl_sync(MGPU_WHOLE_WARP, mine.items, run);

		array.template load_interval<32>(tile, slot, begin, num_items, lane);
		for (uint32_t guard = lane; guard < items; guard += 32)
			tile.put(slot + num_items + guard, mgpu_largest_key<typename Tile::Item>());
	}
}

/*
 * Load a tile whose items are all of one run to the slot from which it is stored: nothing to merge.
 * `from` is their place in the array.  Common where keys are in order.
 */
template <int threads, class Array>
static __device__ __forceinline__ void
mgpu_load_only_run(const Array &array, uint64_t from, const mgpu_tile<typename Array::Item> &tile, uint32_t slot,
				   uint32_t num_items, uint32_t thread)
{
	if (array.phase(from) == slot)
		array.template load_interval<threads>(tile, slot, from, num_items, thread);
	else
		array.template load_items<threads>(tile, slot, from, num_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* the tile is loaded */
}

template <class Tuning, class Array, class Sink>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::resident_threads / Tuning::threads)
mgpu_merge_k_way(Array array, mgpu_k_way_pass pass, const uint32_t *splits, Sink sink)
{
	typedef typename Array::Item Item;
	constexpr int threads = Tuning::threads;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t num_slots = mgpu_k_way_slots<Array>(threads, items, Tuning::ways);
	__shared__ mgpu_k_way_table table;
	mgpu_tile<Item> tile = mgpu_tile<Item>::lay_out(mgpu_shared, num_slots);
	uint32_t	thread = threadIdx.x;
	uint32_t	runs = 1u << pass.levels;
	uint32_t	num_items;
	uint32_t	only;			/* bit of the run that has all items, or 0 */
	uint64_t	begin;
	Item		merged[items];

	static_assert(num_slots <= UINT16_MAX, "tables have slots of 16 bits");
	mgpu_await_previous();
	{
		mgpu_k_way_runs mine = mgpu_find_k_way_runs<items>(array, pass, splits, thread % 32, &begin);

		num_items = mine.num_items;
		only = __ballot_sync(MGPU_WHOLE_WARP, thread % 32 < runs && mine.items == num_items);
		if (only != 0)
			mgpu_load_only_run<threads>(array, __shfl_sync(MGPU_WHOLE_WARP, mine.begin, __ffs((int) only) - 1), tile,
										sink.phase(begin), num_items, thread);
		else
		{
			mgpu_load_k_way_runs<items>(array, tile, mine, runs, thread / 32, threads / 32, thread % 32);
			for (uint32_t level = thread / 32; level < pass.levels; level += threads / 32)
				mgpu_plan_k_way_level<items>(table, mine, runs, level, thread % 32);
			mgpu_wait_copies();
			__syncthreads();		/* runs, guards and the tables are in place */
		}
	}
#pragma unroll 1
	for (uint32_t level = 0; level < pass.levels && only == 0; level++)
	{
		mgpu_k_way_share share = mgpu_find_k_way_share<items>(table, runs, level, thread);
		bool		ends = level + 1 == pass.levels;

		if (share.any)
			mgpu_merge_guarded_lists(merged, tile, share.lists.a_slot, share.lists.a_items, share.lists.b_slot,
									 share.lists.b_items, share.diagonal);
		__syncthreads();			/* lists are read */
		if (!ends)
			mgpu_put_k_way_guards<items>(tile, table, runs, level + 1, thread, threads);
		if (share.any)
			mgpu_put_forwards(merged, tile, ends ? sink.phase(begin) + thread * items :
							  mgpu_k_way_list_slot<items>(thread, share.pair));
		__syncthreads();			/* the next level's lists are whole, or the merged tile is */
	}
	sink.template store_tile<threads>(begin, tile, num_items, thread);
}

#endif							/* MGPU_SORT_K_WAY_MERGE_CUH */
