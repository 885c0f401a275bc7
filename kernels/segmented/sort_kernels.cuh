/*
 * segmented/sort_kernels.cuh
 *		The kernels of the segmented sort and the locality sort, up to the passes.
 *
 *	 begin		clears counters; checks whether the array is in reverse, or finds the sort
 *				tiles' heads
 *	 sort		sorts every sort tile in shared memory (tile_sort.cuh)
 *	 pass		all passes, in one launch (pass_kernel.cuh)
 *
 * Keys with indices go from the block sort straight to their two arrays, unless a merge will use
 * that memory as side 1.  Tiles with open borders wait for their merges.  Keys are codes, or codes
 * with the index in the low 32 bits, which makes all keys different and every merge stable.
 */
#ifndef MGPU_SEGMENTED_SORT_KERNELS_CUH
#define MGPU_SEGMENTED_SORT_KERNELS_CUH

#include "device/arithmetic.cuh"
#include "device/split_search.cuh"
#include "segmented/borders.cuh"
#include "segmented/segmented.h"
#include "segmented/tile_sort.cuh"
#include "sort/guarded_merge.cuh"

/* At the start of temporary memory. */
struct mgpu_segmented_header
{
	uint32_t	num_open[MGPU_MAX_PASSES];	/* open borders that a pass merges across; zero before the first launch */
	uint32_t	num_all_open;
	uint32_t	num_long_open;	/* those whose segment is longer than a tile */
	uint32_t	num_work[MGPU_MAX_PASSES];	/* zeroed by the first launch, like all that follow */
	uint32_t	num_long[MGPU_MAX_PASSES];	/* active ranges longer than a tile */
	uint32_t	reversed;		/* the array is read backwards */
};

/* ------------------------------------------------------------------- begin */

/* By MGPU_MAX_PASSES threads of one CTA. */
static __device__ __forceinline__ void
mgpu_clear_counters(uint32_t num_tiles, uint32_t num_passes, mgpu_segmented_header *header, mgpu_segmented_stats *stats,
					uint32_t thread)
{
	if (thread < MGPU_MAX_PASSES)
	{
		header->num_work[thread] = 0;
		header->num_long[thread] = 0;
		stats->passes[thread].merge_tiles = 0;
		stats->passes[thread].copy_tiles = 0;
	}
	if (thread == 0)
	{
		stats->num_tiles = num_tiles;
		stats->num_passes = num_passes;
	}
}

/* Without segments: one CTA of MGPU_SEGMENTED_SAMPLES threads. */
template <typename Stored>
__global__ void
__launch_bounds__(MGPU_SEGMENTED_SAMPLES)
mgpu_begin_locality(const Stored *keys, uint64_t num_items, uint32_t num_tiles, uint32_t num_passes,
					mgpu_segmented_header *header, mgpu_segmented_stats *stats)
{
	uint32_t	thread = threadIdx.x;
	uint64_t	stride = (num_items - 1) / MGPU_SEGMENTED_SAMPLES;
	bool		descends = num_passes > 0 && keys[(thread + 1) * stride] < keys[thread * stride];
	int			descents = __syncthreads_count(descends);

	mgpu_clear_counters(num_tiles, num_passes, header, stats, thread);
	if (thread == 0)
		header->reversed = descents >= MGPU_SEGMENTED_REVERSED_SAMPLES;
}

/* With segments: find the heads of all borders, from 0 to num_sort_tiles, and which borders are open. */
static __global__ void
__launch_bounds__(MGPU_SEGMENTED_HEAD_THREADS)
mgpu_begin_segments(mgpu_segment_heads segments, uint64_t num_items, uint32_t num_sort_tiles, uint32_t *tile_heads,
					uint32_t tile_items, uint32_t num_tiles, uint32_t num_passes, mgpu_segmented_header *header,
					mgpu_segmented_stats *stats)
{
	constexpr int lanes = MGPU_SEGMENTED_HEAD_PROBES;
	uint32_t	tile = blockIdx.x * (MGPU_SEGMENTED_HEAD_THREADS / lanes) + threadIdx.x / lanes;
	mgpu_head_search search = {segments.heads, num_items, segments.num_segments, segments.sort_tile_items};
	mgpu_tile_border border;
	uint32_t	next_head;

	if (blockIdx.x == 0)
		mgpu_clear_counters(num_tiles, num_passes, header, stats, threadIdx.x);
	if (tile > num_sort_tiles)
		return;
	next_head = mgpu_find_split<lanes>(search, tile, threadIdx.x);
	if (threadIdx.x % lanes != 0)
		return;
	tile_heads[tile] = next_head;
	border = mgpu_make_border(segments, num_items, tile, next_head);
	if (border.open)
	{
		atomicAdd(header->num_open + mgpu_lowest_bit(tile), 1);
		atomicAdd(&header->num_all_open, 1);
		if (border.segment_end - border.segment_begin > tile_items)
			atomicAdd(&header->num_long_open, 1);
	}
}

/* -------------------------------------------------------------- block sort */

/* The keys: as they are, or widened by their index. */
template <typename Stored, typename Key>
struct mgpu_segment_source
{
	const Stored *keys;
	uint64_t	num_items;

	MGPU_MEMBER Key
	load(uint64_t item, bool reversed) const
	{
		uint64_t	from = reversed ? num_items - 1 - item : item;

		if constexpr (sizeof(Stored) == sizeof(Key))
			return keys[from];
		else
			return (Key) keys[from] << 32 | (uint32_t) from;
	}
};

