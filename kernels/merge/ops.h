/*
 * merge/ops.h
 *		Merge, bulk remove, bulk insert and the odd-even network on the device.
 *
 * A launch function enqueues all its work on one stream, allocates nothing and waits for nothing.
 * Launches of a process follow one another on a device, in one stream at a time.  Outputs overlap
 * no input, are aligned to 16 bytes, and are written from their first to their last item.  Inputs
 * are aligned to their element.  Every sum of two counts is at most MGPU_MAX_ITEMS.
 *
 * temp has as many bytes as the operation's temp_bytes function says, which asks no device, and is
 * aligned to 16 bytes.
 */
#ifndef MGPU_MERGE_OPS_H
#define MGPU_MERGE_OPS_H

#include <cuda_runtime.h>
#include <stdint.h>

#include "core/job.h"
#include "device/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- merge */

/*
 * Are both inputs of a merge sorted? In device memory.  Every byte is 0xFF before the launch.  The
 * merge sets suspect to 0 if a or b is not in order; mgpu_launch_find_unsorted behind it then finds
 * where.
 */
typedef struct mgpu_order_check
{
	uint64_t	suspect;		/* UINT64_MAX: both are sorted */
	uint64_t	position[2];	/* of a and b: least i with key[i] before key[i - 1], or UINT64_MAX */
} mgpu_order_check;

/*
 * Keys are stored bytes.  The merge compares their codes and moves the bytes, so zeros and NaNs
 * keep theirs.  On ties a goes first, and each input keeps its order.
 */
typedef struct mgpu_merge_request
{
	mgpu_codec	codec;			/* also kind MGPU_KEY_BYTES with width 16 */
	uint32_t	value_width;	/* 1, 2, 4, 8, 16; 0: keys alone */
	const void *a_keys;
	const void *b_keys;
	void	   *out_keys;
	const void *a_values;		/* NULL without values, like the next two */
	const void *b_values;
	void	   *out_values;
	uint64_t	num_a_items;
	uint64_t	num_b_items;
	mgpu_order_check *check;	/* on the device; NULL: no check */
	void	   *temp;
	cudaStream_t stream;
} mgpu_merge_request;

uint64_t	mgpu_merge_temp_bytes(uint32_t key_width, uint32_t value_width,
								  uint64_t num_a_items, uint64_t num_b_items);

/* If an input is not sorted, the outputs mean nothing, but nothing else is written. */
cudaError_t mgpu_launch_merge(const mgpu_merge_request *request);

/* Fill in check->position if check->suspect is 0, else return at once on the device. */
cudaError_t mgpu_launch_find_unsorted(const mgpu_merge_request *request);

/* -------------------------------------------------- bulk remove and insert */

typedef struct mgpu_bulk_request
{
	uint32_t	width;			/* 1, 2, 4, 8, 16 */
	const void *items;
	uint64_t	num_items;
	const uint32_t *positions;	/* from 0, sorted */
	uint64_t	num_positions;
	const void *inserted;		/* insert: one item a position */
	void	   *out;
	void	   *temp;
	cudaStream_t stream;
} mgpu_bulk_request;

uint64_t	mgpu_remove_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions);
uint64_t	mgpu_insert_temp_bytes(uint32_t width, uint64_t num_items, uint64_t num_positions);

/* out: the items except those at the positions, which are unique and below num_items. */
cudaError_t mgpu_launch_remove(const mgpu_bulk_request *request);

/* out: inserted[i] before items[positions[i]].  Equal positions keep the order given; position num_items appends. */
cudaError_t mgpu_launch_insert(const mgpu_bulk_request *request);

/* ------------------------------------------------------------- odd-even sort */

/* Codes of 4 or 8 bytes, on one of two sides aligned to 256 bytes.  Both sides are overwritten. */
typedef struct mgpu_odd_even_request
{
	uint32_t	key_width;
	void	   *keys[2];
	int			current;		/* in: side of the keys; out: of the result */
	uint64_t	num_items;
	cudaStream_t stream;
} mgpu_odd_even_request;

cudaError_t mgpu_launch_odd_even_sort(mgpu_odd_even_request *request);

/* The kernels of a merge, one translation unit for each order. */
typedef struct mgpu_merger
{
	cudaError_t (*merge) (const mgpu_merge_request *request);
	cudaError_t (*find_unsorted) (const mgpu_merge_request *request);
} mgpu_merger;

extern const mgpu_merger mgpu_merger_two_1;
extern const mgpu_merger mgpu_merger_two_2;
extern const mgpu_merger mgpu_merger_two_4;
extern const mgpu_merger mgpu_merger_two_8;
extern const mgpu_merger mgpu_merger_two_16;
extern const mgpu_merger mgpu_merger_float_4;
extern const mgpu_merger mgpu_merger_float_8;

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_MERGE_OPS_H */
