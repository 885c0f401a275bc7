/*
 * cpu_pairs.h
 *		State of the pairs strategy, between cpu_pairs.c, which brings indices
 *		to their buckets, and cpu_pairs_bucket.c, which orders a bucket.
 */
#ifndef MGPU_CPU_PAIRS_H
#define MGPU_CPU_PAIRS_H

#include "cpu_chunks.h"

typedef struct pairs_state
{
	bool		is_direct;		/* one bucket, whose indices are 0, 1, 2 ... */
	uint64_t	code_bytes;		/* of a code in carry and scratch: 4, 8, 16 */
	mgpu_bounds bounds;
	uint32_t	planned_buckets;
	int			num_samplings;
	mgpu_chunks chunks;			/* columns are buckets */
	mgpu_buffer buckets;		/* uint8_t [items], or none */
	void	   *carry;			/* codes in bucket order: own_carry, out_keys,
								 * or NULL */
	mgpu_buffer own_carry;
	mgpu_buffer scratch;		/* [workers]: codes, then uint64_t packed */
	uint64_t	codes_bytes;	/* from a worker's scratch to its packed */
	uint64_t	worker_bytes;
	uint64_t	begin[MGPU_MAX_BUCKETS + 1];
} pairs_state;

/* Order bucket number task; context is the run. */
void		mgpu_order_bucket_task(void *context, uint64_t task, int worker);

#endif							/* MGPU_CPU_PAIRS_H */
