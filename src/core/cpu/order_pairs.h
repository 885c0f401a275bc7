/*
 * order_pairs.h
 *		A part of pairs that fits a cache, put in order: its keys, indices and values
 *		go where they belong in the result.
 */
#ifndef MGPU_CPU_ORDER_PAIRS_H
#define MGPU_CPU_ORDER_PAIRS_H

#include "core/cpu/run.h"

/* Bytes of a code of pairs: 4, 8 or 16. */
static inline uint32_t
mgpu_pair_code_bytes(const mgpu_run *run)
{
	return run->job.key_width < 4 ? 4 : run->job.key_width;
}

/* Codes of that width from keys. */
void		mgpu_encode_pairs(const mgpu_run *run, const void *keys, void *codes, uint64_t num_items);

/* Items in input order, and what belongs to them. */
typedef struct mgpu_pairs_part
{
	uint64_t	begin;			/* their place in the result */
	uint32_t	num_items;
	const void *codes;
	const uint32_t *indices;	/* NULL: begin, begin + 1 ... */
	const void *values;			/* NULL: by indices, from the input */
	uint64_t   *packed;			/* scratch: uint64_t [num_items] */
} mgpu_pairs_part;

/* indices and values do not overlap the result; stable. */
void		mgpu_order_pairs(const mgpu_run *run, const mgpu_pairs_part *part);

/*
 * Items in order, packed as code << 32 | number in the input, to the result from
 * begin on.  Keys of up to 4 bytes.
 */
void		mgpu_unpack_pairs(const mgpu_run *run, const uint64_t *packed, uint64_t begin, uint64_t num_items);

#endif							/* MGPU_CPU_ORDER_PAIRS_H */
