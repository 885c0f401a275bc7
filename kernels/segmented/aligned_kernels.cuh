/*
 * segmented/aligned_kernels.cuh
 *		The aligned segmented sort: its kernels.
 *
 *	 begin		lists every segment in its class; long ones as chunks and tiles
 *	 sort		persistent CTAs sort the listed chunks (aligned_chunks.cuh), then, in a
 *				cooperative launch, merge the long segments pass by pass
 *
 * Where no segment is longer than a tile, the second launch ends with the lists.
 */
#ifndef MGPU_SEGMENTED_ALIGNED_KERNELS_CUH
#define MGPU_SEGMENTED_ALIGNED_KERNELS_CUH

#include <cooperative_groups.h>

#include "device/split_search.cuh"
#include "segmented/aligned_chunks.cuh"

/* -------------------------------------------------------------------- begin */

/* A lane's long segment, listed by all lanes of its warp: its whole chunks and its tiles. */
template <class Tuning>
static __device__ __forceinline__ void
mgpu_list_long_segment(const mgpu_aligned_lists<Tuning> &lists, uint32_t begin, uint32_t end, uint32_t passes,
					   uint32_t first_chunk, uint32_t first_tile, uint32_t lane)
{
	mgpu_aligned_chunk *chunks = lists.chunks[Tuning::num_classes - 1] + first_chunk;
	mgpu_aligned_tile *tiles = lists.tiles + (uint64_t) lists.most_tiles * (passes - 1) + first_tile;
	uint32_t	num_chunks = (end - begin) / Tuning::tile_items;
	uint32_t	has_rest = (end - begin) % Tuning::tile_items != 0;

	for (uint32_t i = lane; i < num_chunks + has_rest; i += 32)
	{
		if (i < num_chunks)
			chunks[i] = mgpu_make_chunk(begin + i * Tuning::tile_items, Tuning::tile_items, passes,
										i + 1 < num_chunks + has_rest);
		tiles[i] = {begin, end, i, 0};
	}
}

/* A warp's long segments. passes is 0 in lanes that have none. */
template <class Tuning>
static __device__ __forceinline__ void
mgpu_list_long_segments(const mgpu_aligned_lists<Tuning> &lists, uint32_t begin, uint32_t end, uint32_t passes, uint32_t lane)
{
	uint32_t	longs = __ballot_sync(MGPU_WHOLE_WARP, passes > 0);
	uint32_t	first_chunk = 0;
	uint32_t	first_tile = 0;

	if (longs == 0)
		return;
	if (passes > 0)
	{
		uint32_t	num_items = end - begin;

		first_chunk = atomicAdd(lists.header->num_chunks + Tuning::num_classes - 1, num_items / Tuning::tile_items);
		first_tile = atomicAdd(lists.header->num_tiles + passes,
							   num_items / Tuning::tile_items + (num_items % Tuning::tile_items != 0));
	}
	for (; longs != 0; longs &= longs - 1)
	{
		int			from = (int) mgpu_lowest_bit(longs);

		mgpu_list_long_segment(lists, __shfl_sync(MGPU_WHOLE_WARP, begin, from), __shfl_sync(MGPU_WHOLE_WARP, end, from),
							   __shfl_sync(MGPU_WHOLE_WARP, passes, from), __shfl_sync(MGPU_WHOLE_WARP, first_chunk, from),
							   __shfl_sync(MGPU_WHOLE_WARP, first_tile, from), lane);
	}
}

/* List all segments.  A key alone in its segment stays, but gets its index. */
template <class Tuning, bool packs>
__global__ void
__launch_bounds__(MGPU_ALIGNED_BEGIN_THREADS)
mgpu_begin_aligned(const uint32_t *heads, uint32_t num_segments, uint64_t num_items, mgpu_aligned_lists<Tuning> lists,
				   mgpu_segmented_stats *stats)
{
	constexpr int each = MGPU_ALIGNED_BEGIN_SEGMENTS;
	constexpr uint32_t least = packs ? 1 : 2;
	__shared__ uint32_t counts[Tuning::num_classes];
	__shared__ uint32_t begins[Tuning::num_classes];
	uint32_t	thread = threadIdx.x;
	uint32_t	lane = thread % 32;
	mgpu_aligned_chunk chunks[each];
	uint32_t	places[each];	/* in their class; its number times 65536 */

	if (blockIdx.x == 0)
		mgpu_clear_passes(num_items, Tuning::tile_items, stats, thread);
	if (thread < Tuning::num_classes)
		counts[thread] = 0;
	__syncthreads();				/* counts are zero */
#pragma unroll
	for (int i = 0; i < each; i++)
	{
		uint32_t	segment = (blockIdx.x * each + i) * MGPU_ALIGNED_BEGIN_THREADS + thread;
		uint32_t	begin = 0;
		uint32_t	end = 0;
		uint32_t	passes;
		uint32_t	count;
		uint32_t	group_class = MGPU_NO_CLASS;
		uint32_t	alike;
		uint32_t	leader;
		uint32_t	place = 0;

		if (segment < num_segments)
		{
			begin = heads[segment];
			end = segment + 1 < num_segments ? heads[segment + 1] : (uint32_t) num_items;
		}
		passes = mgpu_count_aligned_passes<Tuning>(end - begin);
		count = passes > 0 ? (end - begin) % Tuning::tile_items : end - begin;
		chunks[i] = mgpu_make_chunk(end - count, count, passes, false);
		if (count >= (passes > 0 ? 1 : least))
			group_class = mgpu_find_group_class<Tuning>(count);
		alike = __match_any_sync(MGPU_WHOLE_WARP, group_class);
		leader = mgpu_lowest_bit(alike);
		if (lane == leader && group_class != MGPU_NO_CLASS)
			place = atomicAdd(counts + group_class, (uint32_t) __popc(alike));
		place = __shfl_sync(MGPU_WHOLE_WARP, place, (int) leader) + __popc(alike & ((1u << lane) - 1));
		places[i] = place | group_class << 16;
		mgpu_list_long_segments(lists, begin, end, passes, lane);
	}
	__syncthreads();				/* all are counted */
	if (thread < Tuning::num_classes)
		begins[thread] = counts[thread] > 0 ? atomicAdd(lists.header->num_chunks + thread, counts[thread]) : 0;
	__syncthreads();				/* and have their places */
#pragma unroll
	for (int i = 0; i < each; i++)
	{
		uint32_t	group_class = places[i] >> 16;

#pragma unroll
		for (uint32_t c = 0; c < Tuning::num_classes; c++)
		{
			if (group_class == c)
				lists.chunks[c][begins[c] + (places[i] & 0xFFFF)] = chunks[i];
		}
	}
}

