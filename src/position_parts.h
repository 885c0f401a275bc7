/*
 * position_parts.h
 *		Order of many elements, as positions, by jobs of a part of them at a time.
 */
#ifndef MGPU_POSITION_PARTS_H
#define MGPU_POSITION_PARTS_H

#include "position_run.h"
#include "sort_spec.h"

/*
 * By keys that are made while a job reads them: element i's rank is that of all of
 * codes' elements, which have keys.  False: some has none.
 */
extern bool position_sort_keys(const sort_spec *spec, const element_codes *codes, uint32 *ranks);

/*
 * By byte strings: sort's references become positions, with nothing but codes,
 * descending and refs set up.  thread_work_stop(sort->work) is the caller's to call.
 * False: strings take too much room, or some element has none.
 */
extern bool position_sort_parts(position_sort *sort, const sort_spec *spec, bool *had_job);

#endif							/* MGPU_POSITION_PARTS_H */
