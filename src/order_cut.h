/*
 * order_cut.h
 *		Cuts elements into parts by their order, and notes for some of the parts which
 *		elements are in them.
 */
#ifndef MGPU_ORDER_CUT_H
#define MGPU_ORDER_CUT_H

#include "compared_codes.h"
#include "position_run.h"

/* Bits of an element's note, and parts that so many tell from each other. */
#define ORDER_MOST_NOTE_BITS 8
#define ORDER_NOTED_PARTS(bits) ((1 << (bits)) - 1)

/*
 * Parts are in order and so are all elements, since equal ones are in that of the
 * input: a part is what is not before its bound, and before that of the next one.
 * All but the references' kind is set up by order_cut_start; memory is palloc'd.
 */
typedef struct order_cut
{
	position_sort *sort;		/* elements that are strings, threads, and whether a string could not be made */
	compared_sort *compared;	/* elements that are not; else NULL */
	const element_codes *elements;	/* of the one or the other */
	bool		descending;

	int			num_parts;
	uint32	   *bounds;			/* references of the first elements of parts, from the second on */
	uint64	   *bound_codes;	/* what they begin with, in order */
	byte_string *bound_strings;	/* if they are strings */

	/* notes: 0, or how far behind first_part, and one more */
	int			note_bits;
	uint8	   *notes;
	int			first_part;
	int			end_part;
	uint32	   *counts;			/* of each task: elements with each note */
} order_cut;

/* Bytes of notes for so many elements. */
extern Size order_cut_note_bytes(int64 num_items, int note_bits);

/* num_parts: at most as many as elements. */
extern void order_cut_start(order_cut *cut, int num_parts, int note_bits);
extern void order_cut_end(order_cut *cut);

/* Notes for as many parts as can be, from this one on. */
extern void order_cut_note(order_cut *cut, int first_part);

/* How many elements are in a part that is noted. */
extern int64 order_cut_items(const order_cut *cut, int part);

/* The same as a run of references to strings, which are from first on: what is known of it. */
extern position_run order_cut_run(const order_cut *cut, int part, int64 first);

/*
 * References of the elements of parts first to end, which are noted: by_parts, a part's behind
 * those of the part before; refs, all in the input's order; numbers, how many elements are in
 * front of each of these.  NULL: not wanted.
 */
extern void order_cut_list(const order_cut *cut, int first, int end, uint32 *by_parts, uint32 *refs, uint32 *numbers);

#endif							/* MGPU_ORDER_CUT_H */
