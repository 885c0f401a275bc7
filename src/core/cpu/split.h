/*
 * split.h
 *		Vectorized two-way splits of codes, and bucket order by such splits.
 */
#ifndef MGPU_CPU_SPLIT_H
#define MGPU_CPU_SPLIT_H

#include "core/bounds.h"

/* How to split; sizes is filled in. */
typedef struct mgpu_split
{
	const mgpu_bounds *bounds;
	uint32_t	width;			/* bytes of a code: 4, 8 or 16 */
	bool		vectors;		/* use vector instructions */
	void	   *spill;			/* as large as the codes, and 64 bytes more */
	uint32_t   *sizes;			/* [buckets] */
} mgpu_split;

/* Put codes into bucket order, in place.  Codes of a bucket keep their order. */
void		mgpu_split_buckets(const mgpu_split *split, void *codes, uint64_t num_items);

#endif							/* MGPU_CPU_SPLIT_H */
