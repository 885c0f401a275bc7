/*
 * segmented/segmented.h
 *		Segmented sort and locality sort of codes that are on the device.
 *
 * A segmented sort sorts inside segments: no item leaves its segment.  A
 * locality sort is the same sort of one segment, for data that are near their
 * sorted places.  Both leave alone what is in order already and count, pass by
 * pass, what they did touch.
 *
 * As with the other sorts (sort/sorter.h), a launch allocates nothing, waits for
 * nothing and enqueues all its work on one stream.  Keys are unsigned codes;
 * sorts with an index are stable and index their input from 0.
 */
#ifndef MGPU_SEGMENTED_SEGMENTED_H
#define MGPU_SEGMENTED_SEGMENTED_H

#include <stdbool.h>

#include "core/executor.h"
#include "sort/sorter.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a sort did, on the device, valid once the stream got there.  A pass
 * merges neighbouring lists of tiles; the last one gathers what earlier passes
 * left in the other region.  Of num_tiles in each pass, merge_tiles were merged,
 * copy_tiles copied, and the rest not touched.  The layout is that of
 * mgpu_run_stats: 64-bit counts.
 */
typedef struct mgpu_segmented_stats
{
	uint64_t	num_tiles;
	uint64_t	num_passes;		/* 0: one CTA sorted it all, or none was counted */
	mgpu_pass_stats passes[MGPU_MAX_PASSES];
} mgpu_segmented_stats;

/*
 * Both regions have mgpu_segmented_region_bytes, are aligned to 256 bytes and
 * may be overwritten whole.  A region holds keys from its start and indices
 * mgpu_segmented_index_offset bytes behind it; for MGPU_SHAPE_U32_INDEX that is
 * the layout of mgpu_sort_request.  Input are the keys in regions[current],
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
	bool		count_passes;	/* stats say what passes did; else a way without may be taken, which counts none */
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

/* What the ways to sort some keys will cost. */
typedef struct mgpu_cost_estimate
{
	double		passes;			/* of a locality sort, over all items; one that moves a part of them counts as that part */
	double		locality_ms;
	double		radix_ms;
	double		merge_ms;
	uint32_t	key_bits;		/* all keys are alike in higher ones: a radix sort need not look at them */
	mgpu_algorithm choice;		/* the one to run: LOCALITY, RADIX or MERGE */
} mgpu_cost_estimate;

/*
 * Look at a sample of a locality sort's keys, of which the lowest key_bits bits
 * differ.  Enqueues a small kernel and waits for the stream, and then perhaps a
 * kernel that reads all keys, and waits again.  The first look of a process allocates a few kB of pinned memory, which it keeps.  One thread at a
 * time, as everywhere here.
 */
cudaError_t mgpu_estimate_costs(const mgpu_segmented_request *request, uint32_t key_bits, mgpu_cost_estimate *estimate);

/*
 * How many low bits of a sort's keys, in whole digits of a radix sort, are not the
 * same in all of them; at most request->key_bits.  Reads all keys, and waits.
 */
cudaError_t mgpu_read_key_bits(mgpu_sort_shape shape, const mgpu_sort_request *request, uint32_t *key_bits);

/* The sorts behind it, one key size a translation unit. */
cudaError_t mgpu_segmented_sort_u32(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u64(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u32_index(const mgpu_segmented_request *request);
cudaError_t mgpu_segmented_sort_u64_index(const mgpu_segmented_request *request);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SEGMENTED_SEGMENTED_H */
