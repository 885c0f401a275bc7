/*
 * cpu_pairs.h
 *		State of the pairs strategy, between cpu_pairs.c, which brings indices
 *		to their buckets, cpu_pairs_values.c, which brings values there instead,
 *		and cpu_pairs_bucket.c, which orders a bucket.
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

	/* buckets that are scattered and ordered together; all, unless values are carried */
	uint32_t	first_bucket;
	uint32_t	end_bucket;
	uint64_t	group_begin;	/* first item of the first one, which carry begins with */
	uint64_t	carry_items;	/* values are carried: what carry has room for */
} pairs_state;

#define MGPU_PAIRS_BLOCK_ITEMS 512

/* A block of input: its codes, and their buckets. */
typedef struct mgpu_pairs_block
{
	union
	{
		uint64_t	narrow[MGPU_PAIRS_BLOCK_ITEMS];
		mgpu_u128	wide[MGPU_PAIRS_BLOCK_ITEMS];
	}			codes;
	uint16_t	buckets[MGPU_PAIRS_BLOCK_ITEMS];
	uint32_t	places[MGPU_PAIRS_BLOCK_ITEMS];
} mgpu_pairs_block;

/* cpu_pairs.c */

/* Whether values, if there are any, move by themselves: no indices then. */
bool		mgpu_pairs_carry_values(const mgpu_run *run);

/* Buckets of a block that was classified before; codes too if asked for. */
void		mgpu_pairs_load_block(const mgpu_run *run, uint64_t begin, uint32_t num_items,
								  bool codes, mgpu_pairs_block *block);

/* cpu_pairs_values.c */

/*
 * Memory for codes of a group, out of room bytes; buckets are placed.  A group
 * of a bucket that is too large for it has equal codes, which nobody needs.
 */
bool		mgpu_pairs_start_groups(mgpu_run *run, uint64_t room, mgpu_status *status, mgpu_error *err);

/* The next group of buckets; false if there is none. */
bool		mgpu_pairs_next_group(mgpu_run *run);

/* Bring chunk number task's values, and codes, of the group to their buckets. */
void		mgpu_pairs_scatter_values_task(void *context, uint64_t task, int worker);

/* Values of a bucket by its order.  copy: room for the bucket's values. */
void		mgpu_pairs_store_values(const mgpu_run *run, const uint64_t *packed, uint64_t begin,
									uint32_t num_items, void *copy);

/* A phase: values of keys that are in order, or reversed.  False: there are none. */
bool		mgpu_pairs_begin_copy_values(mgpu_run *run, bool reversed);

/* cpu_pairs_bucket.c: order bucket number task of the group; context is the run. */
void		mgpu_order_bucket_task(void *context, uint64_t task, int worker);

#endif							/* MGPU_CPU_PAIRS_H */
