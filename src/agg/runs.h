/*
 * runs.h
 *		Runs of equal values in a sorted batch.
 */
#ifndef MGPU_AGG_RUNS_H
#define MGPU_AGG_RUNS_H

#include "agg/call.h"

/* Number of different values in [begin, end) of the sorted order, which must not be empty. */
extern uint64 agg_batch_num_runs(const agg_batch *batch, uint64 begin, uint64 end);

/* The most frequent value there, and the first of those; a copy in the current context. */
extern Datum agg_batch_mode(const agg_batch *batch, uint64 begin, uint64 end);

#endif							/* MGPU_AGG_RUNS_H */
