/*
 * order.h
 *		Orders keys.  All sorts by position go through this file.
 */
#ifndef MGPU_ORDER_H
#define MGPU_ORDER_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

/*
 * ranks[i] = index of the i-th key in order, inside each segment (segments is NULL: one segment).
 * Equal keys keep their order.  sorted_words is NULL, or a buffer for the sorted words, used if
 * these are the elements' own bytes.  Returns true if the buffer was filled.  Allocates in the
 * current context and frees what it allocates.
 */
extern bool order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
						uint32 *ranks, void *sorted_words);

/*
 * Order keys by Batcher's odd-even mergesort network, as one segment.  Keys must be values.
 * Equal keys come in any order.
 */
extern void order_by_network(const sort_spec *spec, const sort_keys *keys, uint32 *ranks);

/* What order_ranks does with keys that are strings (order_strings.c) or values (order_values.c). */
extern void order_strings(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);
extern void order_values(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);

/* Numbers of 1 to 16 bytes to sort, and where their order goes. */
typedef struct word_sort
{
	const sort_spec *spec;
	const segment_list *segments;	/* NULL: one */
	int64		num_items;
	const void *words;			/* NULL: read from stream */
	array_source *stream;
	uint32		kind;
	uint32		width;
	uint32	   *ranks;
	void	   *sorted;			/* NULL, or a buffer for the words in order */
} word_sort;

/* Sort the words.  False: sorted is set, but floats in it have lost their own bits. */
extern bool order_words(const word_sort *sort);

/* Whether the spec or settings require a job even for a sort of few items. */
extern bool order_is_forced(const sort_spec *spec, int64 num_items);

/* Calls function for each segment, or once for all items if segments is NULL. */
typedef void (*segment_fn) (void *context, int64 begin, int64 end);
extern void order_each_segment(const segment_list *segments, int64 num_items, segment_fn function, void *context);

#endif							/* MGPU_ORDER_H */