/* ------------------------------------------------------------------- passes */

template <class Tuning, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_merge_aligned_tile(const mgpu_aligned_side<Stored, Key> &from, const mgpu_aligned_side<Stored, Key> &to,
						const mgpu_aligned_tile &work, uint32_t pass, Key *shared, uint32_t *splits)
{
	constexpr int threads = Tuning::threads;
	constexpr int items = Tuning::items_per_thread;
	mgpu_aligned_search<Stored> search = {from.keys, mgpu_find_aligned_inputs<Tuning>(work, pass)};
	const mgpu_aligned_inputs &inputs = search.inputs;
	uint32_t	thread = threadIdx.x;
	uint32_t	out_begin = work.begin + work.tile * Tuning::tile_items;
	uint32_t	a_begin;
	uint32_t	a_items;
	uint32_t	b_begin;
	uint32_t	b_items;
	uint32_t	a_slot;
	uint32_t	b_slot;
	Key			merged[items];

	if (thread < 64)
	{
		uint32_t	split = mgpu_find_split<32>(search, thread / 32, thread);

		if (thread % 32 == 0)
			splits[thread / 32] = split;
	}
	__syncthreads();				/* both splits are found */
	a_begin = inputs.a_begin + splits[0];
	a_items = splits[1] - splits[0];
	b_begin = inputs.b_begin + (inputs.diagonals[0] - splits[0]);
	b_items = inputs.diagonals[1] - inputs.diagonals[0] - a_items;
	a_slot = from.phase(a_begin);
	b_slot = mgpu_second_slot<Tuning>(a_slot + a_items, from.phase(b_begin));
	from.template load_interval<threads>(shared + a_slot, a_begin, a_items, thread);
	from.template load_interval<threads>(shared + b_slot, b_begin, b_items, thread);
	mgpu_store_guard<items>(shared, a_slot + a_items, thread);
	mgpu_store_guard<items>(shared, b_slot + b_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* inputs and guards are in place */
	mgpu_merge_guarded(merged, shared, a_slot, a_items, b_slot, b_items, thread * items);
	__syncthreads();				/* inputs are read */
	shared += to.phase(out_begin);
	mgpu_store_forwards(merged, shared, thread * items);
	__syncthreads();				/* the merged tile is whole */
	to.store_interval(shared, out_begin, a_items + b_items, thread, threads);
	__syncthreads();				/* shared memory is free */
}

/* Merge all tiles of a pass: those of segments with more passes than came before. */
template <class Tuning, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_merge_aligned_pass(const mgpu_aligned_sort<Tuning, Stored, Key> &sort, uint32_t pass, uint32_t last_pass, Key *shared,
						uint32_t *splits)
{
	const mgpu_aligned_lists<Tuning> &lists = sort.lists;
	uint32_t	skipped = 0;

	for (uint32_t passes = last_pass; passes > pass; passes--)
	{
		uint32_t	num_tiles = lists.header->num_tiles[passes];
		const mgpu_aligned_tile *tiles = lists.tiles + (uint64_t) lists.most_tiles * (passes - 1);
		uint32_t	from = (passes - pass) & 1;
		uint32_t	first = (blockIdx.x + gridDim.x - skipped % gridDim.x) % gridDim.x;	/* go on where the list before ended */

		for (uint32_t i = first; i < num_tiles; i += gridDim.x)
			mgpu_merge_aligned_tile<Tuning>(sort.sides[from], sort.sides[from ^ 1], tiles[i], pass, shared, splits);
		skipped += num_tiles;
	}
}

/* Sort all segments.  The CTAs are resident at once. */
template <class Tuning, typename Stored, typename Key>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::resident_threads / Tuning::threads)
mgpu_sort_aligned(const __grid_constant__ mgpu_aligned_sort<Tuning, Stored, Key> sort)
{
	__shared__ uint32_t splits[2];
	cooperative_groups::grid_group all_ctas = cooperative_groups::this_grid();
	Key		   *shared = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	last_pass = MGPU_ALIGNED_MAX_PASSES;

	mgpu_sort_all_chunks(sort, shared);
	while (last_pass > 0 && sort.lists.header->num_tiles[last_pass] == 0)
		last_pass--;
	for (uint32_t pass = 0; pass < last_pass; pass++)
	{
		all_ctas.sync();			/* the lists of this pass are sorted */
		if (mgpu_read_count(&sort.lists.header->needs_passes) == 0)
			return;
		mgpu_merge_aligned_pass(sort, pass, last_pass, shared, splits);
	}
}

#endif							/* MGPU_SEGMENTED_ALIGNED_KERNELS_CUH */
