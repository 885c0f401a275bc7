/*
 * segmented/tuning.cuh
 *		Sizes of the segmented sort and the locality sort.
 *
 * A sort tile is what a CTA sorts in shared memory; passes merge by tiles of merge_threads *
 * items_per_thread.  Sort tiles hold more, lane_items a thread, so that a tile can take the rest
 * of its last segment along, and a segment can begin with a lane of its own.  Both numbers are
 * odd: an odd stride spreads a warp over all banks.
 */
#ifndef MGPU_SEGMENTED_TUNING_CUH
#define MGPU_SEGMENTED_TUNING_CUH

#include <stdint.h>

/* Tiles of the passes. */
template <int merge_threads_, int items_, int resident_threads_>
struct mgpu_segmented_tiles
{
	static constexpr int items_per_thread = items_;
	static constexpr int merge_threads = merge_threads_;
	static constexpr int resident_threads = resident_threads_;	/* an SM, that registers must allow */
	static constexpr uint32_t tile_items = merge_threads_ * items_;

	static_assert(items_ % 2 == 1, "an odd stride");
};

template <int sort_threads_, int merge_threads_, int items_, int lane_items_, int resident_threads_ = 1024>
struct mgpu_segmented_tuning : mgpu_segmented_tiles<merge_threads_, items_, resident_threads_>
{
	typedef mgpu_segmented_tiles<merge_threads_, items_, resident_threads_> tiles;
	static constexpr int sort_threads = sort_threads_;
	static constexpr int lane_items = lane_items_;	/* of a segment, in the block sort */
	static constexpr uint32_t sort_tile_items = sort_threads_ * items_;
	static constexpr uint32_t sort_tile_capacity = sort_threads_ * lane_items_;
	static constexpr uint32_t overhang = sort_tile_capacity - sort_tile_items;	/* of a tile's last segment */
	static constexpr uint32_t sort_tiles = sort_threads_ / merge_threads_;	/* tiles of a sort tile */

	static_assert(sort_threads_ % merge_threads_ == 0 && (sort_tiles & (sort_tiles - 1)) == 0,
				  "sort tiles hold a power of two of tiles");
	static_assert(sort_threads_ % 32 == 0, "whole warps");
	static_assert(lane_items_ % 2 == 1 && lane_items_ > items_ && overhang <= sort_tile_items && sort_tile_capacity < 65536,
				  "an odd stride, and an overhang of less than a tile");
};

/* Sort tiles of two sizes. */
template <class large_, class small_>
struct mgpu_segmented_sizes
{
	typedef large_ large;
	typedef small_ small;		/* where an SM has less than MGPU_LARGE_SHARED_BYTES, and as below */
};

/*
 * By key: 4 bytes; 8 bytes, which also hold a 4-byte key and its index; 16 bytes, which hold an
 * 8-byte key and its index.  A locality sort has one segment, and so no overhang.
 */
typedef mgpu_segmented_sizes<mgpu_segmented_tuning<512, 256, 29, 31>, mgpu_segmented_tuning<256, 256, 29, 31>> mgpu_segmented_u32;
typedef mgpu_segmented_sizes<mgpu_segmented_tuning<512, 256, 31, 33>, mgpu_segmented_tuning<256, 256, 31, 33>> mgpu_locality_u32;
typedef mgpu_segmented_sizes<mgpu_segmented_tuning<512, 256, 15, 17>, mgpu_segmented_tuning<256, 256, 15, 17>> mgpu_segmented_u64;
typedef mgpu_segmented_tuning<256, 256, 7, 9, 768> mgpu_segmented_u128_tile;
typedef mgpu_segmented_sizes<mgpu_segmented_u128_tile, mgpu_segmented_u128_tile> mgpu_segmented_u128;

/*
 * Small sort tiles on every device (mgpu_takes_large_tiles): for segments up to this mean length,
 * which take no pass; and, in arrays too small to fill the SMs, up to the last mean, beyond which
 * one more pass costs more than idle SMs.
 */
#define MGPU_SEGMENTED_SMALL_TILE_MEAN 48
#define MGPU_SEGMENTED_LARGE_ITEMS (UINT64_C(1) << 21)
#define MGPU_SEGMENTED_FEW_PASSES_MEAN 512

/* Pieces of a tile that a thread of the block sort lists at a time. */
#define MGPU_SEGMENTED_LIST_PIECES 4

/* Lanes that search a tile's split.  More are faster, but read more sectors. */
#define MGPU_SEGMENTED_SPLIT_PROBES 8

/* The search for the heads of each tile: lanes that probe together, threads of a CTA. */
#define MGPU_SEGMENTED_HEAD_PROBES 16
#define MGPU_SEGMENTED_HEAD_THREADS 128

/* Keys sampled to see whether an array is in reverse, and how many must descend. */
#define MGPU_SEGMENTED_SAMPLES 1024
#define MGPU_SEGMENTED_REVERSED_SAMPLES 960

#endif							/* MGPU_SEGMENTED_TUNING_CUH */
