/*
 * string_parts.h
 *		Cuts strings into parts by the order of their codes.
 *
 * Bounds are taken from a sample of codes (cpu_split.h); strings that are alike in
 * a frequent code get a part of their own, as many as they may be.  Strings of a
 * part keep their order, and parts are in order.  A string is known by a
 * reference, which is all that is moved.
 */
#ifndef MGPU_STRING_PARTS_H
#define MGPU_STRING_PARTS_H

#include "cpu_split.h"

/* Parts that are asked for; frequent codes make it more. */
#define MGPU_MOST_PLANNED_PARTS 120
#define MGPU_MOST_PARTS 256

/* At most so many tasks, which are of the same size. */
#define MGPU_MOST_PART_TASKS 1024

/* References are handled in blocks of so many. */
#define MGPU_PARTS_BLOCK_ITEMS 512

/* codes[i] = that of the string that refs[i] stands for. */
typedef void (*mgpu_codes_fn) (const void *context, const uint32_t *refs, uint32_t num_refs, uint64_t *codes);

/* refs[i] = the reference of item begin + i, up to a block of them. */
typedef void (*mgpu_refs_fn) (const void *context, uint64_t begin, uint32_t num_refs, uint32_t *refs);

/* All memory is the caller's. */
typedef struct mgpu_string_parts
{
	mgpu_codes_fn codes_of;
	mgpu_refs_fn refs_of;
	const void *context;		/* of both */
	uint64_t	num_items;		/* at least 1 */
	uint64_t	item_bytes;		/* that a code takes a look at, about; 0: few */
	bool		descending;

	uint8_t    *parts;			/* of each item: classify fills it; NULL: codes are made twice */
	uint32_t   *out;			/* scatter: references in the order of parts, */
	uint32_t   *out_items;		/* and whose they are, for as many as there is room */
	uint64_t	num_out_items;
	uint32_t	(*counts)[MGPU_MOST_PARTS]; /* of each task, zeroed; then where its items go */

	mgpu_bounds bounds;			/* choose fills it */

	/* place fills this: where in out each part begins, in the order that is asked for */
	uint32_t	begins[MGPU_MOST_PARTS + 1];
} mgpu_string_parts;

static inline uint32_t
mgpu_num_parts(const mgpu_string_parts *parts)
{
	return parts->bounds.num_buckets;
}

/* The code of all strings of part i of begins; false where they have several. */
bool		mgpu_part_code(const mgpu_string_parts *parts, uint32_t i, uint64_t *code);

uint64_t	mgpu_part_tasks(const mgpu_string_parts *parts);

/* In this order: choose, all tasks of classify, place, all tasks of scatter. */
void		mgpu_parts_choose(mgpu_string_parts *parts, uint64_t num_parts);
void		mgpu_parts_classify_task(void *context, uint64_t task, int worker);
void		mgpu_parts_place(mgpu_string_parts *parts);
void		mgpu_parts_scatter_task(void *context, uint64_t task, int worker);

#endif							/* MGPU_STRING_PARTS_H */
