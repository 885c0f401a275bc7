/*
 * segmented/aligned_chunks.cuh
 *		The aligned segmented sort: sorting its chunks.
 *
 * A CTA takes as many chunks of a class as it has groups, the longest first, so that what remains
 * last is short.  For groups of a warp or less each warp takes its own chunks, so that one loads
 * while others sort.  Keys are codes, or codes packed with the index in the low 32 bits, which
 * makes all keys different and every merge stable.
 *
 * Rejected: groups of 3, 5, 6 and 10 lanes for fewer idle slots; small groups' chunks loaded by
 * all lanes of a warp (NOTES.md).
 */
#ifndef MGPU_SEGMENTED_ALIGNED_CHUNKS_CUH
#define MGPU_SEGMENTED_ALIGNED_CHUNKS_CUH

#include "segmented/aligned.cuh"
#include "segmented/kernels.cuh"

/* At the start of temporary memory.  Zero before the first launch. */
struct mgpu_aligned_header
{
	uint32_t	num_chunks[MGPU_ALIGNED_MAX_CLASSES];
	uint32_t	num_tiles[MGPU_ALIGNED_MAX_PASSES + 1];	/* of segments by their passes */
	uint32_t	next_units[2];	/* for CTAs, after the first of each, and for warps */
	uint32_t	needs_passes;	/* a part of a long segment was not in order */
};

/* Lists of chunks by class, and of tiles by passes. */
template <class Tuning>
struct mgpu_aligned_lists
{
	mgpu_aligned_header *header;
	mgpu_aligned_chunk *chunks[Tuning::num_classes];
	mgpu_aligned_tile *tiles;	/* most_tiles of one pass, then of two ... */
	uint32_t	most_tiles;
};

/* One side: keys, and their indices. */
template <typename Stored, typename Key>
struct mgpu_aligned_side
{
	static constexpr bool packs = sizeof(Stored) != sizeof(Key);

	Stored	   *keys;
	uint32_t   *indices;		/* where the items are packed */

	/* An item of the input with this key. */
	static __device__ __forceinline__ Key
	pack(Stored key, uint32_t item)
	{
		if constexpr (packs)
			return (Key) key << 32 | item;
		else
			return key;
	}

	__device__ __forceinline__ Key
	load_first(uint32_t item) const
	{
		return pack(keys[item], item);
	}

	__device__ __forceinline__ void
	put(uint32_t item, Key key) const
	{
		if constexpr (packs)
		{
			keys[item] = (Stored) (key >> 32);
			indices[item] = (uint32_t) key;
		}
		else
			keys[item] = key;
	}

	__device__ __forceinline__ uint32_t
	phase(uint32_t item) const
	{
		if constexpr (packs)
			return item % 2;	/* so that four items of both arrays are two vectors of a tile */
		else
			return mgpu_phase(keys + item);
	}

	/* Copy four items whose place is a vector of both arrays, and of a tile at the same phase. */
	__device__ __forceinline__ void
	put_vector(uint32_t item, const Key *packed) const
	{
		ulonglong2	first = *reinterpret_cast<const ulonglong2 *>(packed);
		ulonglong2	second = *reinterpret_cast<const ulonglong2 *>(packed + 2);

		*reinterpret_cast<uint4 *>(keys + item) = make_uint4((uint32_t) (first.x >> 32), (uint32_t) (first.y >> 32),
															 (uint32_t) (second.x >> 32), (uint32_t) (second.y >> 32));
		*reinterpret_cast<uint4 *>(indices + item) = make_uint4((uint32_t) first.x, (uint32_t) first.y, (uint32_t) second.x,
																(uint32_t) second.y);
	}

	/* Start to load an interval to a place of its phase.  Complete after mgpu_wait_copies and a barrier. */
	template <int threads>
	__device__ __forceinline__ void
	load_interval(Key *tile, uint32_t begin, uint32_t num_items, uint32_t thread) const
	{
		if constexpr (packs)
		{
#pragma unroll 8
			for (uint32_t item = thread; item < num_items; item += threads)
				tile[item] = (Key) keys[begin + item] << 32 | indices[begin + item];
		}
		else
			mgpu_load_interval<threads>(tile, keys + begin, num_items, thread);
	}

