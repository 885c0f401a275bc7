/*
 * order_words.h
 *		Orders numbers of 1 to 16 bytes: few of them at once, more by a job.
 */
#ifndef MGPU_ORDER_ORDER_WORDS_H
#define MGPU_ORDER_ORDER_WORDS_H

#include "array/source.h"
#include "order/sort_spec.h"

/* Whether the spec or settings require a job even for a sort of few items. */
extern bool order_is_forced(const sort_spec *spec, int64 num_items);

/* Numbers to sort, and where their order goes. */
typedef struct word_sort
{
	const sort_spec *spec;
	const segment_list *segments;	/* NULL: one */
	int64		num_items;
	const void *words;			/* NULL: read from stream */
	array_source *stream;
	uint32		kind;
	uint32		width;
	const char *cpu_reason;		/* NULL: settings and plan choose the executor */
	uint32	   *ranks;
	void	   *sorted;			/* NULL, or a buffer for the words in order */
} word_sort;

/* Sort the words.  False: sorted is set, but floats in it have lost their own bits. */
extern bool order_words(const word_sort *sort);

/* Calls function for each segment, or once for all items if segments is NULL. */
typedef void (*segment_fn) (void *context, int64 begin, int64 end);
extern void order_each_segment(const segment_list *segments, int64 num_items, segment_fn function, void *context);

#endif							/* MGPU_ORDER_ORDER_WORDS_H */
