/*
 * segmented/pass_kernel.cuh
 *		The passes of the segmented sort and the locality sort: one cooperative launch.
 *
 *	 in each pass:
 *		ranges		a warp a pair of lists: its active range; listed as work if it fits a tile
 *		tiles		some lanes a tile of a longer range: its split, listed as work
 *		merge		the listed work
 *	 and at last:
 *		collect		tiles on side 1 to side 0
 *		unpack		keys with indices to two arrays
 *
 * CTAs wait for each other between steps; passes without open borders cost nothing.  Where there is
 * a warp for every tile, each finds its range itself, for one barrier less.  Rejected: two launches
 * a pass, 2.5 us each even if empty; merging while planning, since a tile's splits need the whole
 * range.
 */
#ifndef MGPU_SEGMENTED_PASS_KERNEL_CUH
#define MGPU_SEGMENTED_PASS_KERNEL_CUH

#include <cooperative_groups.h>

#include "segmented/pass_plan.cuh"
#include "segmented/sort_kernels.cuh"

/* ------------------------------------------------------------------- merge */

/* Start to load an interval of at most a tile, which may span two tiles. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_load_sided(Key *shared, const mgpu_sided_keys<Tiles::tile_items, Key> &keys, uint32_t begin, uint32_t num_items,
				uint32_t thread)
{
	uint32_t	tile = begin / Tiles::tile_items;
	uint32_t	left = Tiles::tile_items - begin % Tiles::tile_items;
	uint32_t	first_items = min(num_items, left);

	if (num_items > 0)
		mgpu_load_interval<Tiles::merge_threads>(shared, keys.of_tile(tile) + begin, first_items, thread);
	if (num_items > left)
		mgpu_load_interval<Tiles::merge_threads>(shared + left, keys.of_tile(tile + 1) + begin + left,
												  num_items - left, thread);
}

/* Copy an interval whose source and destination have the same phase. */
template <int threads, typename Item>
static __device__ __forceinline__ void
mgpu_copy_interval(Item *to, const Item *from, uint32_t num_items, uint32_t thread)
{
	mgpu_interval_parts parts = mgpu_split_interval(from, num_items);
	uint4	   *to_vectors = reinterpret_cast<uint4 *>(to + parts.head_items);
	const uint4 *from_vectors = reinterpret_cast<const uint4 *>(from + parts.head_items);

	if (thread < parts.head_items)
		to[thread] = from[thread];
	if (thread < parts.tail_items)
		to[num_items - 1 - thread] = from[num_items - 1 - thread];
#pragma unroll 4
	for (uint32_t vector = thread; vector < parts.num_vectors; vector += threads)
		to_vectors[vector] = from_vectors[vector];
}

