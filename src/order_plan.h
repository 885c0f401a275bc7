/*
 * order_plan.h
 *		How many parts pairs are sorted in, and how room is shared among them.
 */
#ifndef MGPU_ORDER_PLAN_H
#define MGPU_ORDER_PLAN_H

#include "element_codes.h"

/* References that one of the index of a list stands for, on the average. */
#define ORDER_INDEX_STEP 4

typedef struct order_plan_input
{
	const element_codes *elements;
	bool		by_strings;		/* or they are compared */
	bool		by_jobs;		/* of a device, not by threads; strings only */
	bool		has_codes;		/* of elements that are compared */
} order_plan_input;

typedef struct order_plan
{
	int			note_bits;
	bool		has_lines;		/* references become positions by themselves */
	bool		cuts_again;		/* parts are more than a thread or a job sorts at once */
	int64		num_parts;
	Size		scratch;		/* threads' or jobs', to sort strings */
	int64		list_items;		/* that are listed at a time, at most but for a bad sample */
	int64		cost;			/* in lists of what one walk has noted */
} order_plan;

/* The plan that costs least of those within room, or else the one that takes least beyond it. */
extern void order_plan_choose(const order_plan_input *input, Size room, order_plan *plan);

#endif							/* MGPU_ORDER_PLAN_H */
