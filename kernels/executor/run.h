/*
 * executor/run.h
 *		One run of the CUDA executor, and its states.
 *
 *	 FILLING -- submit -- UPLOADING -- LAUNCHING -- RUNNING -- DOWNLOADING -- DONE
 *
 * FILLING takes slots.  UPLOADING sends what the binding holds whole, one chunk a poll.  RUNNING
 * waits for the device.  DOWNLOADING fetches one piece a poll.  A run that fails goes to FAILED,
 * which allows release, and stats if a merge's input was not sorted.
 */
#ifndef MGPU_EXECUTOR_RUN_H
#define MGPU_EXECUTOR_RUN_H

#include "device/map.h"
#include "executor/download.h"
#include "executor/layout.h"
#include "executor/process.h"

typedef enum mgpu_run_state
{
	MGPU_RUN_FILLING = 0,
	MGPU_RUN_UPLOADING,
	MGPU_RUN_LAUNCHING,
	MGPU_RUN_RUNNING,
	MGPU_RUN_DOWNLOADING,
	MGPU_RUN_DONE,
	MGPU_RUN_FAILED
} mgpu_run_state;

/* Inputs are the channels and what the binding always holds whole. */
#define MGPU_INPUT_POSITIONS MGPU_NUM_CHANNELS
#define MGPU_INPUT_SEGMENT_HEADS (MGPU_NUM_CHANNELS + 1)
#define MGPU_NUM_INPUTS (MGPU_NUM_CHANNELS + 2)

/* One input, on its way to the device. */
typedef struct mgpu_run_input
{
	uint64_t	item_bytes;		/* 0: the job has no such input */
	uint64_t	total_bytes;
	uint64_t	sent_bytes;
	const char *whole;			/* in the binding; NULL: it comes through slots */
	char	   *d_items;		/* where items arrive */
	int			held_slot;		/* -1: none */
} mgpu_run_input;

struct mgpu_run
{
	mgpu_job	job;
	mgpu_binding binding;
	int			inject_fault;
	int			num_threads;	/* the limit, the caller included */
	mgpu_cuda_layout layout;
	mgpu_cuda_device *device;
	char	   *arena;			/* NULL for an empty job */
	uint64_t	arena_bytes;
	mgpu_run_state state;
	bool		cancelled;
	mgpu_run_input inputs[MGPU_NUM_INPUTS];
	mgpu_run_output outputs[3];
	int			num_outputs;
	mgpu_download *download;	/* NULL: the driver copies the results */
	int			num_threads_used;
	cudaEvent_t uploaded;
	cudaEvent_t kernels_begin;
	cudaEvent_t kernels_end;
	mgpu_algorithm algorithm;	/* that ran */
	uint64_t	num_tiles;		/* of segmented and locality sorts ... */
	int			num_passes;
	mgpu_pass_stats passes[MGPU_MAX_PASSES];	/* ... counted by the device */
	int			unsorted_input; /* after MGPU_NOT_SORTED */
	uint64_t	unsorted_position;
	double		upload_ms;
	double		kernel_ms;
	double		download_ms;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Enqueue everything between the last upload and the first download on the compute stream, and
 * record the outputs.  Waits for nothing, except that large sorts under `auto` wait for the probe of
 * their keys (mgpu_auto_sort).
 */
cudaError_t mgpu_run_launch(mgpu_run *run);

/* What mgpu_run_launch enqueues for jobs that do not sort (run_ops.cu). */
cudaError_t mgpu_run_merge(mgpu_run *run);
cudaError_t mgpu_run_bulk(mgpu_run *run);
cudaError_t mgpu_run_odd_even_sort(mgpu_run *run);

/* A segmented or locality sort, in place of a plain sort (run_segmented.cu). */
cudaError_t mgpu_run_segmented_sort(mgpu_run *run, mgpu_sort_request *request);

/* After the kernels: fetch what the passes of a segmented sort did. */
mgpu_status mgpu_run_read_passes(mgpu_run *run, mgpu_error *err);

/* After the kernels: MGPU_NOT_SORTED if a merge's input was not sorted.  The run then says which input and where. */
mgpu_status mgpu_run_check_order(mgpu_run *run, mgpu_error *err);

/* Record one of the job's outputs, which the kernels enqueued so far will have written. */
void		mgpu_run_add_output(mgpu_run *run, const void *d_items, void *items, uint32_t item_bytes);

/* Decode sorted codes, on side `current` of two, and record them as the keys. */
cudaError_t mgpu_run_output_keys(mgpu_run *run, void *const keys[2], int current);

mgpu_codec	mgpu_run_codec(const mgpu_run *run);

/*
 * Encode keys of a sort that were just sent, behind them on the copy stream.  Merges compare stored
 * bytes: nothing to do.
 */
cudaError_t mgpu_run_encode(mgpu_run *run, uint64_t first_item, uint64_t num_items);

/*
 * What every call on a run checks first: the process, cancellation, the run's state.  Makes the
 * run's device current.
 */
mgpu_status mgpu_run_enter(mgpu_run *run, mgpu_run_state from, mgpu_run_state to, const char *call,
						   mgpu_error *err);

/* Send the first bytes of a held ring slot, which ends the hold. */
cudaError_t mgpu_run_send(mgpu_run *run, int number, int slot, uint64_t bytes);

/* `bytes` more of an input are on the copy stream: count and encode them. */
cudaError_t mgpu_run_advance(mgpu_run *run, int number, uint64_t bytes);

mgpu_status mgpu_run_poll(mgpu_run *run, mgpu_error *err);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_EXECUTOR_RUN_H */
