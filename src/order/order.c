/*
 * order.c
 *		Orders keys according to their form.
 *
 * One job sorts words (order_words.c).  Strings and values become words first, and their ties are ordered afterwards
 * (order_strings.c, order_values.c).
 */
#include "postgres.h"

#include "order/order.h"

bool
order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
			uint32 *ranks, void *sorted_words)
{
	word_sort	sort = {
		.spec = spec,
		.segments = segments,
		.num_items = keys->num_items,
		.words = keys->words,
		.stream = keys->stream,
		.kind = keys->kind,
		.width = keys->width,
		.ranks = ranks,
		.sorted = sort_keys_are_elements(keys) ? sorted_words : NULL
	};

	if (keys->form == KEY_WORDS)
		return order_words(&sort) && sort.sorted != NULL;
	if (keys->form == KEY_STRINGS)
		order_strings(spec, segments, keys, ranks);
	else
		order_values(spec, segments, keys, ranks);
	return false;
}
