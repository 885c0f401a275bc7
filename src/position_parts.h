/*
 * position_parts.h
 *		Order of many elements, as positions, by jobs of a part of them at a time.
 */
#ifndef MGPU_POSITION_PARTS_H
#define MGPU_POSITION_PARTS_H

#include "position_run.h"
#include "sort_spec.h"

/*
 * Of a sort nothing but codes, descending and refs are set up: positions come to
 * refs.  Failed is set where some element has no key or string.
 */

/*
 * By keys that are made while a job reads them, on a GPU.  False: none could do it,
 * with the reason on record.
 */
extern bool position_sort_keys(position_sort *sort, const sort_spec *spec);

/* Whether a part's strings, and what is known of all, are no more than a call may have. */
extern bool position_parts_fit(const element_codes *codes);

/* By byte strings.  thread_work_stop(sort->work) is the caller's to call. */
extern void position_sort_parts(position_sort *sort, const sort_spec *spec, bool *had_job);

#endif							/* MGPU_POSITION_PARTS_H */
