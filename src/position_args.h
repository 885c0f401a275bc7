/*
 * position_args.h
 *		int[] arguments that hold positions of another array's elements.
 */
#ifndef MGPU_POSITION_ARGS_H
#define MGPU_POSITION_ARGS_H

#include "array_source.h"

/* Positions as executors want them: 0-based, in memory, with room for one more in front of them. */
typedef struct position_list
{
	uint32	   *positions;
	int64		num_positions;
	array_source source;		/* where they come from, open */
	int64		first;			/* subscript of position 0 */
} position_list;

/*
 * Read an int[] of subscripts into 0-based positions, in the order given.
 * Errors: more than one dimension; a NULL (what names the argument); a
 * subscript outside first … last.
 */
extern void position_list_read(position_list *list, Datum subscripts, const char *what,
							   int64 first, int64 last);

/* The subscripts are needed no more: nothing but sorted positions are. */
extern void position_list_close(position_list *list);

/* Ascending already (strictly, if unique)? */
extern bool position_list_is_ascending(const position_list *list, bool unique);

/* Sort ascending and drop repeats. */
extern void position_list_make_unique(position_list *list, const char *function);

/* Sort ascending; order[i] = which of the list is i-th now, ties as they were. */
extern void position_list_sort(position_list *list, const char *function, int32 *order);

#endif							/* MGPU_POSITION_ARGS_H */
