/*
 * order.c
 *		Orders keys according to their form.
 *
 * One job of an executor sorts words (order_words.c).  Strings and values become words first, and their
 * ties are ordered afterwards (order_strings.c, order_values.c).
 */
#include "postgres.h"

#include "order/forms.h"
#include "order/order.h"
#include "order/order_words.h"

bool
order_ranks(const sort_spec *spec, const segment_list *segments, const sort_keys *keys,
			uint32 *ranks, void *sorted_words)
{
	word_sort	sort = {.spec = spec,.segments = segments,.num_items = keys->num_items,.cpu_reason = spec->cpu_reason};

	if (keys->form == KEY_STRINGS)
		order_strings(spec, segments, keys, ranks);
	else if (keys->form == KEY_VALUES)
		order_values(spec, segments, keys, ranks);
	else
	{
		sort.words = keys->words;
		sort.stream = keys->stream;
		sort.kind = keys->kind;
		sort.width = keys->width;
		sort.ranks = ranks;
		sort.sorted = sort_keys_are_elements(keys) ? sorted_words : NULL;
		return order_words(&sort) && sort.sorted != NULL;
	}
	return false;
}
