/*
 * split.h
 *		Vectorized two-way splits of codes, and bucket order by such splits.
 */
#ifndef MGPU_CPU_SPLIT_H
#define MGPU_CPU_SPLIT_H

#include "core/bounds.h"

/*
 * Move codes <= bound to the front and the others behind them, both in their order.
 * Returns how many are in front.  spill has space for num_items codes and 64 bytes
 * more.  width: 4, 8 or 16 bytes.  vectors: use vector instructions.
 */
uint64_t	mgpu_split_codes(void *codes, uint64_t num_items, uint32_t width,
							 mgpu_u128 bound, void *spill, bool vectors);

typedef struct mgpu_split_chunk
{
	void	   *codes;
	uint64_t	num_items;
	uint32_t	width;
	void	   *spill;			/* as for mgpu_split_codes */
	uint32_t   *sizes;			/* [buckets]: filled in */
} mgpu_split_chunk;

/* Order a chunk's codes by bucket, in place. */
void		mgpu_split_buckets(const mgpu_bounds *bounds, const mgpu_split_chunk *chunk, bool vectors);

#endif							/* MGPU_CPU_SPLIT_H */
