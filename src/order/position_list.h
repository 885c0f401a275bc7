/*
 * position_list.h
 *		int[] arguments that hold positions of another array's elements.
 */
#ifndef MGPU_ORDER_POSITION_LIST_H
#define MGPU_ORDER_POSITION_LIST_H

#include "array/source.h"
#include "run/record.h"

/* 0-based positions, as executors take them. */
typedef struct position_list
{
	uint32	   *positions;		/* space for one more in front; NULL: not read yet */
	int64		num_positions;
	array_source source;		/* the subscripts */
	int64		first;			/* subscript of position 0 */
	int64		last;			/* last subscript that is allowed */
} position_list;

/*
 * Open an int[] of subscripts, which must lie in first … last.  Errors: more than one dimension,
 * a NULL element.  what names the argument in messages.
 */
extern void position_list_open(position_list *list, Datum subscripts, const char *what,
							   int64 first, int64 last);

/* Read all positions in the given order and close the array.  Error: a subscript outside first … last. */
extern void position_list_read(position_list *list);

/* Whether positions are ascending (strictly, if unique). */
extern bool position_list_is_ascending(const position_list *list, bool unique);

/* Sort ascending and stably.  order[i] = former index of the i-th position; order may be NULL.  *record gets what ran. */
extern void position_list_sort(position_list *list, const char *function, int32 *order, run_record *record);

/* Sort ascending and drop repeats. */
extern void position_list_make_unique(position_list *list, const char *function, run_record *record);

#endif							/* MGPU_ORDER_POSITION_LIST_H */
