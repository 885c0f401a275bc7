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

/*
 * Bulk remove and insert, by item width.  A warp makes masks of 32 items a lane, so a thread has at
 * most 32 items.  A remove holds them in registers while positions load.
 */
template <int item_bytes>
using mgpu_remove_tuning = mgpu_ops_tuning<256, item_bytes <= 4 ? 32 : 128 / item_bytes, 4>;

template <int item_bytes>
using mgpu_insert_tuning = mgpu_ops_tuning<item_bytes <= 4 ? 256 : 512, item_bytes <= 2 ? 32 : 64 / item_bytes,
										   item_bytes <= 4 ? 8 : 4>;

/* Positions that a thread loads at a time. */
#define MGPU_BULK_POSITIONS_AT_ONCE 8

/* Tiles of one list go through registers for keys of this many bytes or more. */
#define MGPU_MERGE_COPY_MIN_BYTES 4

/* Values that a thread moves at a time in a merge of pairs. */
#define MGPU_MERGE_VALUES_AT_ONCE 8

/* Threads of a CTA that searches for boundaries. */
#define MGPU_OPS_SEARCH_THREADS 128

/* The search for the first item out of order. */
#define MGPU_UNSORTED_THREADS 256
#define MGPU_UNSORTED_CTAS 1024

/* The odd-even network.  A CTA works on 32 kB in shared memory: a tile of neighbours, or 256 rows of 128 bytes. */
#define MGPU_ODD_EVEN_BYTES 32768
#define MGPU_ODD_EVEN_ROW_BYTES 128
#define MGPU_ODD_EVEN_ITEMS 16

/*
 * Strides of 1, 2 ... rows in a launch in the middle of a level: k strides need 2^k extra rows on
 * both sides. 5 strides write 192 of 256 rows.
 */
#define MGPU_ODD_EVEN_MIDDLE_STRIDES 5

#endif							/* MGPU_MERGE_TUNING_CUH */
