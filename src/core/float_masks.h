/*
 * float_masks.h
 *		Where zeros and NaN are among stored floats, a bit an item.
 *
 * What float codes lose (key_codec.h) is found with these: float_ties.h counts
 * bits instead of looking at items.
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
	uint64_t	foreign_nans;	/* whose bits are not PostgreSQL's own NaN */
} mgpu_float_masks;

/*
 * The first of blocks [block, num_blocks) with a zero or a NaN, and its masks;
 * num_blocks, and masks untouched, if none has any.  width is 4 or 8 bytes, to
 * which items are aligned.  vectors: use what there are; the masks are the same.
 */
uint64_t	mgpu_float_next_special(const void *items, uint32_t width, uint64_t block, uint64_t num_blocks,
									bool vectors, mgpu_float_masks *masks);

/* Masks of fewer than MGPU_FLOAT_BLOCK items. */
mgpu_float_masks mgpu_float_masks_of(const void *items, uint32_t width, uint32_t num_items);

#endif							/* MGPU_FLOAT_MASKS_H */
