/*
 * executor/tuning.h
 *		Sizes of the executor's buffers and its patience.
 */
#ifndef MGPU_EXECUTOR_TUNING_H
#define MGPU_EXECUTOR_TUNING_H

#include <stdint.h>

/* The pinned ring of a process: 8 MB, about 3 ms to allocate. */
#define MGPU_RING_SLOTS 8
#define MGPU_RING_SLOT_BYTES (UINT64_C(1) << 20)
#define MGPU_RING_HEADER_BYTES 64

/* The largest piece that one call moves to or from pageable memory by cudaMemcpy. */
#define MGPU_COPY_CHUNK_BYTES (UINT64_C(16) << 20)

/*
 * Results of MGPU_DOWNLOAD_MIN_BYTES and more reach pageable memory through ring slots, which the
 * caller and up to MGPU_DOWNLOAD_THREADS threads empty while others fill.  Smaller ones go by cudaMemcpy.
 * One core copies 7 to 10 GB/s out of pinned memory, cudaMemcpy 11, the link brings 55.
 * Pieces are short, so that the caller is back in time to refill slots.  Some slots stay
 * free for another run's input.
 */
#define MGPU_DOWNLOAD_MIN_BYTES (UINT64_C(8) << 20)
#define MGPU_DOWNLOAD_THREADS 4
#define MGPU_DOWNLOAD_SLOTS 6
#define MGPU_DOWNLOAD_PIECE_BYTES (UINT64_C(256) << 10)

/* How long one poll downloads before it returns to the caller. */
#define MGPU_DOWNLOAD_POLL_MS 10

/* How long a poll spins before the caller may sleep. */
#define MGPU_POLL_SPIN_US 200

/* Device memory kept between runs. */
#define MGPU_ARENA_CACHE_BYTES (UINT64_C(256) << 20)

#endif							/* MGPU_EXECUTOR_TUNING_H */
