/*
 * engine/run.h
 *		One run of the CUDA engine.
 *
 * A run has one block of device memory, in which its arrays lie (layout.h), and knows its outputs
 * once its kernels are enqueued.  How far it is, its caller knows.
 */
#ifndef MGPU_ENGINE_RUN_H
#define MGPU_ENGINE_RUN_H

#include "device/map.h"
#include "engine/layout.h"
#include "engine/process.h"

typedef struct mgpu_run_output
{
	const char *d_items;		/* NULL: not an output of the job */
	uint64_t	bytes;
} mgpu_run_output;

struct mgpu_engine_run
{
	mgpu_job	job;
	int			inject_fault;
	mgpu_cuda_layout layout;
	mgpu_cuda_device *device;
	char	   *arena;			/* NULL for an empty job */
	uint64_t	sent_bytes[MGPU_NUM_INPUTS];
	bool		launched;		/* or tried to */
	bool		ended;			/* kernels and what was in front of them */
	mgpu_run_output outputs[MGPU_NUM_OUTPUTS];
	struct mgpu_group_run *group;	/* of MGPU_OP_GROUP alone (run_group.h) */
	cudaEvent_t uploaded;
	cudaEvent_t decoded;		/* in the stream of batches of pages */
	cudaEvent_t kernels_begin;
	cudaEvent_t kernels_end;
	mgpu_run_stats stats;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Enqueue everything between the last upload and the first download on the compute stream, and
 * record the outputs.  Waits for nothing, except that large sorts under `auto` wait for the probe of
 * their keys (mgpu_auto_sort).
 */
cudaError_t mgpu_run_launch(mgpu_engine_run *run);

/* What mgpu_run_launch enqueues for jobs that do not sort (run_ops.cu). */
cudaError_t mgpu_run_merge(mgpu_engine_run *run);
cudaError_t mgpu_run_bulk(mgpu_engine_run *run);
cudaError_t mgpu_run_odd_even_sort(mgpu_engine_run *run);

/* A segmented or locality sort, in place of a plain sort (run_segmented.cu). */
cudaError_t mgpu_run_segmented_sort(mgpu_engine_run *run, mgpu_sort_request *request);

/* After the kernels: a few bytes of the arena, for which it waits. */
cudaError_t mgpu_run_fetch(const mgpu_engine_run *run, void *target, uint64_t offset, uint64_t bytes);

/* After the kernels: fetch what the passes of a segmented sort did. */
mgpu_status mgpu_run_read_passes(mgpu_engine_run *run, mgpu_error *err);

/* After the kernels: MGPU_NOT_SORTED if a merge's input was not sorted.  The run then says which input and where. */
mgpu_status mgpu_run_check_order(mgpu_engine_run *run, mgpu_error *err);

/* Record one of the job's outputs, which the kernels enqueued so far will have written. */
void		mgpu_run_add_output(mgpu_engine_run *run, mgpu_output output, const void *d_items, uint32_t item_bytes);

/* Decode sorted codes, on side `current` of two, and record them as the keys. */
cudaError_t mgpu_run_output_keys(mgpu_engine_run *run, void *const keys[2], int current);

mgpu_codec	mgpu_run_codec(const mgpu_engine_run *run);

/*
 * Encode keys of a sort that were just sent, behind them on the copy stream.  Merges compare stored
 * bytes: nothing to do.
 */
cudaError_t mgpu_run_encode(mgpu_engine_run *run, uint64_t first_item, uint64_t num_items);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_ENGINE_RUN_H */
