/*
 * merge/tuning.cuh
 *		Sizes of merge, bulk remove, bulk insert and the odd-even network.
 *
 * `resident` is the number of CTAs that an SM shall hold; it sets a kernel's register budget.  A
 * CTA prefetches the tile `ahead` tiles an SM behind its own: nearer is too late, further is
 * evicted before its use.  A CTA takes less than 48 kB of shared memory, so one shape serves every
 * device from 7.5 on.
 */
#ifndef MGPU_MERGE_TUNING_CUH
#define MGPU_MERGE_TUNING_CUH

#include <stdint.h>

/*
 * Devices with 64 to 100 kB of shared memory an SM hold at most three such CTAs, which may use the
 * registers.  The smallest hold 1,024 threads.
 */
#if defined(__CUDA_ARCH__) && \
	(__CUDA_ARCH__ < 800 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define MGPU_OPS_MOST_RESIDENT 3
#define MGPU_OPS_MOST_THREADS 1024
#else
#define MGPU_OPS_MOST_RESIDENT 8
#define MGPU_OPS_MOST_THREADS 2048
#endif

/* The number of CTAs that an SM can hold, at most `resident`. */
constexpr int
mgpu_most_resident(int threads, int resident)
{
	int			ctas = resident < MGPU_OPS_MOST_RESIDENT ? resident : MGPU_OPS_MOST_RESIDENT;

	return ctas * threads > MGPU_OPS_MOST_THREADS ? MGPU_OPS_MOST_THREADS / threads : ctas;
}

template <int threads_, int items_, int resident_, int ahead_ = 1, bool loads_by_l1_ = true>
struct mgpu_ops_tuning
{
	static constexpr int threads = threads_;
	static constexpr int items_per_thread = items_;
	static constexpr int resident = mgpu_most_resident(threads_, resident_);
	static constexpr int ahead = ahead_;
	static constexpr bool loads_by_l1 = loads_by_l1_;	/* device/tile_copy.cuh */
	static constexpr uint32_t tile_items = threads_ * items_;
};

/*
 * Merge of keys alone, by key width: outputs stay in registers.  Odd items per
 * thread spread a warp's accesses over all banks.
 */
template <int key_bytes>
struct mgpu_merge_keys_tuning : mgpu_ops_tuning<256, 31, 4, 2>
{
};

template <>
struct mgpu_merge_keys_tuning<8> : mgpu_ops_tuning<256, 15, 4, 2>
{
};

/*
 * Merge by sources, for pairs and 16-byte keys: keys and 2-byte sources in shared memory.  Values
 * use the first-level cache.
 */
template <int key_bytes>
struct mgpu_merge_pairs_tuning : mgpu_ops_tuning<256, 23, 5, 1, false>
{
};

template <>
struct mgpu_merge_pairs_tuning<8> : mgpu_ops_tuning<256, 15, 5, 1, false>
{
};

template <>
struct mgpu_merge_pairs_tuning<16> : mgpu_ops_tuning<256, 9, 3, 1, false>
{
};

/* Bulk remove and insert, by item width.  A warp makes masks of 32 items a lane, so a thread has at most 32 items. */
template <int item_bytes>
struct mgpu_bulk_tuning;

template <>
struct mgpu_bulk_tuning<1>
{
	typedef mgpu_ops_tuning<256, 32, 8> remove;
	typedef mgpu_ops_tuning<256, 32, 8> insert;
};

template <>
struct mgpu_bulk_tuning<2>
{
	typedef mgpu_ops_tuning<256, 32, 4> remove;
	typedef mgpu_ops_tuning<256, 32, 8> insert;
};

template <>
struct mgpu_bulk_tuning<4>
{
	typedef mgpu_ops_tuning<256, 32, 4> remove;
	typedef mgpu_ops_tuning<256, 16, 8> insert;
};

template <>
struct mgpu_bulk_tuning<8>
{
	typedef mgpu_ops_tuning<256, 16, 4> remove;
	typedef mgpu_ops_tuning<512, 8, 4> insert;
};

template <>
struct mgpu_bulk_tuning<16>
{
	typedef mgpu_ops_tuning<256, 8, 4> remove;
	typedef mgpu_ops_tuning<512, 4, 4> insert;
};

template <int item_bytes>
using mgpu_remove_tuning = typename mgpu_bulk_tuning<item_bytes>::remove;

template <int item_bytes>
using mgpu_insert_tuning = typename mgpu_bulk_tuning<item_bytes>::insert;

/* Tiles of one list go through registers for keys of this many bytes or more. */
#define MGPU_MERGE_COPY_MIN_BYTES 4

/* A list of this many items or fewer is short: nearly all tiles are copies of the other. */
#define MGPU_MERGE_SHORT_ITEMS 1024

/* Values that a thread moves at a time in a merge of pairs. */
#define MGPU_MERGE_VALUES_AT_ONCE 8

/* In a remove, items up to this many bytes are staged (in and out) or packed (out) through shared memory. */
#define MGPU_REMOVE_STAGED_BYTES 1
#define MGPU_REMOVE_PACKED_BYTES 4

/* Positions that a thread loads at a time. */
#define MGPU_REMOVE_POSITIONS_AT_ONCE 12
#define MGPU_INSERT_POSITIONS_AT_ONCE 8

/*
 * Up to this many tiles, every CTA searches its own two boundaries.  Beyond, one launch finds them
 * all.  A tile's own search takes 2 us of latency, the launch about 7 us in all.
 */
#define MGPU_OPS_SEARCH_IN_TILE_TILES UINT64_C(2048)

/*
 * Probes a round of a search within a CTA.  Two searches share a warp.  No interpolation: removes
 * would spill registers.
 */
#define MGPU_OPS_TILE_PROBES 16

/*
 * Probes a round of the launch's searches, for up to MGPU_OPS_FEW_TILES tiles and for more.  Few tiles wait
 * for rounds; many wait for the sectors that probes read.
 */
#define MGPU_OPS_FEW_TILES UINT64_C(8000)
#define MGPU_OPS_FEW_PROBES 8
#define MGPU_OPS_MANY_PROBES 4
#define MGPU_OPS_MANY_MERGE_PROBES 2

#define MGPU_OPS_LAUNCH_THREADS 128

/*
 * Tiles that receive splits while the launch searches: as many as a device holds at a time, or
 * more; and the words for them and for those that they prefetch.
 */
#define MGPU_OPS_RECEIVING_TILES 1536
#define MGPU_OPS_WORDS 2048

/*
 * The first probes lie within this many roots of the range around the expected place
 * (device/split_search.cuh).  Random lists have it within three roots for all but a few in a
 * million tiles; the launch's fewer roots cost one or two boundaries in a hundred a round more.
 */
#define MGPU_OPS_TILE_ROOTS 3.0f
#define MGPU_OPS_LAUNCH_ROOTS 1.5f

/* The search for the first item out of order. */
#define MGPU_UNSORTED_THREADS 256
#define MGPU_UNSORTED_CTAS 1024

/* The odd-even network.  A CTA works on 32 kB in shared memory: a tile of neighbours, or 256 rows of 128 bytes. */
#define MGPU_ODD_EVEN_BYTES 32768
#define MGPU_ODD_EVEN_ROW_BYTES 128
#define MGPU_ODD_EVEN_LOG_ITEMS 4

/*
 * Strides of 1, 2 ... rows in a launch in the middle of a level: k strides need 2^k extra rows on
 * both sides. 5 strides write 192 of 256 rows, 4 write 224.
 */
#define MGPU_ODD_EVEN_MIDDLE_STRIDES 5

#endif							/* MGPU_MERGE_TUNING_CUH */
