/*
 * executor/download.h
 *		Large results on their way to pageable memory, copied by several threads.
 *
 * The device fills slots of the pinned ring while threads empty others:
 *
 *	 retired        landed         sent
 *	    | being copied | being filled | free ... (slots in turn)
 *
 * One mgpu_download belongs to one run.  Its threads run no PostgreSQL code, make no CUDA call,
 * have all signals blocked, and end in mgpu_download_stop.
 */
#ifndef MGPU_EXECUTOR_DOWNLOAD_H
#define MGPU_EXECUTOR_DOWNLOAD_H

#include "executor/process.h"

/* One output, on its way back. */
typedef struct mgpu_run_output
{
	const char *d_items;
	char	   *items;
	uint64_t	total_bytes;
	uint64_t	asked_bytes;	/* sent to slots, or received */
	uint64_t	received_bytes;
} mgpu_run_output;

typedef struct mgpu_download mgpu_download;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Start threads for outputs of total_bytes in all; num_threads is the limit, the caller included.
 * NULL: not worth it, not allowed, or no thread available.  The driver's copies serve as well.
 */
mgpu_download *mgpu_download_start(uint64_t total_bytes, int num_threads);

/* Threads that copy, the caller's included. */
int			mgpu_download_num_threads(const mgpu_download *download);

/*
 * Download for MGPU_DOWNLOAD_POLL_MS at most.  MGPU_OK: all is here.  MGPU_PENDING: call again.
 * MGPU_HOST_MEMORY, from the first call alone: the ring has no slots to spare, and nothing was
 * begun.  The compute stream is idle at the first call.
 */
mgpu_status mgpu_download_run(mgpu_download *download, mgpu_cuda_device *device, mgpu_run_output *outputs,
							  int num_outputs, mgpu_error *err);

/* End the threads.  Nothing writes to outputs afterwards.  NULL is allowed. */
void		mgpu_download_stop(mgpu_download *download);

/*
 * Stop, give the slots back, and free.  No copy may be in flight: all outputs were received, or the
 * compute stream was waited for.  NULL is allowed.
 */
void		mgpu_download_end(mgpu_download *download);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_EXECUTOR_DOWNLOAD_H */
