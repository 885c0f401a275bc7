/*
 * agg_order.h
 *		Order of grouped rows whose keys are not what executors sort.
 */
#ifndef MGPU_AGG_ORDER_H
#define MGPU_AGG_ORDER_H

#include "agg_batch.h"

/* Elements of rows lie far apart: how many rows ahead to fetch. */
#define AGG_PREFETCH_ROWS 32

/* Where the rows of the batch's head i end. */
static inline uint64
agg_order_end(const agg_batch *batch, uint64 i)
{
	return i + 1 < batch->num_heads ? batch->heads[i + 1] : batch->num_items;
}

/*
 * Stable positions by 64-bit codes (MGPU_KEY_SIGNED or _UNSIGNED) of grouped
 * rows, each group by itself; and, unless sorted is NULL, the codes in order.
 */
extern void agg_order_codes(agg_batch *batch, const uint64 *codes, uint32 key_kind,
							uint32 *positions, uint64 *sorted);

/* Whether that is done at once, without a job. */
extern bool agg_order_is_small(const agg_batch *batch);

/*
 * Puts rows whose codes are equal in order: those from begin on among the sorted
 * ones.  buffer has an item for each.
 */
typedef void (*agg_order_run_fn) (agg_batch *batch, uint64 begin, uint64 num_rows, void *buffer);

/* Call order for each run of equal codes, two rows or more, inside a group. */
extern void agg_order_runs(agg_batch *batch, const uint64 *sorted, agg_order_run_fn order, Size item_bytes);

/* Byte strings (agg_order_bytes.c): make the batch's positions, or its sorted keys. */
extern void agg_order_bytes(agg_batch *batch);
extern void agg_sort_bytes(agg_batch *batch);

#endif							/* MGPU_AGG_ORDER_H */
