/*
 * segment_args.h
 *		The three ways to say where an array's segments begin.
 */
#ifndef MGPU_SQL_SEGMENT_ARGS_H
#define MGPU_SQL_SEGMENT_ARGS_H

#include "array/element_type.h"
#include "array/segments.h"
#include "array/source.h"

/*
 * Each fills a list for an array (one of no elements gets one empty segment).  Memory is palloc'd.
 *
 * heads: an int[] of subscripts of vals, ascending and unique.
 */
extern void segments_from_heads(segment_list *segments, Datum heads, const array_source *vals);

/* flags: a bit varying, a bit an element. */
extern void segments_from_flags(segment_list *segments, Datum flags, const array_source *vals);

/* groups: each run of equal neighbours (NULLs are equal) is a segment. */
extern void segments_from_groups(segment_list *segments, array_source *groups,
								 const element_type *type, Oid collation);

#endif							/* MGPU_SQL_SEGMENT_ARGS_H */
