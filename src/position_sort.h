/*
 * position_sort.h
 *		Order of many elements, as positions, in the memory of the result.
 */
#ifndef MGPU_POSITION_SORT_H
#define MGPU_POSITION_SORT_H

#include "element_codes.h"
#include "sort_spec.h"

/*
 * ranks[i] = number of the i-th element in order among the num_items that are
 * there; equal ones keep their order.  False, with ranks undefined: this is not the
 * way, since they are few, or have neither keys that can be made nor byte strings.
 * source may be streamed on entry and may be loaded on return.
 */
extern bool position_sort_ranks(const sort_spec *spec, array_source *source, const element_type *type,
								int64 num_items, uint32 *ranks);

/* The same for elements of which some have no key, though the type has keys that can be made. */
extern bool position_sort_string_ranks(const sort_spec *spec, array_source *source, const element_type *type,
									   int64 num_items, uint32 *ranks);

/*
 * The same for some elements of a loaded array, however few, by keys that are made
 * or else by strings, one of which they have.  False also where some element has none.
 * cpu_reason: why the CPU sorts them, or NULL, as in run_request.  *had_job: run_last
 * tells of a job, or of the CPU that was chosen instead; not so where all are alike.
 * *was_kept: the CPU sorted what no job can, which says nothing of others.
 */
extern bool position_sort_range(const sort_spec *spec, array_source *source, const element_type *type,
								bool by_keys, const element_range *range, const char *cpu_reason, uint32 *ranks,
								bool *had_job, bool *was_kept);

/* Of so many elements codes, and all that belongs to them, are no more than a call may have. */
extern int64 position_sort_few(const element_type *type, bool by_keys);

/*
 * Whether elements are sorted here and not by jobs, which is on record then.  Strings
 * are looked up twice either way, which takes most of the time, so that a device gets
 * them only where it is asked for.
 */
extern bool position_sort_stays_here(const sort_spec *spec, bool by_keys, int64 num_items, Size num_bytes,
									 const char *cpu_reason);

#endif							/* MGPU_POSITION_SORT_H */
