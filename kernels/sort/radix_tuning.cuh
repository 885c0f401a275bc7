/*
 * sort/radix_tuning.cuh
 *		Sizes of the radix sort, as data in one place.
 *
 * What an SM holds of a pass counts most: items in registers, their places, and a
 * tile in shared memory.  Large tiles write longer pieces and look back less
 * often; CTAs of 8 warps, three to an SM, are in different steps at any time, so
 * that memory, shared memory and integer units are all in use.  With indices there
 * are more registers an item, and two larger CTAs an SM.  Measured on a 9.0 chip;
 * NOTES.md has the others.  Chips with less than 160 kB of shared memory, which two
 * or three CTAs fit, sort by CUB.
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
	static_assert(tile_items >= 4096, "two words a tile and digit fit the temporary memory of device_sort.cu");
};

typedef mgpu_radix_tuning<256, 43, 3> mgpu_radix_tuning_u32;
typedef mgpu_radix_tuning<256, 23, 3> mgpu_radix_tuning_u64;
typedef mgpu_radix_tuning<384, 23, 2> mgpu_radix_tuning_u32_index;
typedef mgpu_radix_tuning<384, 17, 2> mgpu_radix_tuning_u64_index;

/*
 * Sorts on the chip (sort/single_launch_kernels.cuh): one CTA an SM, which holds its tile in
 * registers.  256 threads with twice the items take 3 to 6 % longer, 1,024 have too few
 * registers and take half as long again.  The large tile is for 4-byte keys that the
 * other does not hold.  With indices, or 8 bytes, it has no registers for its items:
 * with these the radix sort by passes comes near.
 */
typedef mgpu_radix_tuning<512, 16, 1> mgpu_single_launch_tuning;
typedef mgpu_radix_tuning<512, 32, 1> mgpu_single_launch_tuning_u32_large;

#define MGPU_SINGLE_LAUNCH_MIN_ITEMS (UINT64_C(1) << 15)

/* Items that an SM holds, by shape (sort/sorter.h). */
#define MGPU_SINGLE_LAUNCH_SM_ITEMS \
	{mgpu_single_launch_tuning_u32_large::tile_items, mgpu_single_launch_tuning::tile_items, mgpu_single_launch_tuning::tile_items, \
		mgpu_single_launch_tuning::tile_items}

/* Most items of a sort: a tile's word has 30 bits for a sum. */
#define MGPU_RADIX_MAX_ITEMS ((UINT64_C(1) << 30) - 1)

/*
 * Counting all keys once: threads a CTA, 16-byte vectors a thread has on their way,
 * and bytes of counts a CTA, of which lanes have 8 copies (4-byte keys) or 4.  Copies
 * gain a tenth at a million 4-byte keys and nothing where memory is the limit.
 */
#define MGPU_RADIX_COUNT_THREADS 512
#define MGPU_RADIX_COUNT_VECTORS 4
#define MGPU_RADIX_COUNT_BYTES 32768

#endif							/* MGPU_SORT_RADIX_TUNING_CUH */
