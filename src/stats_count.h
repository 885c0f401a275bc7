/*
 * stats_count.h
 *		What the passes of the CPU's mergesort would do, without one.
 */
#ifndef MGPU_STATS_COUNT_H
#define MGPU_STATS_COUNT_H

#include "core/executor.h"

#include "key_codes.h"
#include "sort_spec.h"

/*
 * Statistics as a run of that job on the CPU has them; codes are of its keys, and
 * exact.  segments: NULL, or of the keys, listed.  False: some key has no code.
 */
extern bool stats_count_passes(const mgpu_job *job, const key_codes *codes, const segment_list *segments,
							   mgpu_run_stats *stats);

#endif							/* MGPU_STATS_COUNT_H */
