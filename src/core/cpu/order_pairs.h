/*
 * order_pairs.h
 *		Orders a part of pairs that fits a cache, and writes its keys, indices
 *		and values to the result.
 */
#ifndef MGPU_CPU_ORDER_PAIRS_H
#define MGPU_CPU_ORDER_PAIRS_H

#include "core/cpu/cpu_run.h"

/* Bytes of a code of pairs: 4, 8 or 16. */
static inline uint32_t
mgpu_pair_code_bytes(const mgpu_run *run)
{
	return run->job.key_width < 4 ? 4 : run->job.key_width;
}

/* Encode keys to codes of mgpu_pair_code_bytes. */
void		mgpu_encode_pairs(const mgpu_run *run, const void *keys, void *codes, uint64_t num_items);

/* A part: items in input order. */
typedef struct mgpu_pairs_part
{
	uint64_t	begin;			/* their place in the result */
	uint32_t	num_items;
	const void *codes;
	const uint32_t *indices;	/* NULL: begin, begin + 1 ... */
	const void *values;			/* NULL: taken from the input by index */
	uint64_t   *packed;			/* scratch: uint64_t [num_items] */
} mgpu_pairs_part;

/* Order a part stably.  Its indices and values must not overlap the result. */
void		mgpu_order_pairs(const mgpu_run *run, const mgpu_pairs_part *part);

/*
 * Write sorted items, packed as code << 32 | index, to the result from begin on.
 * For keys of up to 4 bytes.
 */
void		mgpu_unpack_pairs(const mgpu_run *run, const uint64_t *packed, uint64_t begin, uint64_t num_items);

#endif							/* MGPU_CPU_ORDER_PAIRS_H */