/* What the block sort writes: packed keys, or the two arrays. */
template <typename Stored, typename Key>
struct mgpu_segment_sinks
{
	Key		   *side0;
	Key		   *side1;
	uint8_t    *sides;
	Stored	   *keys;
	uint32_t   *indices;
};

template <class Tuning, typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_sort_locality_bytes()
{
	return sizeof(Key) * mgpu_tile_capacity<Key>(Tuning::sort_tile_items);
}

/* Where the lists of pieces lie in shared memory: behind the tile. */
template <class Tuning, typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_piece_lists_offset()
{
	return sizeof(Key) * mgpu_tile_capacity<Key>(Tuning::sort_tile_capacity);
}

template <class Tuning, typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_sort_segments_bytes()
{
	return mgpu_piece_lists_offset<Tuning, Key>() + sizeof(mgpu_piece_lists<Tuning::sort_threads>);
}

/* Start to load a tile.  Complete after mgpu_wait_copies and a barrier. */
template <int threads, typename Key, class Source>
static __device__ __forceinline__ void
mgpu_load_sort_tile(Key *tile, const Source &source, uint64_t begin, uint32_t count, bool reversed, uint32_t thread)
{
	if constexpr (sizeof(*source.keys) == sizeof(Key))
	{
		if (!reversed)
		{
			mgpu_load_interval<threads>(tile, source.keys + begin, count, thread);
			return;
		}
	}
#pragma unroll 8
	for (uint32_t item = thread; item < count; item += threads)
		tile[item] = source.load(begin + item, reversed);
}

/* Write a tile of (key, index) to two arrays. */
template <int threads, typename Stored, typename Key>
static __device__ __forceinline__ void
mgpu_store_unpacked(Stored *keys, uint32_t *indices, const Key *tile, uint32_t count, uint32_t thread)
{
#pragma unroll 8
	for (uint32_t item = thread; item < count; item += threads)
	{
		Key			key = tile[item];

		keys[item] = (Stored) (key >> 32);
		indices[item] = (uint32_t) key;
	}
}

/*
 * Sort every tile from source to side 0, or to side 1 if the array is read backwards in place.
 * Tiles in order and in place are not written.
 */
template <class Tuning, typename Stored, typename Key>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_locality(mgpu_segment_source<Stored, Key> source, const mgpu_segmented_header *header,
				   mgpu_segment_sinks<Stored, Key> sinks)
{
	constexpr int threads = Tuning::sort_threads;
	constexpr uint32_t tile_items = Tuning::sort_tile_items;
	constexpr bool in_place = sizeof(Stored) == sizeof(Key);
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, source.num_items - begin);
	bool		reversed = header->reversed != 0;
	bool		changed;

	if (thread < Tuning::sort_tiles)
		sinks.sides[blockIdx.x * Tuning::sort_tiles + thread] = in_place && reversed;
	mgpu_load_sort_tile<threads>(tile, source, begin, count, reversed, thread);
	changed = mgpu_cta_sort_whole<threads, Tuning::items_per_thread>(tile, count, thread);
	if (in_place && !changed && !reversed)
		return;
	if constexpr (!in_place)
	{
		if (gridDim.x == 1)
		{
			mgpu_store_unpacked<threads>(sinks.keys, sinks.indices, tile, count, thread);
			return;
		}
	}
	mgpu_store_interval<threads>((in_place && reversed ? sinks.side1 : sinks.side0) + begin, tile, count, thread);
}

/* Sort the segments of every tile from source to side 0.  Tiles in order are not written. */
template <class Tuning, typename Stored, typename Key>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_segments(mgpu_segment_source<Stored, Key> source, mgpu_segment_heads segments,
				   const mgpu_segmented_header *header, mgpu_segment_sinks<Stored, Key> sinks)
{
	constexpr int threads = Tuning::sort_threads;
	constexpr bool in_place = sizeof(Stored) == sizeof(Key);
	mgpu_piece_lists<threads> *lists =
		reinterpret_cast<mgpu_piece_lists<threads> *>(mgpu_shared + mgpu_piece_lists_offset<Tuning, Key>());
	uint32_t	thread = threadIdx.x;
	mgpu_tile_pieces pieces = mgpu_find_tile_pieces(segments, source.num_items, blockIdx.x);
	uint32_t	begin = pieces.begin;
	uint32_t	count = pieces.num_items;
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared) + mgpu_phase(sinks.side0 + begin);
	bool		changed;

	if (thread < Tuning::sort_tiles)
		sinks.sides[blockIdx.x * Tuning::sort_tiles + thread] = 0;
	if (in_place && pieces.num_pieces >= count)
		return;					/* every segment has one item */
	mgpu_load_sort_tile<threads>(tile, source, begin, count, false, thread);
	if (pieces.num_pieces == 1 && count == Tuning::sort_tile_items)
		changed = mgpu_cta_sort_whole<threads, Tuning::items_per_thread>(tile, count, thread);
	else
		changed = mgpu_cta_sort_pieces<threads, Tuning::lane_items>(tile, lists, pieces, thread);
	if constexpr (in_place)
	{
		if (!changed)
			return;
	}
	else if (!pieces.open && header->num_long_open == 0)
	{
		mgpu_store_unpacked<threads>(sinks.keys + begin, sinks.indices + begin, tile, count, thread);
		return;
	}
	mgpu_store_interval<threads>(sinks.side0 + begin, tile, count, thread);
}

#endif							/* MGPU_SEGMENTED_SORT_KERNELS_CUH */
