/*
 * executor/process.h
 *		What one process holds on its devices for all its runs.
 *
 * Contexts and streams of each device, the pinned ring, and one cached arena a device are made on
 * first use and kept.  The driver tears them down when the process exits.  All calls come from one
 * thread.
 *
 * A sticky CUDA error loses the context for good.  The first one is remembered, and from then on
 * nothing here touches CUDA: callers ask mgpu_cuda_check_process first.
 */
#ifndef MGPU_EXECUTOR_PROCESS_H
#define MGPU_EXECUTOR_PROCESS_H

#include <cuda_runtime.h>

#include "core/executor.h"
#include "executor/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mgpu_cuda_device
{
	int			ordinal;
	bool		ready;			/* context, streams and events exist */
	cudaStream_t copy_stream;	/* host to device, and encoding */
	cudaStream_t compute_stream;	/* the rest */
	cudaEvent_t slot_begin[MGPU_RING_SLOTS];	/* around a ring slot's upload */
	cudaEvent_t slot_end[MGPU_RING_SLOTS];
	void	   *cached_arena;	/* device memory kept between runs, or NULL */
	uint64_t	cached_bytes;
} mgpu_cuda_device;

/* MGPU_OK, or MGPU_DEVICE_FAILED after a sticky error. */
mgpu_status mgpu_cuda_check_process(mgpu_error *err);

/*
 * Turn a CUDA error into a status and a message that starts with `doing`.  Out of memory is
 * MGPU_DEVICE_MEMORY, anything else MGPU_DEVICE_FAILED, which is remembered if the context is lost.
 * Clears CUDA's last error.
 */
mgpu_status mgpu_cuda_error(mgpu_error *err, cudaError_t code, const char *doing);

/* Number of devices; MGPU_NO_DEVICE where none can run this build.  No context. */
mgpu_status mgpu_cuda_count_devices(int *count, mgpu_error *err);

/*
 * Make a device ready and current. requested -1: the device in use already; else one of the usable
 * devices with most multiprocessors, chosen by the process id so that processes spread.
 */
mgpu_status mgpu_cuda_open_device(int requested, mgpu_cuda_device **device, mgpu_error *err);

/* Whether some device is ready. */
bool		mgpu_cuda_is_ready(void);

/* Fill *facts for a ready device. */
mgpu_status mgpu_cuda_describe(const mgpu_cuda_device *device, mgpu_device *facts, mgpu_error *err);

/*
 * Device memory for one run: the cached arena if it is large enough and within limit_bytes (0: no
 * limit), else a new one.  *bytes: in, needed; out, held.
 */
mgpu_status mgpu_arena_take(mgpu_cuda_device *device, uint64_t limit_bytes, void **arena,
							uint64_t *bytes, mgpu_error *err);

/* Give it back. reuse: keep it for the next run if it is not too large. */
void		mgpu_arena_give(mgpu_cuda_device *device, void *arena, uint64_t bytes, bool reuse);

/* ------------------------------------------------------------------ ring */

/*
 * Slots of pinned memory that uploads and downloads use in turn.  A slot is free, held by a run, or
 * in flight to a device.  Waiting for one in flight takes no longer than the copy of one slot.
 */

/* Get a slot to hold.  MGPU_HOST_MEMORY: no pinned memory, or all slots are held. */
mgpu_status mgpu_ring_hold(int *slot, mgpu_error *err);

/* MGPU_RING_SLOT_BYTES to write to, and 4 before them. */
void	   *mgpu_ring_memory(int slot);

/*
 * Send a held slot's first bytes on the copy stream, which ends the hold.  The time of the copy is
 * added to *elapsed_ms once it is known, at the latest in mgpu_ring_settle.
 */
cudaError_t mgpu_ring_send(int slot, mgpu_cuda_device *device, void *destination, uint64_t bytes,
						   double *elapsed_ms);

/* End a hold without a copy. */
void		mgpu_ring_drop(int slot);

/* Afterwards nothing is added to *elapsed_ms and no copy of it is in flight. */
void		mgpu_ring_settle(double *elapsed_ms);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_EXECUTOR_PROCESS_H */
