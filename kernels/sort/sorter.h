/*
 * sort/sorter.h
 *		Sorts of codes that are on the device: one interface for every algorithm.
 *
 * A sorter never allocates and never waits: it is given temporary memory and enqueues all its work
 * on one stream.  Keys are unsigned codes (key_codec.h).  Sorts with an index are stable and index
 * their input from 0.
 */
#ifndef MGPU_SORT_SORTER_H
#define MGPU_SORT_SORTER_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"

typedef enum mgpu_sort_shape
{
	MGPU_SHAPE_U32 = 0,			/* 4-byte keys alone */
	MGPU_SHAPE_U64,				/* 8-byte keys alone */
	MGPU_SHAPE_U32_INDEX,		/* 4-byte keys and their indices */
	MGPU_SHAPE_U64_INDEX,		/* 8-byte keys and their indices */
	MGPU_NUM_SHAPES
} mgpu_sort_shape;

/*
 * Two sides that a sort works between.  All arrays are aligned to 256 bytes, hold num_items, and
 * may be overwritten.  With MGPU_SHAPE_U32_INDEX keys[s] and indices[s] are one region: indices[s]
 * = keys[s] + mgpu_padded_items(num_items), since the merge sort keeps (key, index) in 64 bits
 * there between its first and last pass.
 */
typedef struct mgpu_sort_request
{
	void	   *keys[2];
	uint32_t   *indices[2];		/* NULL without indices; input not read */
	int			current;		/* in: side of the keys; out: of the result */
	uint32_t	key_bits;		/* 1 or more; higher bits of every key are 0 */
	uint64_t	num_items;		/* 1 to MGPU_MAX_ITEMS */
	void	   *temp;
	uint64_t	temp_bytes;
	cudaStream_t stream;
} mgpu_sort_request;

typedef struct mgpu_device_sorter
{
	/* Temporary bytes, from the count alone: no device is asked. */
	uint64_t	(*temp_bytes) (uint64_t num_items);

	/*
	 * Enqueue the sort. cudaErrorMemoryAllocation: temp_bytes do not suffice on this device, and
	 * nothing was enqueued.
	 */
	cudaError_t (*sort) (mgpu_sort_request *request);
} mgpu_device_sorter;

#ifdef __cplusplus
extern "C" {
#endif

extern const mgpu_device_sorter mgpu_merge_sorters[MGPU_NUM_SHAPES];
extern const mgpu_device_sorter mgpu_radix_sorters[MGPU_NUM_SHAPES];

/* Which sort is faster for so many keys in no order: MERGE or RADIX.  key_width: bytes of a stored key. */
mgpu_algorithm mgpu_choose_algorithm(mgpu_sort_shape shape, uint32_t key_width, uint64_t num_items);

/* Run the radix or the merge sort.  *algorithm: in, which one; out, MERGE if the radix sort lacked temporary memory. */
cudaError_t mgpu_plain_sort(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm *algorithm);

/*
 * The same, but from MGPU_PROBE_MIN_ITEMS on keys in order are left alone and reversed keys turned
 * round; *algorithm is then LOCALITY.  To know, the host waits for the stream.
 */
cudaError_t mgpu_auto_sort(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm *algorithm);

const mgpu_device_sorter *mgpu_find_sorter(mgpu_algorithm algorithm, mgpu_sort_shape shape);

static inline uint64_t
mgpu_padded_items(uint64_t num_items)
{
	return (num_items + 63) & ~UINT64_C(63);
}

/* The sorts behind the tables, one translation unit for each algorithm and width. */
cudaError_t mgpu_merge_sort_u32(mgpu_sort_request *request);
cudaError_t mgpu_merge_sort_u64(mgpu_sort_request *request);
cudaError_t mgpu_merge_sort_u32_index(mgpu_sort_request *request);
cudaError_t mgpu_merge_sort_u64_index(mgpu_sort_request *request);
cudaError_t mgpu_radix_sort_u32(mgpu_sort_request *request);
cudaError_t mgpu_radix_sort_u64(mgpu_sort_request *request);
cudaError_t mgpu_radix_sort_u32_index(mgpu_sort_request *request);
cudaError_t mgpu_radix_sort_u64_index(mgpu_sort_request *request);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_SORT_SORTER_H */
