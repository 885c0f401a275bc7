/*
 * device/tuning.cuh
 *		Sizes that all kernels share.  Each folder has a tuning file of its own.
 *
 * Sizes are compile-time constants, because loops over registers must be unrolled.
 * Sizes computed from the device at run time were rejected for that reason.
 */
#ifndef MGPU_DEVICE_TUNING_CUH
#define MGPU_DEVICE_TUNING_CUH

#include <stdint.h>

/*
 * Two classes of device, by shared memory an SM.  Large: 160 kB or more (compute capability
 * 8.0, 9.0, 10.0).  Small: 64 to 100 kB (7.5, 8.6, 8.9, 12.0).
 */
#define MGPU_LARGE_SHARED_BYTES (160 * 1024)

/* Shared memory that a CTA has without asking. */
#define MGPU_PLAIN_SHARED_BYTES (48 * 1024)

/* Element-wise kernels (encode, decode, gather): items a thread, threads a CTA. */
#define MGPU_MAP_ITEMS 8
#define MGPU_MAP_THREADS 256

/*
 * Searches for splits that interpolate (split_search.cuh), and the probes of a round.  From
 * MGPU_SPLIT_NEAR_MIN_RANGE items on, the first probes lie within so many roots of the range around
 * the place where the split is expected: random lists have it there for all but one or two
 * boundaries in a hundred.
 */
#define MGPU_SPLIT_LANES 4
#define MGPU_SPLIT_NEAR_MIN_RANGE 4096
#define MGPU_SPLIT_NEAR_ROOTS 1.5f

/*
 * Interpolating probes reach this many roots of the items between the predicted place and the
 * nearer end.  A round that leaves more than even probes would have left multiplies that
 * reach by the growth; after MGPU_SPLIT_GUESSES such rounds all probes are even.
 */
#define MGPU_SPLIT_GUESS_ROOTS 2.0f
#define MGPU_SPLIT_GUESS_GROWTH 4.0f
#define MGPU_SPLIT_GUESSES 2

#endif							/* MGPU_DEVICE_TUNING_CUH */
