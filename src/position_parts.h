/*
 * position_parts.h
 *		Order of many elements, as positions, by jobs of a part of them at a time.
 */
#ifndef MGPU_POSITION_PARTS_H
#define MGPU_POSITION_PARTS_H

#include "byte_order.h"
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

/*
 * The same of references that are refs[0, num_items), which ascend: start, any number of
 * them, end.  What is taken at a time is within bytes, or little.  Both works, sort->work and
 * call.work, are the caller's to stop on every way out.
 */
typedef struct position_jobs
{
	position_sort *sort;
	const sort_spec *spec;
	byte_order_call call;

	/* of a part; NULL while there is no room for one */
	uint32	   *refs;
	uint32	   *ranks;
	mgpu_span  *spans;
	uint64	   *codes;
	char	   *arena;			/* NULL, or room_bytes for each string */

	/* the part itself */
	int64		first;
	int64		num_items;
	uint32		offset;			/* bytes that all strings begin with */
} position_jobs;

/*
 * Bytes for each string that is sorted at once: 48 here and in rounds of codes (byte_order.h), where many
 * are alike in their first; the rest, beside what is made, is for what a device's runs take of the host,
 * such as kernels that are loaded when first used.
 */
#define POSITION_JOBS_ITEM_BYTES(codes) (80 + (codes)->room_bytes)

extern void position_jobs_start(position_jobs *parts, position_sort *sort, const sort_spec *spec, Size bytes);
extern void position_jobs_refs(position_jobs *parts, int64 num_items);
extern void position_jobs_end(position_jobs *parts, bool *had_job);

#endif							/* MGPU_POSITION_PARTS_H */
