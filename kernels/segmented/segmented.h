/*
 * segmented/segmented.h
 *		Segmented sort and locality sort of codes that are on the device.
 *
 * A segmented sort sorts inside segments.  A locality sort is the same sort of one segment, for
 * data near their sorted places.  Both leave alone what is in order and count, pass by pass, what
 * they touched.
 *
 * A launch allocates nothing, waits for nothing and enqueues all its work on one stream.  Keys are
 * unsigned codes.  Sorts with an index are stable and index their input from 0.
 */
#ifndef MGPU_SEGMENTED_SEGMENTED_H
#define MGPU_SEGMENTED_SEGMENTED_H

#include "core/executor.h"
#include "sort/sorter.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a sort did, on the device, valid once the stream got there.  A pass merges neighbouring
 * lists of tiles; the last one gathers what earlier passes left in the other region.  Of num_tiles
 * in each pass, merge_tiles were merged, copy_tiles copied, and the rest not touched.  The layout
 * is that of mgpu_run_stats.
 */
typedef struct mgpu_segmented_stats
{
	uint64_t	num_tiles;
	uint64_t	num_passes;		/* 0: one CTA sorted it all */
	mgpu_pass_stats passes[MGPU_MAX_PASSES];
} mgpu_segmented_stats;

/*
 * Both regions have mgpu_segmented_region_bytes, are aligned to 256 bytes and may be overwritten.
 * A region holds keys from its start and indices mgpu_segmented_index_offset bytes behind; for
 * MGPU_SHAPE_U32_INDEX that is the layout of mgpu_sort_request.  Keys come in regions[current],
 * where the result goes too.
 */
typedef struct mgpu_segmented_request
{
	mgpu_sort_shape shape;
	void	   *regions[2];
	int			current;
	uint64_t	num_items;		/* 1 to MGPU_MAX_ITEMS */
	const uint32_t *segment_heads;	/* on the device: ascending, unique, the first is 0 */
	uint64_t	num_segments;	/* 0 and NULL: a locality sort */
	mgpu_segmented_stats *stats;	/* on the device, aligned to 8 bytes */
	void	   *temp;			/* aligned to 256 bytes */
	uint64_t	temp_bytes;
	cudaStream_t stream;
} mgpu_segmented_request;

uint64_t	mgpu_segmented_region_bytes(mgpu_sort_shape shape, uint64_t num_items);
uint64_t	mgpu_segmented_index_offset(mgpu_sort_shape shape, uint64_t num_items);

/* Temporary bytes, from counts alone: no device is asked. */
uint64_t	mgpu_segmented_temp_bytes(mgpu_sort_shape shape, uint64_t num_items);

cudaError_t mgpu_launch_segmented_sort(const mgpu_segmented_request *request);

/* The sorts, one translation unit for each key size. */
cudaError_t mgpu_segmented_sort_u32(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u64(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u32_index(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u64_index(const mgpu_segmented_request *request);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SEGMENTED_SEGMENTED_H */