	/* Write out an interval that lies at its phase, by this number of threads. */
	__device__ __forceinline__ void
	store_interval(const Key *tile, uint32_t begin, uint32_t num_items, uint32_t thread, uint32_t threads) const
	{
		if constexpr (packs)
		{
			mgpu_interval_parts parts = mgpu_split_interval(keys + begin, num_items);

			for (uint32_t item = thread; item < parts.head_items; item += threads)
				put(begin + item, tile[item]);
			for (uint32_t item = num_items - parts.tail_items + thread; item < num_items; item += threads)
				put(begin + item, tile[item]);
			for (uint32_t vector = thread; vector < parts.num_vectors; vector += threads)
				put_vector(begin + parts.head_items + 4 * vector, tile + parts.head_items + 4 * vector);
		}
		else
			mgpu_store_interval_by(keys + begin, tile, num_items, thread, threads);
	}
};

/* -------------------------------------------------------------------- units */

/* As many chunks of a class as a CTA, or a warp, has groups. */
struct mgpu_aligned_unit
{
	uint32_t	group_class;	/* MGPU_NO_CLASS: there is no such unit */
	uint32_t	first;
};

/* What a CTA knows of its work, in shared memory, since registers hold items. */
template <class Tuning>
struct mgpu_aligned_work
{
	uint32_t	num_chunks[Tuning::num_classes];	/* of all CTAs */
	uint32_t	next_units[2];	/* this one and the next, in turn */
	mgpu_aligned_chunk chunks[Tuning::threads];		/* each thread's copy of its group's chunk */
};

/* Unit `unit` of the classes from `first` up to `end`, the longest first. */
static __device__ __forceinline__ mgpu_aligned_unit
mgpu_find_unit(const uint32_t *num_chunks, uint32_t first, uint32_t end, uint32_t threads, uint32_t unit)
{
	for (uint32_t group_class = end; group_class-- > first;)
	{
		uint32_t	groups = threads / mgpu_group_threads(group_class);
		uint32_t	num_units = (num_chunks[group_class] + groups - 1) / groups;

		if (unit < num_units)
			return {group_class, unit * groups};
		unit -= num_units;
	}
	return {MGPU_NO_CLASS, 0};
}

/* The chunk of a group, of which there may be none. */
template <class Tuning>
static __device__ __forceinline__ mgpu_aligned_chunk
mgpu_find_chunk(const mgpu_aligned_lists<Tuning> &lists, const uint32_t *num_chunks, const mgpu_aligned_unit &unit,
				uint32_t group)
{
	uint32_t	place = unit.first + group;

	if (place < num_chunks[unit.group_class])
		return lists.chunks[unit.group_class][place];
	return {0, 0};
}

/* --------------------------------------------------------------------- sort */

template <bool in_warp>
static __device__ __forceinline__ bool
mgpu_holds_for_any(bool holds)
{
	if constexpr (in_warp)
		return __any_sync(MGPU_WHOLE_WARP, holds);
	else
		return __syncthreads_or(holds);
}

/*
 * Does an item of this thread follow a larger one? Items are every live-th one from the thread on.
 * They are read again, since registers hold them all already.
 */
template <typename Stored, typename Key>
static __device__ __forceinline__ bool
mgpu_group_descends(const mgpu_aligned_side<Stored, Key> &source, const mgpu_aligned_chunk &chunk, uint32_t group_thread,
					uint32_t live)
{
	uint32_t	num_followed = chunk.num_items() > 0 ? chunk.num_items() - (chunk.goes_on() ? 0 : 1) : 0;
	bool		descends = false;

	if (group_thread >= live)
		return false;
#pragma unroll 4
	for (uint32_t item = group_thread; item < num_followed; item += live)
		descends |= source.keys[chunk.begin + item + 1] < source.keys[chunk.begin + item];
	return descends;
}

/*
 * Items in order are written as they were read; keys alone that stay are not written.  Parts of a
 * segment whose passes lead from side 1 are stored on side 0 too, in case all parts are in order.
 */
