/*
 * array_segments.h
 *		Segments of an array.
 */
#ifndef MGPU_ARRAY_ARRAY_SEGMENTS_H
#define MGPU_ARRAY_ARRAY_SEGMENTS_H

#include "array/source.h"

/*
 * heads[i] is the 0-based position of the first element of segment i.  Heads are ascending and
 * unique, and the first is 0.
 */
typedef struct segment_list
{
	uint32	   *heads;
	int64		num_segments;
	int64		num_items;		/* of the whole array */
} segment_list;

static inline int64
segment_end(const segment_list *segments, int64 i)
{
	return i + 1 < segments->num_segments ? segments->heads[i + 1] : segments->num_items;
}

/* The segments of the array's present elements alone.  Empty segments are left out.  heads is palloc'd. */
extern void segments_of_present(segment_list *present, const segment_list *segments,
								const array_source *source);

#endif							/* MGPU_ARRAY_ARRAY_SEGMENTS_H */
