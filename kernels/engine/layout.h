/*
 * engine/layout.h
 *		Where a job's arrays lie in the device memory of its run.
 *
 * A pure function of the job, so that the engine knows what a job takes before it touches a
 * device.  Offsets are in bytes from the start of the arena and multiples of 256.  Arrays that are
 * not in use at the same time share memory:
 *
 *	 side 0 | side 1	keys (and indices) of a sort, which works between both
 *	 width 1, 2			stored keys arrive in side 1, their codes go to side 0
 *	 width 4, 8			encoded and decoded in place
 *	 width 16			stored keys arrive across the keys of both sides; codes move
 *						to high and low; results are joined where the keys arrived
 *
 * Segmented and locality sorts use two regions of keys and indices (segmented/segmented.h) as
 * their sides.  Merges and bulk operations share nothing.  A merge of unsorted inputs may read a
 * few items past the end of b, so something always follows b.
 */
#ifndef MGPU_ENGINE_LAYOUT_H
#define MGPU_ENGINE_LAYOUT_H

#include "sort/sorter.h"

#define MGPU_NO_OFFSET UINT64_MAX

typedef struct mgpu_cuda_layout
{
	mgpu_sort_shape shape;
	mgpu_algorithm algorithm;	/* never AUTO: the one that sorts keys in no order */
	uint64_t	total_bytes;	/* 0 for an empty job */
	uint64_t	keys[2];
	uint64_t	indices[2];		/* MGPU_NO_OFFSET without indices */
	uint64_t	stored_keys;	/* where keys arrive */
	uint64_t	high;			/* 16-byte keys: the words of their codes ... */
	uint64_t	low;
	uint64_t	first_indices;	/* ... and the order of the low words */
	uint64_t	values;			/* values as they arrive */
	uint64_t	result_values;
	uint64_t	b_keys;			/* merges: keys of b as they arrive */
	uint64_t	merged_keys;
	uint64_t	all_indices;	/* 0, 1, 2 ... of a and then b, where indices are wanted ... */
	uint64_t	merged_indices; /* ... and their order */
	uint64_t	order_check;	/* a mgpu_order_check */
	uint64_t	b_values;		/* merges: behind values; insert: new values */
	uint64_t	positions;		/* remove, insert */
	uint64_t	segment_heads;
	uint64_t	pass_stats;		/* a mgpu_segmented_stats */
	uint64_t	temp;
	uint64_t	temp_bytes;
} mgpu_cuda_layout;

#ifdef __cplusplus
extern "C" {
#endif

/* job is valid, and the engine supports it. */
void		mgpu_cuda_plan_layout(const mgpu_job *job, mgpu_cuda_layout *layout);

/* Is a job sorted by segmented/segmented.h: in segments, or by locality? */
bool		mgpu_cuda_is_segmented(const mgpu_job *job);

/* Items of each output. */
uint64_t	mgpu_cuda_result_items(const mgpu_job *job);

/*
 * Bytes an item that a merge moves along with its keys.  Where indices are wanted it moves those,
 * and values are gathered by them. 0: nothing.
 */
uint32_t	mgpu_cuda_carried_width(const mgpu_job *job);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_ENGINE_LAYOUT_H */