/* Write a merged range back to where its two lists were. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_store_in_place(const mgpu_segment_work &work, const Key *tile, const uint8_t *sides, Key *side0, Key *side1,
					uint32_t thread)
{
	const mgpu_active_range &range = work.range;
	uint32_t	a_items = range.middle - range.begin;
	Key		   *a_side = sides[work.tile] != 0 ? side1 : side0;
	Key		   *b_side = sides[work.tile + 1] != 0 ? side1 : side0;

	mgpu_store_interval<Tiles::merge_threads>(a_side + range.begin, tile, a_items, thread);
	mgpu_store_interval<Tiles::merge_threads>(b_side + range.middle, tile + a_items, range.end - range.middle, thread);
}

/* Write a tile's part of a range to its other side, with the items around the range. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_store_aside(const mgpu_segment_work &work, const mgpu_segment_inputs &inputs, const Key *tile, uint64_t num_items,
				 const uint8_t *sides, Key *side0, Key *side1, uint32_t thread)
{
	constexpr int threads = Tiles::merge_threads;
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint64_t	begin = (uint64_t) work.tile * Tiles::tile_items;
	uint64_t	end = min(begin + Tiles::tile_items, num_items);
	uint64_t	out_end = (uint64_t) inputs.out_begin + count;
	bool		on_side1 = sides[work.tile] != 0;
	const Key  *from = on_side1 ? side1 : side0;
	Key		   *to = on_side1 ? side0 : side1;

	mgpu_store_interval<threads>(to + inputs.out_begin, tile, count, thread);
	if (inputs.out_begin > begin)
		mgpu_copy_interval<threads>(to + begin, from + begin, (uint32_t) (inputs.out_begin - begin), thread);
	if (out_end < end)
		mgpu_copy_interval<threads>(to + out_end, from + out_end, (uint32_t) (end - out_end), thread);
}

/* Merge a pass's listed work, CTA by CTA. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_merge_segments(uint64_t num_items, Key *side0, Key *side1, const uint8_t *sides, const uint32_t *splits,
					const mgpu_segment_work *works, uint32_t count)
{
	constexpr int items = Tiles::items_per_thread;
	constexpr uint32_t tile_items = Tiles::tile_items;
	mgpu_sided_keys<tile_items, Key> keys = {side0, side1, sides};
	Key		   *shared = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;

	for (uint32_t item = blockIdx.x; item < count; item += gridDim.x)
	{
		mgpu_segment_work work = works[item];
		mgpu_segment_inputs inputs = mgpu_find_segment_inputs<tile_items>(work, splits);
		uint32_t	a_slot = mgpu_phase(side0 + inputs.a_begin);
		uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items + items, side0 + inputs.b_begin);
		Key		   *merged_tile;
		Key			merged[items];

		mgpu_load_sided<Tiles>(shared + a_slot, keys, inputs.a_begin, inputs.a_items, thread);
		mgpu_load_sided<Tiles>(shared + b_slot, keys, inputs.b_begin, inputs.b_items, thread);
		mgpu_store_guard<items>(shared, a_slot + inputs.a_items, thread);
		mgpu_store_guard<items>(shared, b_slot + inputs.b_items, thread);
		mgpu_wait_copies();
		__syncthreads();			/* inputs and guards are in place */
		mgpu_merge_guarded(merged, shared, a_slot, inputs.a_items, b_slot, inputs.b_items, thread * items);
		__syncthreads();			/* inputs are read */
		work = works[item];		/* read again, to keep fewer registers over the merge */
		inputs = mgpu_find_segment_inputs<tile_items>(work, splits);
		merged_tile = shared + mgpu_phase(side0 + inputs.out_begin);
		if (thread * items < inputs.a_items + inputs.b_items)
			mgpu_store_forwards(merged, merged_tile, thread * items);
		__syncthreads();			/* the merged tile is whole */
		if (mgpu_fits_one_tile<tile_items>(work.range))
			mgpu_store_in_place<Tiles>(work, merged_tile, sides, side0, side1, thread);
		else
			mgpu_store_aside<Tiles>(work, inputs, merged_tile, num_items, sides, side0, side1, thread);
		__syncthreads();			/* shared memory is free */
	}
}

/* --------------------------------------------------------- collect, unpack */

template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_collect_tiles(uint64_t num_items, uint32_t num_tiles, Key *side0, const Key *side1, const uint8_t *sides,
				   mgpu_pass_stats *stats)
{
	uint32_t	num_copied = 0;

	for (uint32_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x)
	{
		uint64_t	begin = (uint64_t) tile * Tiles::tile_items;
		uint32_t	count = (uint32_t) min((uint64_t) Tiles::tile_items, num_items - begin);

		if (sides[tile] == 0)
			continue;
		mgpu_copy_interval<Tiles::merge_threads>(side0 + begin, side1 + begin, count, threadIdx.x);
		num_copied++;
	}
	if (threadIdx.x == 0 && num_copied > 0)
		atomicAdd(reinterpret_cast<unsigned long long *>(&stats->copy_tiles), (unsigned long long) num_copied);
}

/* ------------------------------------------------------------------ passes */

/* What the passes work on. */
template <typename Stored, typename Key>
struct mgpu_segment_passes
{
	mgpu_segment_pass pass;		/* the first one */
	uint32_t	num_passes;		/* that merge */
	mgpu_segmented_header *header;
	mgpu_segmented_stats *stats;
	Key		   *side0;
	Key		   *side1;
	uint8_t    *sides;
	uint8_t    *next_sides;
	uint32_t   *splits;
	mgpu_active_range *ranges;
	mgpu_segment_work *work;
	Stored	   *keys;			/* where packed keys and their indices go */
	uint32_t   *indices;
};