template <typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_put_in_order(const mgpu_aligned_side<Stored, Key> *sides, const mgpu_aligned_chunk &chunk, uint32_t group_thread,
				  uint32_t live)
{
	uint32_t	num_items = group_thread < live ? chunk.num_items() : 0;

	if (!sides[0].packs && chunk.side() == 0)
		return;
#pragma unroll 4
	for (uint32_t item = group_thread; item < num_items; item += live)
	{
		Key			key = sides[0].load_first(chunk.begin + item);

		if (sides[0].packs)
			sides[0].put(chunk.begin + item, key);
		if (chunk.side() == 1)
			sides[1].put(chunk.begin + item, key);
	}
}

/*
 * Load a group's chunk, and sort each thread's items.  False in all threads of the warp or CTA, and
 * nothing left to do, if the chunks of all groups are in order.  Otherwise ends behind a barrier,
 * so that shared memory may be used.
 *
 * The item behind a chunk may have been moved by another group already; then that group's chunk was
 * not in order, and that group reports it.
 */
template <class Tuning, bool in_warp, typename Stored, typename Key>
static __device__ __forceinline__ bool
mgpu_begin_chunks(Key (&keys)[Tuning::items_per_thread], const mgpu_aligned_side<Stored, Key> *sides,
				  const mgpu_aligned_chunk &chunk, uint32_t group_threads, uint32_t *needs_passes)
{
	constexpr int items = Tuning::items_per_thread;
	uint32_t	group_thread = threadIdx.x & (group_threads - 1);
	uint32_t	live = mgpu_count_live_threads<items>(chunk.num_items(), group_threads);
	Key			next;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	item = group_thread + i * live;

		keys[i] = group_thread < live && item < chunk.num_items() ? sides[0].load_first(chunk.begin + item) :
			mgpu_largest_key<Key>();
	}
	/* check a few neighbours first: random keys rarely go on to the full check */
	next = __shfl_down_sync(MGPU_WHOLE_WARP, keys[0], 1);
	if (!mgpu_holds_for_any<in_warp>(group_thread + 1 < live && next < keys[0]) &&
		!mgpu_holds_for_any<in_warp>(mgpu_group_descends(sides[0], chunk, group_thread, live)))
	{
		mgpu_put_in_order(sides, chunk, group_thread, live);
		return false;
	}
	if (chunk.is_part() && group_thread == 0)
		*static_cast<volatile uint32_t *>(needs_passes) = 1;
	if (group_thread < live)
		mgpu_thread_sort(keys);
	return true;
}

/*
 * Sort one chunk a group, from side 0 to the side that the chunk says. in_warp: groups of a warp at
 * most, which wait for themselves alone.  The chunk is read twice, to keep fewer registers over the
 * merges.
 */
template <class Tuning, bool in_warp, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_sort_chunks(Key *tile, const mgpu_aligned_side<Stored, Key> *sides, const volatile mgpu_aligned_chunk *own_chunk,
				 uint32_t group_threads, uint32_t *needs_passes)
{
	constexpr int items = Tuning::items_per_thread;
	uint32_t	thread = threadIdx.x;
	uint32_t	group_thread = thread & (group_threads - 1);
	mgpu_aligned_chunk chunk = {own_chunk->begin, own_chunk->items_flags};
	uint32_t	live_end = thread - group_thread + mgpu_count_live_threads<items>(chunk.num_items(), group_threads);
	Key			keys[items];

	if (!mgpu_begin_chunks<Tuning, in_warp>(keys, sides, chunk, group_threads, needs_passes))
		return;
#pragma unroll 1
	for (uint32_t run_threads = 1; run_threads < group_threads; run_threads *= 2)
	{
		bool		merges = mgpu_group_merges(thread, live_end, run_threads);

		if (merges)
			mgpu_store_group_facing(keys, tile, thread, live_end, run_threads);
		mgpu_sync_pair(in_warp ? 1 : run_threads);	/* both runs are written */
		if (merges)
			mgpu_merge_group_facing(keys, tile, thread, live_end, run_threads);
		mgpu_sync_pair(in_warp ? 1 : run_threads);	/* both runs are read */
	}
	chunk = {own_chunk->begin, own_chunk->items_flags};
	tile += mgpu_group_slot<Tuning>(thread - group_thread, sides[0].phase(chunk.begin));
	mgpu_store_group_items(keys, tile, group_thread, chunk.num_items());
	mgpu_sync_pair(in_warp ? 1 : Tuning::threads);	/* the sorted tile is whole */
	sides[chunk.side()].store_interval(tile, chunk.begin, chunk.num_items(), group_thread, group_threads);
}

