/*
 * sort/radix_tuning.cuh
 *		Sizes of the radix sort.
 *
 * A pass gains most from what an SM holds of it: items in registers, their places, and a tile in
 * shared memory.  Large tiles write longer pieces and look back less often.  Three CTAs of 8 warps
 * an SM are in different steps at any time, so memory, shared memory and integer units are all
 * busy.  With indices, two larger CTAs.  Measured on compute capability 9.0 (NOTES.md).  Devices
 * with less than 160 kB of shared memory an SM use CUB.
 */
#ifndef MGPU_SORT_RADIX_TUNING_CUH
#define MGPU_SORT_RADIX_TUNING_CUH

#include <stdint.h>

#define MGPU_RADIX_BITS 8
#define MGPU_RADIX_DIGITS 256

template <int threads_, int items_, int ctas_>
struct mgpu_radix_tuning
{
	static constexpr uint32_t threads = threads_;
	static constexpr uint32_t items_per_thread = items_;
	static constexpr uint32_t ctas = ctas_; /* an SM, that registers must allow */
	static constexpr uint32_t tile_items = threads_ * items_;

	static_assert(threads_ >= MGPU_RADIX_DIGITS, "a thread a digit");
	static_assert(tile_items <= UINT16_MAX, "places in a tile have 16 bits");
	static_assert(tile_items >= 4096, "two words a tile and digit fit the temporary memory of sort/sorter.cu");
};

typedef mgpu_radix_tuning<256, 43, 3> mgpu_radix_tuning_u32;
typedef mgpu_radix_tuning<256, 23, 3> mgpu_radix_tuning_u64;
typedef mgpu_radix_tuning<384, 23, 2> mgpu_radix_tuning_u32_index;
typedef mgpu_radix_tuning<384, 17, 2> mgpu_radix_tuning_u64_index;

/* Most items of a sort: a tile's word has 30 bits for a sum. */
#define MGPU_RADIX_MAX_ITEMS ((UINT64_C(1) << 30) - 1)

/*
 * Counting all keys once: threads a CTA, 16-byte vectors that a thread loads at a time, and bytes
 * of counts a CTA.  Lanes have 8 copies of these (4-byte keys) or 4, which gain a tenth at a
 * million 4-byte keys.
 */
#define MGPU_RADIX_COUNT_THREADS 512
#define MGPU_RADIX_COUNT_VECTORS 4
#define MGPU_RADIX_COUNT_BYTES 32768

#endif							/* MGPU_SORT_RADIX_TUNING_CUH */
