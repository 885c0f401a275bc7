/*
 * segment_jobs.h
 *		A job of very many segments, as several.
 */
#ifndef MGPU_SEGMENT_JOBS_H
#define MGPU_SEGMENT_JOBS_H

#include "run.h"
#include "sort_spec.h"

/*
 * A segmented sort of keys' elements that are there, with values (NULL: none) beside
 * them, whose heads are bits: request is complete but for its inputs, segments
 * and number of items.  float_bits_lost is set where one of the jobs sets it.
 */
extern void segment_jobs_run(run_request *request, const segment_list *segments, array_source *keys,
							 array_source *vals);

#endif							/* MGPU_SEGMENT_JOBS_H */
