/*
 * engine/process.h
 *		What one process holds on its devices for all its runs.
 *
 * Contexts, streams and copies under way of each device are made on first use and kept.  The driver
 * tears them down when the process exits.  All calls come from one thread.
 *
 * A sticky CUDA error loses the context for good.  The first one is remembered, and from then on
 * nothing here touches CUDA: callers ask mgpu_cuda_check_process first.
 */
#ifndef MGPU_ENGINE_PROCESS_H
#define MGPU_ENGINE_PROCESS_H

#include <cuda_runtime.h>

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MGPU_NUM_DIRECTIONS 2

/* Copies of one direction, in the order in which they were sent.  Entries are used in turn. */
typedef struct mgpu_copies
{
	cudaStream_t stream;
	uint64_t	num_sent;		/* of all so far */
	uint64_t	num_landed;
	cudaEvent_t begin[MGPU_MAX_COPIES]; /* NULL before first use */
	cudaEvent_t end[MGPU_MAX_COPIES];
	double	   *elapsed_ms[MGPU_MAX_COPIES];	/* that the copy's time is added to */

	/* a kernel that reads host memory itself: its stream, else NULL; when it was sent; what it writes its number to */
	cudaStream_t readers[MGPU_MAX_COPIES];
	double		sent_ms[MGPU_MAX_COPIES];
	uint64_t   *flags;			/* pinned, NULL before first use */
	double		read_ms;		/* when the last one had read all */
} mgpu_copies;

typedef struct mgpu_cuda_device
{
	int			ordinal;
	bool		ready;			/* context and streams exist */
	cudaMemPool_t pool;
	cudaStream_t memory_stream; /* takes and gives device memory, nothing else: always idle */
	cudaStream_t compute_stream;
	cudaStream_t decode_stream; /* batches of pages */
	mgpu_copies copies[MGPU_NUM_DIRECTIONS];	/* keys are encoded behind their uploads */
} mgpu_cuda_device;

/* MGPU_OK, or MGPU_DEVICE_FAILED after a sticky error. */
mgpu_status mgpu_cuda_check_process(mgpu_error *err);

/*
 * Turn a CUDA error into a status and a message that starts with `doing`.  Out of memory is
 * MGPU_DEVICE_MEMORY, anything else MGPU_DEVICE_FAILED, which is remembered if the context is lost.
 * Clears CUDA's last error.
 */
mgpu_status mgpu_cuda_error(mgpu_error *err, cudaError_t code, const char *doing);

/* Whether the kernel has NVIDIA's driver, or WSL's.  Touches no driver. */
bool		mgpu_cuda_is_present(void);

/* As in mgpu_engine. */
mgpu_status mgpu_cuda_num_devices(int *count, mgpu_error *err);
mgpu_status mgpu_cuda_start(int *device, mgpu_error *err);
bool		mgpu_cuda_is_started(void);
mgpu_status mgpu_cuda_describe(int device, mgpu_device *facts, mgpu_error *err);
mgpu_status mgpu_cuda_pin(void *memory, uint64_t bytes, mgpu_error *err);

/* Make a ready device current.  MGPU_BAD_JOB if it was not started. */
mgpu_status mgpu_cuda_enter(int ordinal, mgpu_cuda_device **device, mgpu_error *err);

/*
 * Device memory for one run, which all streams may use at once.  MGPU_DEVICE_MEMORY if there is not
 * enough.
 */
mgpu_status mgpu_cuda_take_memory(const mgpu_cuda_device *device, uint64_t bytes, void **memory, mgpu_error *err);

/* Give it back when nothing on the device uses it any more. */
cudaError_t mgpu_cuda_give_memory(const mgpu_cuda_device *device, void *memory);

/* ---------------------------------------------------------------- copies */

/*
 * Send one copy; its time is added to *elapsed_ms when it has landed.  There is room for it.  After
 * a failure nothing was sent.
 */
cudaError_t mgpu_copies_send(mgpu_copies *copies, void *target, const void *source, uint64_t bytes, double *elapsed_ms);

/*
 * A kernel that reads host memory counts as a copy: begin, launch it, and end, with the code of both.  It has landed when
 * it has written *number to *flag.  Its time is that in which it was the oldest one that had not landed.
 */
cudaError_t mgpu_copies_begin_read(mgpu_copies *copies, cudaStream_t stream, uint64_t **flag, uint64_t *number);
cudaError_t mgpu_copies_end_read(mgpu_copies *copies, cudaError_t code, double *elapsed_ms);

/* Take the newest copy back as if it had failed.  Waits for what is in its stream. */
void		mgpu_copies_retract(mgpu_copies *copies);

/* Count what has landed. */
cudaError_t mgpu_copies_land(mgpu_copies *copies);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_ENGINE_PROCESS_H */
