/*
 * position_list.h
 *		int[] arguments that hold positions of another array's elements.
 */
#ifndef MGPU_ORDER_POSITION_LIST_H
#define MGPU_ORDER_POSITION_LIST_H

#include "array/source.h"

/* Positions as executors want them: 0-based. */
typedef struct position_list
{
	uint32	   *positions;		/* with room for one more in front; NULL: not read yet */
	int64		num_positions;
	array_source source;		/* the subscripts */
	int64		first;			/* subscript of position 0 */
	int64		last;			/* last subscript that is allowed */
	const char *cpu_reason;		/* a GPU that was asked to sort them could not, and why; or NULL */
} position_list;

/*
 * An int[] of subscripts.  Errors: more than one dimension; a NULL (what names the
 * argument).
 */
extern void position_list_open(position_list *list, Datum subscripts, const char *what,
							   int64 first, int64 last);

/* Read all of them, in the order given, and close the array.  Error: a subscript outside first … last. */
extern void position_list_read(position_list *list);

/* Ascending already (strictly, if unique)? */
extern bool position_list_is_ascending(const position_list *list, bool unique);

/* Sort ascending; order[i] = which of the list is i-th now, ties as they were.  order may be NULL. */
extern void position_list_sort(position_list *list, const char *function, int32 *order);

/* Sort ascending and drop repeats. */
extern void position_list_make_unique(position_list *list, const char *function);

#endif							/* MGPU_ORDER_POSITION_LIST_H */
