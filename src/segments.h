/*
 * segments.h
 *		The three ways to say where an array's segments begin.
 */
#ifndef MGPU_SEGMENTS_H
#define MGPU_SEGMENTS_H

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

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

/* The segments of an array's present elements by themselves, empty ones left out. */
extern void segments_of_present(segment_list *present, const segment_list *segments,
								const array_source *source);

#endif							/* MGPU_SEGMENTS_H */