/* What a launch works on. */
template <class Tuning, typename Stored, typename Key>
struct mgpu_aligned_sort
{
	mgpu_aligned_lists<Tuning> lists;
	mgpu_aligned_side<Stored, Key> sides[2];
};

/* Chunks that take more than a warp, unit by unit of a CTA. */
template <class Tuning, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_sort_large_chunks(const mgpu_aligned_sort<Tuning, Stored, Key> &sort, mgpu_aligned_work<Tuning> *work, Key *tile)
{
	mgpu_aligned_header *header = sort.lists.header;
	uint32_t	thread = threadIdx.x;

	for (uint32_t turn = 0;; turn ^= 1)
	{
		mgpu_aligned_unit unit;
		uint32_t	group_threads;

		__syncthreads();			/* the unit is known, shared memory free */
		unit = mgpu_find_unit(work->num_chunks, MGPU_ALIGNED_WARP_CLASSES, Tuning::num_classes, Tuning::threads,
							  work->next_units[turn]);
		if (unit.group_class == MGPU_NO_CLASS)
			break;
		if (thread == 0)
			work->next_units[turn ^ 1] = gridDim.x + atomicAdd(header->next_units, 1);
		group_threads = mgpu_group_threads(unit.group_class);
		work->chunks[thread] = mgpu_find_chunk(sort.lists, work->num_chunks, unit, thread / group_threads);
		mgpu_sort_chunks<Tuning, false>(tile, sort.sides, work->chunks + thread, group_threads, &header->needs_passes);
	}
}

/* The others, unit by unit of a warp.  Warps without large chunks begin with these. */
template <class Tuning, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_sort_small_chunks(const mgpu_aligned_sort<Tuning, Stored, Key> &sort, mgpu_aligned_work<Tuning> *work, Key *tile)
{
	mgpu_aligned_header *header = sort.lists.header;
	uint32_t	thread = threadIdx.x;
	uint32_t	taken = 0;

	if (thread % 32 == 0)
		taken = atomicAdd(header->next_units + 1, 1);
	for (;;)
	{
		uint32_t	next = __shfl_sync(MGPU_WHOLE_WARP, taken, 0);
		mgpu_aligned_unit unit = mgpu_find_unit(work->num_chunks, 0, MGPU_ALIGNED_WARP_CLASSES, 32, next);
		uint32_t	group_threads;

		if (unit.group_class == MGPU_NO_CLASS)
			break;
		if (thread % 32 == 0)
			taken = atomicAdd(header->next_units + 1, 1);
		group_threads = mgpu_group_threads(unit.group_class);
		work->chunks[thread] = mgpu_find_chunk(sort.lists, work->num_chunks, unit, thread % 32 / group_threads);
		mgpu_sort_chunks<Tuning, true>(tile, sort.sides, work->chunks + thread, group_threads, &header->needs_passes);
		__syncwarp();				/* shared memory is free */
	}
}

template <class Tuning, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_sort_all_chunks(const mgpu_aligned_sort<Tuning, Stored, Key> &sort, Key *tile)
{
	__shared__ mgpu_aligned_work<Tuning> work;

	if (threadIdx.x < Tuning::num_classes)
		work.num_chunks[threadIdx.x] = sort.lists.header->num_chunks[threadIdx.x];
	if (threadIdx.x == 0)
		work.next_units[0] = blockIdx.x;
	mgpu_sort_large_chunks(sort, &work, tile);
	mgpu_sort_small_chunks(sort, &work, tile);
}

#endif							/* MGPU_SEGMENTED_ALIGNED_CHUNKS_CUH */
