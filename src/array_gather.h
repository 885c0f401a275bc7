/*
 * array_gather.h
 *		Fills a result array with another one's elements, by their positions.
 */
#ifndef MGPU_ARRAY_GATHER_H
#define MGPU_ARRAY_GATHER_H

#include "array_source.h"
#include "element_type.h"
#include "null_map.h"

/*
 * How much memory, from the beginning of a result's data on, array_gather needs if
 * positions of all elements wait at the end of it: data_bytes, or some more where
 * elements are smaller than a position or NULL.
 */
extern Size array_gather_bytes(const element_type *type, int64 num_items, int64 num_nulls, Size data_bytes);

/* Where positions wait in so much memory. */
extern int32 *array_gather_room(ArrayType *result, int64 num_items, Size gather_bytes);

/*
 * result = the elements of source (loaded, one-dimensional) at the given 0-based
 * positions, in that order.  positions is a permutation of all of source's
 * positions, in memory of its own or where array_gather_room says; it is used as
 * scratch and holds nothing of use when this returns.  result was created with as
 * many elements, NULL elements and bytes as source has; its bitmap is made here.
 */
extern void array_gather(ArrayType *result, const array_source *source, const element_type *type,
						 int32 *positions);

/* A result that is filled from the front, some positions of its source at a time. */
typedef struct array_filler
{
	ArrayType  *result;
	const array_source *source;
	const element_type *type;
	char	   *next;			/* of the result's data, */
	char	   *end;			/* which ends here */
	int64		num_items;		/* so far */
	null_map	map;			/* where some elements are NULL */

	/* elements of variable width; else NULL */
	uint32	   *offsets;		/* of each so many'th that is there */
	int			offset_step;
} array_filler;

/*
 * source is loaded.  result was created as for array_gather.  Positions are left as
 * they are.  Whoever sorts by comparisons that contradict each other may find some twice
 * and some never: an error, before anything is written behind the result, or at the end
 * where done says that all have been added.
 */
extern void array_filler_start(array_filler *filler, ArrayType *result, const array_source *source,
							   const element_type *type);
extern void array_filler_add(array_filler *filler, const int32 *positions, int64 num_positions);
extern void array_filler_end(array_filler *filler, bool done);

/* What it has taken. */
extern Size array_filler_bytes(const array_filler *filler);

#endif							/* MGPU_ARRAY_GATHER_H */
