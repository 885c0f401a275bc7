/*
 * sort/tuning.cuh
 *		Sizes of the merge sorts and thresholds between sorts.  The radix sort has its
 *		own (radix_tuning.cuh).
 *
 * items_per_thread is odd: item r of thread t lies at t * items_per_thread + r, and an odd
 * stride spreads a warp over all 32 banks.  Registers bound it, since a merge's outputs stay
 * there.  More items a thread make the search for its diagonal cheaper an item, and fewer
 * resident threads hide less latency.  On compute capability 9.0 the best compromise is 768
 * threads an SM with 80 registers each.  NOTES.md says which sizes were measured.
 */
#ifndef MGPU_SORT_TUNING_CUH
#define MGPU_SORT_TUNING_CUH

#include "device/tuning.cuh"

/*
 * One merge sort: the block sort's CTAs and those of its passes.  A sort tile is one thread's items
 * short of what the CTA could hold.
 */
template <int threads_, int items_, int ways_, int resident_threads_>
struct mgpu_merge_tuning
{
	static constexpr int threads = threads_;	/* of a CTA */
	static constexpr int items_per_thread = items_;
	static constexpr int ways = ways_;	/* runs that a pass merges, at most */
	static constexpr int resident_threads = resident_threads_;	/* an SM, that registers must allow */
	static constexpr uint32_t tile_items = (threads_ - 1) * items_;

	static_assert(items_ % 2 == 1, "an even stride conflicts in shared memory");
	static_assert(threads_ > items_, "only a thread's last item can lie behind a whole tile");
	static_assert(ways_ >= 2 && ways_ <= 32 && (ways_ & (ways_ - 1)) == 0, "passes merge a power of two of runs, a lane each");
};

/*
 * u64 serves 8-byte keys, and 4-byte keys packed with their index.  The small tunings serve small
 * devices (device/tuning.cuh), and few items on large ones, so that all SMs have a tile.
 */
typedef mgpu_merge_tuning<256, 53, 32, 768> mgpu_tuning_u32;
typedef mgpu_merge_tuning<256, 25, 16, 768> mgpu_tuning_u64;
typedef mgpu_merge_tuning<256, 15, 16, 768> mgpu_tuning_u64_index;
typedef mgpu_merge_tuning<512, 15, 16, 1024> mgpu_tuning_u32_small;
typedef mgpu_merge_tuning<256, 15, 16, 1024> mgpu_tuning_u64_small;
typedef mgpu_merge_tuning<256, 11, 16, 768> mgpu_tuning_u64_index_small;

/* Tunings for what one CTA sorts in one launch, the smallest tile first. */
template <class... Tunings>
struct mgpu_tile_tunings
{
	static constexpr uint32_t most_items = [] () constexpr
	{
		uint32_t	items = 0;

		((items = Tunings::tile_items), ...);
		return items;
	}();
};

template <int threads, int items>
using mgpu_tile_tuning = mgpu_merge_tuning<threads, items, 2, threads>;

/*
 * One CTA waits for shared memory at every step of a merge, so its tile has as few items a thread
 * as possible. 256 threads were as fast as 128 or 512, or faster.  Every device takes these.
 */
typedef mgpu_tile_tunings<mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<256, 9>, mgpu_tile_tuning<256, 15>,
	mgpu_tile_tuning<256, 23>> mgpu_tiles_u32;
typedef mgpu_tile_tunings<mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<256, 9>> mgpu_tiles_u64;
typedef mgpu_tile_tunings<mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<256, 9>> mgpu_tiles_u64_index;

/*
 * A cut of a k-way pass may lie this many items before its diagonal, for a step or two less of
 * search.  A tile holds as many more: a hundredth of it.
 */
#define MGPU_K_WAY_SLACK 128

/*
 * The search for cuts of a k-way pass starts early (device/launch.cuh) if the pass has at most so
 * many tiles: it gains 2 us.  With more it costs up to 40 us a pass, perhaps since the search's
 * CTAs then crowd on the SMs that are free first.
 */
#define MGPU_K_WAY_OVERLAP_TILES 600

/* Up to how many items the small tunings serve on large devices. */
#define MGPU_FEW_ITEMS_U32 UINT64_C(1500000)
#define MGPU_FEW_ITEMS_U64 UINT64_C(2000000)
#define MGPU_FEW_ITEMS_U64_INDEX UINT64_C(1000000)

/* Threads of a CTA that searches splits. */
#define MGPU_PARTITION_THREADS 128

/*
 * Keys in no order: radix sort from this many items on, merge sort below.  A radix sort of k-byte
 * keys takes k passes and 40 to 80 us; a merge sort's passes grow with the logarithm of the size.
 * For 8-byte keys merging is still 4 % ahead at 10^8; more was not measured.  Keys of 1 and 2 bytes
 * take one radix pass or two.
 */
#define MGPU_RADIX_MIN_ITEMS_U32 (UINT64_C(3) << 18)
#define MGPU_RADIX_MIN_ITEMS_U64 (UINT64_C(1) << 27)
#define MGPU_RADIX_MIN_ITEMS_U32_INDEX (UINT64_C(3) << 18)
#define MGPU_RADIX_MIN_ITEMS_U64_INDEX (UINT64_C(1) << 24)
#define MGPU_RADIX_MIN_ITEMS_NARROW (UINT64_C(1) << 16)

/* A sort under `auto` of this many items probes them first, which costs some 7 us. */
#define MGPU_PROBE_MIN_ITEMS (UINT64_C(1) << 18)

#endif							/* MGPU_SORT_TUNING_CUH */
