/*
 * job.h
 *		A job: what an executor must know to run one sort or merge, as plain
 *		data.
 *
 * A job holds no pointers.  Its data travel on channels (executor.h): a stored array
 * is read in slices, and the first slice can be uploaded while the next is read.
 *
 * Keys enter and leave as the bytes that PostgreSQL stores.  Executors map them to
 * order-preserving unsigned codes (key_codec.h) and back.
 */
#ifndef MGPU_JOB_H
#define MGPU_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mgpu_op
{
	MGPU_OP_SORT = 1,			/* keys alone: keys in, sorted keys out */
	MGPU_OP_SORT_PAIRS,			/* stable sort of (key, index): see outputs */
	MGPU_OP_MERGE,				/* sorted keys and sorted b keys in, all out */
	MGPU_OP_MERGE_PAIRS,		/* as MERGE, with outputs as SORT_PAIRS; an item of
								 * b has index num_items + its position */
	MGPU_OP_REMOVE,				/* values without those at positions */
	MGPU_OP_INSERT,				/* values with b values before positions */
	MGPU_OP_ODD_EVEN_SORT,		/* SORT by Batcher's network; not stable */
	MGPU_OP_GROUP				/* pages of a table in, groups out: group_spec.h */
} mgpu_op;

/* How stored bytes order.  Widths allowed: see mgpu_job.key_width. */
typedef enum mgpu_key_kind
{
	MGPU_KEY_UNSIGNED = 1,		/* native-endian unsigned, 1, 2, 4, 8 bytes */
	MGPU_KEY_SIGNED,			/* two's complement, 2, 4, 8 bytes */
	MGPU_KEY_FLOAT,				/* IEEE 754, 4 or 8 bytes; NaN above all, -0 = +0 */
	MGPU_KEY_BYTES				/* 16 bytes ordered as memcmp does (uuid) */
} mgpu_key_kind;

typedef enum mgpu_algorithm
{
	MGPU_ALGORITHM_AUTO = 0,
	MGPU_ALGORITHM_MERGE,
	MGPU_ALGORITHM_RADIX,
	MGPU_ALGORITHM_LOCALITY,
	MGPU_ALGORITHM_QUICK		/* vectorized quicksort: reported, never requested */
} mgpu_algorithm;

/*
 * Outputs, or-ed.  Pairs may have any of them; REMOVE and INSERT have values alone,
 * GROUP has its own, the others keys alone.
 */
#define MGPU_OUT_KEYS		0x1
#define MGPU_OUT_INDICES	0x2	/* uint32, 0-based position in the input */
#define MGPU_OUT_VALUES		0x4	/* values in the order of their keys */

typedef struct mgpu_job
{
	uint32_t	op;				/* mgpu_op */
	uint32_t	key_kind;		/* mgpu_key_kind */
	uint32_t	key_width;		/* bytes: 1, 2, 4, 8, or 16 for MGPU_KEY_BYTES */
	uint32_t	value_width;	/* bytes: 1, 2, 4, 8, 16; 0 without OUT_VALUES */
	uint32_t	outputs;		/* MGPU_OUT_... */
	uint32_t	descending;		/* 0 or 1; ties keep input order either way */
	uint32_t	algorithm;		/* mgpu_algorithm; AUTO lets the executor pick */
	uint64_t	num_items;		/* at most MGPU_MAX_ITEMS; GROUP: rows that are expected */

	/* SORT, SORT_PAIRS: segments, each sorted by itself; 0: not segmented. */
	uint64_t	num_segments;

	/*
	 * MERGE, MERGE_PAIRS: items of b.  REMOVE, INSERT: positions.  The result has
	 * num_items + num_b_items items (REMOVE: num_items - num_b_items), at most
	 * MGPU_MAX_ITEMS.
	 */
	uint64_t	num_b_items;
} mgpu_job;

/* Indices are 32-bit; UINT32_MAX itself stays free as a padding value. */
#define MGPU_MAX_ITEMS UINT64_C(0xFFFFFFFE)

/* Whether the job merges two sorted inputs. */
static inline bool
mgpu_job_is_merge(const mgpu_job *job)
{
	return job->op == MGPU_OP_MERGE || job->op == MGPU_OP_MERGE_PAIRS;
}

/* Whether items are keys with indices.  Outputs may then be other than keys. */
static inline bool
mgpu_job_is_pairs(const mgpu_job *job)
{
	return job->op == MGPU_OP_SORT_PAIRS || job->op == MGPU_OP_MERGE_PAIRS;
}

/* Bytes that a job moves, which decide whether several CPU threads work: keys and indices, or values. */
static inline uint64_t
mgpu_job_moved_bytes(const mgpu_job *job)
{
	bool		has_keys = job->op != MGPU_OP_REMOVE && job->op != MGPU_OP_INSERT;
	uint64_t	item_bytes = has_keys ? job->key_width : job->value_width;

	if (mgpu_job_is_pairs(job))
		item_bytes += sizeof(uint32_t);
	return (job->num_items + job->num_b_items) * item_bytes;
}

/*
 * Check a job, trusted or not: MGPU_OK, or MGPU_BAD_JOB with the first broken rule
 * in *err.  Executors call this first in open.
 */
mgpu_status mgpu_job_validate(const mgpu_job *job, mgpu_error *err);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_JOB_H */
