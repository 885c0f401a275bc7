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
 * Positions by keys that are byte strings or become such (agg_strings.c).  False,
 * and no positions, if some of these are not.
 */
extern bool agg_order_strings(agg_batch *batch);

#endif							/* MGPU_AGG_ORDER_H */