/* Unpack what the block sort left packed, to two arrays. */
template <class Tiles, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_unpack_tiles(const mgpu_segment_passes<Stored, Key> &passes, bool open_alone)
{
	constexpr int threads = Tiles::merge_threads;
	const mgpu_segment_pass &pass = passes.pass;
	uint32_t	step = open_alone ? pass.sort_tiles : 1;

	for (uint32_t tile = blockIdx.x * step; tile < pass.num_tiles; tile += gridDim.x * step)
	{
		uint64_t	begin = (uint64_t) tile * Tiles::tile_items;
		uint32_t	count = (uint32_t) min((uint64_t) Tiles::tile_items, pass.num_items - begin);

		if (open_alone)
		{
			mgpu_tile_pieces pieces = mgpu_find_tile_pieces(pass.segments, pass.num_items, tile / step);

			begin = pieces.begin;
			count = pieces.open ? pieces.num_items : 0;
		}
		mgpu_store_unpacked<threads>(passes.keys + begin, passes.indices + begin, passes.side0 + begin, count, threadIdx.x);
	}
}

/* Read what an earlier step counted, behind a barrier of all CTAs. */
static __device__ __forceinline__ uint32_t
mgpu_read_count(const uint32_t *count)
{
	return *static_cast<const volatile uint32_t *>(count);
}

/*
 * All passes and what follows them.  The CTAs are resident at once, and what other CTAs wrote is
 * read behind a barrier of all.
 */
template <class Tiles, typename Stored, typename Key>
__global__ void
__launch_bounds__(Tiles::merge_threads, Tiles::resident_threads / Tiles::merge_threads)
mgpu_pass_segments(mgpu_segment_passes<Stored, Key> passes)
{
	cooperative_groups::grid_group all_ctas = cooperative_groups::this_grid();
	mgpu_segmented_header *header = passes.header;
	mgpu_segment_pass pass = passes.pass;
	bool		segmented = pass.segments.heads != nullptr;
	bool		a_warp_a_tile = pass.num_tiles <= gridDim.x * (Tiles::merge_threads / 32);
	bool		away = !segmented;	/* may tiles be on side 1? */
	uint8_t    *sides = passes.sides;
	uint8_t    *next_sides = passes.next_sides;

	if (segmented && header->num_all_open == 0)
		return;
	for (uint32_t i = 0; i < passes.num_passes; i++, pass.run_tiles *= 2)
	{
		mgpu_sided_keys<Tiles::tile_items, Key> keys = {passes.side0, passes.side1, sides};
		mgpu_pass_stats *stats = passes.stats->passes + i;
		bool		change_sides;	/* some tiles change sides */

		if (segmented && header->num_open[i] == 0)
			continue;
		if (a_warp_a_tile)
			mgpu_plan_tiles<Tiles, 32>(pass, keys, passes.ranges, next_sides, passes.splits, passes.work,
									   header->num_work + i, header->num_long + i, stats);
		else
			mgpu_plan_ranges<Tiles>(pass, keys, passes.ranges, passes.work, header->num_work + i, header->num_long + i,
									stats);
		all_ctas.sync();			/* ranges are known */
		change_sides = mgpu_read_count(header->num_long + i) > 0;
		if (change_sides && !a_warp_a_tile)
		{
			mgpu_plan_tiles<Tiles, MGPU_SEGMENTED_SPLIT_PROBES>(pass, keys, passes.ranges, next_sides, passes.splits,
																passes.work, header->num_work + i,
																header->num_long + i, stats);
			all_ctas.sync();		/* the pass is planned */
		}
		if (mgpu_read_count(header->num_work + i) == 0)
			continue;
		mgpu_merge_segments<Tiles>(pass.num_items, passes.side0, passes.side1, sides, passes.splits, passes.work,
								   mgpu_read_count(header->num_work + i));
		all_ctas.sync();			/* everything is merged */
		if (change_sides)
		{
			away = true;
			sides = next_sides;
			next_sides = sides == passes.sides ? passes.next_sides : passes.sides;
		}
	}
	if (away)
		mgpu_collect_tiles<Tiles>(pass.num_items, pass.num_tiles, passes.side0, static_cast<const Key *>(passes.side1),
								  sides, passes.stats->passes + passes.num_passes);
	if constexpr (sizeof(Stored) != sizeof(Key))
	{
		if (away)
			all_ctas.sync();		/* all lies on side 0 */
		mgpu_unpack_tiles<Tiles>(passes, segmented && header->num_long_open == 0);
	}
}

#endif							/* MGPU_SEGMENTED_PASS_KERNEL_CUH */
