/*
 * segment_args.h
 *		Reads where an array's segments begin: from heads, flags or groups.
 */
#ifndef MGPU_SQL_SEGMENT_ARGS_H
#define MGPU_SQL_SEGMENT_ARGS_H

#include "array/element_type.h"
#include "array/array_segments.h"
#include "array/source.h"

/*
 * Each function fills a list of an array's segments.  An array without elements gets one empty
 * segment.  Memory is palloc'd.
 *
 * heads: an int[] of subscripts of vals, ascending and unique.
 */
extern void segments_from_heads(segment_list *segments, Datum heads, const array_source *vals);

/* flags: a bit varying with one bit for each element of vals.  1 starts a segment. */
extern void segments_from_flags(segment_list *segments, Datum flags, const array_source *vals);

/* groups: each run of equal neighbours is a segment.  NULLs are equal. */
extern void segments_from_groups(segment_list *segments, array_source *groups,
								 const element_type *type, Oid collation);

#endif							/* MGPU_SQL_SEGMENT_ARGS_H */
