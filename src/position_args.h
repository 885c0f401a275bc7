/*
 * position_args.h
 *		int[] arguments that hold positions of another array's elements.
 */
#ifndef MGPU_POSITION_ARGS_H
#define MGPU_POSITION_ARGS_H

#include "array_source.h"
#include "position_bits.h"

/* Positions as executors want them: 0-based. */
typedef struct position_list
{
	uint32	   *positions;		/* all in memory, with room for one more in front; NULL: not read yet */
	int64		num_positions;
	array_source source;		/* where they come from, open */
	int64		first;			/* subscripts: of position 0, */
	int64		last;			/* and the last one that is allowed */
	const char *cpu_reason;		/* a GPU that was asked to sort them could not, and why; or NULL */
	bool		is_large;		/* a list would be a second one in memory, and more than a call may have */
} position_list;

/*
 * An int[] of subscripts.  Errors: more than one dimension; a NULL (what names the
 * argument).
 */
extern void position_list_open(position_list *list, Datum subscripts, const char *what,
							   int64 first, int64 last);

/* All of them, in the order given.  Error: a subscript outside first … last. */
extern void position_list_read(position_list *list);

/* The same as bits, each position once.  strict: likewise, and they are heads, ascending and unique. */
extern void position_list_to_bits(position_list *list, position_bits *bits, bool strict);

/* The same without a list: are those of an array in memory ascending? */
extern bool position_list_check(const position_list *list);

/* The subscripts are needed no more: nothing but sorted positions are. */
extern void position_list_close(position_list *list);

/* Ascending already (strictly, if unique)? */
extern bool position_list_is_ascending(const position_list *list, bool unique);

/* Sort ascending and drop repeats. */
extern void position_list_make_unique(position_list *list, const char *function);

/* Sort ascending; order[i] = which of the list is i-th now, ties as they were. */
extern void position_list_sort(position_list *list, const char *function, int32 *order);

/* Ascending positions, some at a time: all of a list, or else of bits or an array in memory. */
typedef struct position_blocks
{
	const position_list *list;
	const position_bits *bits;	/* NULL: none */
	int64		total;
	uint32	   *buffer;
	int64		next;			/* bit, or number in the list */

	/* the block at hand; the caller may change positions if it is not the only one */
	uint32	   *positions;
	int64		num_positions;
	int64		num_before;
} position_blocks;

/* bits: NULL, or the list's. */
extern void position_blocks_start(position_blocks *blocks, const position_list *list, const position_bits *bits);

/* The first block, and the next one.  False: there is none. */
extern bool position_blocks_next(position_blocks *blocks);

static inline bool
position_blocks_is_last(const position_blocks *blocks)
{
	return blocks->num_before + blocks->num_positions == blocks->total;
}

/* For another walk over all of them. */
extern void position_blocks_rewind(position_blocks *blocks);
extern void position_blocks_end(position_blocks *blocks);

#endif							/* MGPU_POSITION_ARGS_H */
