/*
 * order.h
 *		Puts keys in order: the one place that sorts anything by positions.
 */
#ifndef MGPU_ORDER_H
#define MGPU_ORDER_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = index of the i-th key in order, inside each segment if there are
 * segments (NULL: one).  Equal keys keep their order.  sorted_words is NULL, or room
 * for the keys' words, where these are the elements: true if they have been put there
 * in order.  Allocates in the current context and frees what it allocates.
 */
extern bool order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
						uint32 *ranks, void *sorted_words);

/* The same by Batcher's odd-even mergesort network: keys are values, equal ones come in any order. */
extern void order_by_network(const sort_spec *spec, const sort_keys *keys, uint32 *ranks);

/* ---- for the files of this folder */

/* Whether settings make a job of a sort of so few items. */
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
	const char *cpu_reason;		/* NULL: the executor is chosen */
	uint32	   *ranks;
	void	   *sorted;			/* NULL, or room for the words in order */
} word_sort;

/*
 * At once where they are few, else by a job.  False: sorted has been asked for, but
 * floats among the words have lost bits there.
 */
extern bool order_words(const word_sort *sort);

extern void order_strings(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);
extern void order_values(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);

/* Calls function for each segment, or once for all items. */
typedef void (*segment_fn) (void *context, int64 begin, int64 end);
extern void order_each_segment(const segment_list *segments, int64 num_items, segment_fn function, void *context);

#endif							/* MGPU_ORDER_H */
