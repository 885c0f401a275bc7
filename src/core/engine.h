/*
 * engine.h
 *		What runs jobs on devices: memory and kernels there, copies to and from it.
 *
 * Calls return at once, and what is under way is asked after, so one thread can serve
 * many runs (service/host.h).  Some wait for a moment: start and pin; launch, for what
 * it must know of the keys; poll, for a few bytes about a sort in segments or a merge;
 * open and release of gigabytes.  Copies go between a run's device
 * memory and host memory that was pinned, which the caller leaves alone until the
 * copy has landed.
 *
 *	 open ── upload … (each input, in order) ── launch ── poll … (until MGPU_OK)
 *		 ── download … ── release
 *
 * All calls come from one thread.  After a failed call of a run, only release is
 * allowed.  A sticky error loses all devices: check tells, and from then on every
 * call fails.
 */
#ifndef MGPU_ENGINE_H
#define MGPU_ENGINE_H

#include "executor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs of a job: its channels, then what is never streamed. */
#define MGPU_INPUT_POSITIONS MGPU_NUM_CHANNELS	/* uint32, REMOVE and INSERT */
#define MGPU_INPUT_SEGMENT_HEADS (MGPU_NUM_CHANNELS + 1)	/* uint32 */
#define MGPU_NUM_INPUTS (MGPU_NUM_CHANNELS + 2)

/* Those of GROUP are its records or marks and, from MGPU_OUTPUT_SORTED on, the values of each sort or column. */
typedef enum mgpu_output
{
	MGPU_OUTPUT_KEYS = 0,
	MGPU_OUTPUT_INDICES,
	MGPU_OUTPUT_VALUES,
	MGPU_OUTPUT_GROUPS,
	MGPU_OUTPUT_SORTED,
	MGPU_NUM_OUTPUTS = MGPU_OUTPUT_SORTED + MGPU_GROUP_MAX_VALUES
} mgpu_output;

/* What a GROUP job needs beside the job. */
typedef struct mgpu_group_source
{
	const mgpu_group_spec *spec;	/* valid */
	const char *pages;			/* that devices can read where they are: shared buffers, those in use pinned */
	uint64_t	num_pages;		/* 0: none, batches have copies alone */
	char	   *kept;			/* pages that this device keeps, in memory that it was asked to take; NULL: none */
	uint64_t	num_kept;
} mgpu_group_source;

typedef enum mgpu_direction
{
	MGPU_UPLOAD = 0,
	MGPU_DOWNLOAD
} mgpu_direction;

#define MGPU_MAX_DEVICES 16

/* Copies of one direction that may be under way on one device. */
#define MGPU_MAX_COPIES 64

typedef struct mgpu_engine_run mgpu_engine_run;

typedef struct mgpu_engine
{
	/* Whether the machine seems to have a device.  Asks no driver, so a process that will fork may call it. */
	bool		(*is_present) (void);

	/* As in mgpu_executor. */
	mgpu_status (*num_devices) (int *count, mgpu_error *err);

	/*
	 * Make a device ready: context, code, streams.  device -1: a device in use
	 * already, else one of the best, chosen by the process id so that processes
	 * spread.  *device: the one that is ready.
	 */
	mgpu_status (*start) (int *device, mgpu_error *err);

	/* Whether some device is ready. */
	bool		(*is_started) (void);

	/* MGPU_OK, or MGPU_DEVICE_FAILED once the devices are lost. */
	mgpu_status (*check) (mgpu_error *err);

	/* Describe a device, which it makes ready first. */
	mgpu_status (*describe) (int device, mgpu_device *facts, mgpu_error *err);

	/*
	 * Pin host memory for all devices, until the process ends.  Page-aligned, once
	 * for each page.  MGPU_HOST_MEMORY if it cannot be had.
	 */
	mgpu_status (*pin) (void *memory, uint64_t bytes, mgpu_error *err);

	/*
	 * Device memory of a ready device, until the process ends, for pages that it keeps.  Batches say which pages go there, and
	 * which are read there.  Of those that a run stores, it reads none.  MGPU_DEVICE_MEMORY if there is not enough.
	 */
	mgpu_status (*keep) (int device, uint64_t bytes, char **memory, mgpu_error *err);

	/*
	 * Start a run on a ready device: check the job and options, take device memory.
	 * MGPU_DEVICE_MEMORY if there is not enough.  On failure *run is NULL.  group: for
	 * GROUP only, and copied.  Such a run takes memory as rows come.
	 */
	mgpu_status (*open) (int device, const mgpu_job *job, const mgpu_group_source *group,
						 const mgpu_exec_options *options, mgpu_engine_run **run, mgpu_error *err);

	/*
	 * The next bytes of an input: whole items, from pinned memory.  The caller sees
	 * to it that no more than the input's bytes are sent, and that no more than
	 * MGPU_MAX_COPIES are under way.
	 *
	 * GROUP: a batch of one page or more, channel MGPU_CHANNEL_KEYS.  bytes are those of its mgpu_page_refs; copies of pages lie
	 * where group_spec.h says.  Pages are read until the batch has landed.  They may be damaged, or change
	 * meanwhile: then rows are wrong, or the run ends with MGPU_UNSUPPORTED, and nothing else happens.
	 */
	mgpu_status (*upload) (mgpu_engine_run *run, int input, const void *source, uint64_t bytes, mgpu_error *err);

	/* All inputs were uploaded or are on their way: start the kernels behind them. */
	mgpu_status (*launch) (mgpu_engine_run *run, mgpu_error *err);

	/*
	 * After launch.  MGPU_PENDING: the kernels run.  MGPU_OK: outputs are complete on
	 * the device.  MGPU_NOT_SORTED: see stats.  MGPU_UNSUPPORTED: the device cannot group these rows.
	 */
	mgpu_status (*poll) (mgpu_engine_run *run, mgpu_error *err);

	/* GROUP, once poll returned MGPU_OK: the sizes of the outputs. */
	void		(*group_result) (const mgpu_engine_run *run, mgpu_group_result *result);

	/* Bytes of an output from offset on, to pinned memory. */
	mgpu_status (*download) (mgpu_engine_run *run, mgpu_output output, uint64_t offset, void *target, uint64_t bytes,
							 mgpu_error *err);

	/* *landed: copies of this device and direction that have ended, in the order of their calls, of all so far. */
	mgpu_status (*landed) (int device, mgpu_direction direction, uint64_t *landed, mgpu_error *err);

	/* Fills all but num_threads.  Allowed after poll ended and until release. */
	void		(*stats) (const mgpu_engine_run *run, mgpu_run_stats *stats);

	/*
	 * Free a run whose copies have all landed, and whose kernels, if launched, have
	 * ended or failed.  If the devices are lost, at any time.
	 */
	void		(*release) (mgpu_engine_run *run);
} mgpu_engine;

/* The CUDA devices.  A build without CUDA has none (no_cuda_engine.c). */
extern const mgpu_engine mgpu_cuda_engine;

/* The engine that this process uses: CUDA's, or a played one in tests. */
const mgpu_engine *mgpu_engine_here(void);

/* Whether this build can have devices at all. */
bool		mgpu_engine_is_built(void);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_ENGINE_H */
