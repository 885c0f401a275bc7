/*
 * float_masks.h
 *		Positions of zeros and NaN among stored floats, one bit an item.
 *
 * Float codes lose the sign of zero and the bits of NaN (key_codec.h).  float_ties.h
 * records these with the masks; cpu_codec.c corrects codes with them.
 */
#ifndef MGPU_FLOAT_MASKS_H
#define MGPU_FLOAT_MASKS_H

#include <stdbool.h>
#include <stdint.h>

/* Items of a block: one bit each in a word. */
#define MGPU_FLOAT_BLOCK 64

/* Bit i is item i of a block. */
typedef struct mgpu_float_masks
{
	uint64_t	zeros;			/* of either sign */
	uint64_t	negative_zeros;
	uint64_t	nans;
	uint64_t	foreign_nans;	/* NaN with other bits than PostgreSQL's own */
} mgpu_float_masks;

/*
 * Find the first of blocks [block, num_blocks) with a zero or a NaN, and its masks.
 * Returns num_blocks and leaves *masks unchanged if there is none.  width is 4 or 8
 * bytes; items are aligned to it.  vectors: use vector instructions, with the same
 * result.
 */
uint64_t	mgpu_float_next_special(const void *items, uint32_t width, uint64_t block, uint64_t num_blocks,
									bool vectors, mgpu_float_masks *masks);

/* Masks of fewer than MGPU_FLOAT_BLOCK items. */
mgpu_float_masks mgpu_float_masks_of(const void *items, uint32_t width, uint32_t num_items);

#endif							/* MGPU_FLOAT_MASKS_H */
