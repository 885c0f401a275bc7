/*
 * collated.c
 *		Checks the order of collated strings (keys/collated.h), and mends it.
 *
 * Each string is compared with the next by the server's own comparison.  That order is transitive,
 * so neighbours in order prove that all are.  The check takes one comparison for each string, where
 * sorting by comparison takes log2(n).  If it fails, the strings are sorted by comparison.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/executor.h"

#include "keys/collated.h"
#include "order/collated.h"
#include "order/words.h"
#include "settings.h"

#define TASK_ITEMS (16 * 1024)
#define THREADS_MIN_TASKS 8

/* How many strings ahead to prefetch: they may lie anywhere. */
#define STRINGS_AHEAD 16

static inline const char *
text_at(const collated_order *order, int64 place)
{
	return collated_text(order->keys->data + order->keys->spans[order->ranks[place]].offset);
}

static bool
begins_segment(const segment_list *segments, int64 place)
{
	int64		low = 0;
	int64		high = segments ? segments->num_segments : 0;

	/* heads before low are below place, those from high on are not */
	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (segments->heads[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	return segments && low < segments->num_segments && segments->heads[low] == place;
}

static void
prefetch_string(const collated_order *order, int64 place)
{
	const char *string = order->keys->data + order->keys->spans[order->ranks[place]].offset;

	__builtin_prefetch(string);
	__builtin_prefetch(string + 64);
}

static void
check_task(void *context, uint64 task, int worker)
{
	collated_order *order = context;
	int64		first = task * TASK_ITEMS;
	int64		end = Min(first + TASK_ITEMS, order->num_items);
	const char *text = text_at(order, Max(first, 1) - 1);

	for (int64 i = Max(first, 1); i < end; i++)
	{
		const char *next = text_at(order, i);
		int			compared = collated_compare(order->locale, text, next);

		if (i + 2 * STRINGS_AHEAD < end)
			__builtin_prefetch(&order->keys->spans[order->ranks[i + 2 * STRINGS_AHEAD]]);
		if (i + STRINGS_AHEAD < end)
			prefetch_string(order, i + STRINGS_AHEAD);
		if ((order->keys->descending ? compared < 0 : compared > 0) && !begins_segment(order->segments, i))
			order->is_wrong = true;
		text = next;
	}
}

static int
compare_ranks(const uint32 *a, const uint32 *b, const collated_order *order)
{
	const mgpu_byte_keys *keys = order->keys;
	int			compared = collated_compare(order->locale, collated_text(keys->data + keys->spans[*a].offset),
											collated_text(keys->data + keys->spans[*b].offset));

	if (keys->descending)
		INVERT_COMPARE_RESULT(compared);
	if (compared == 0)
		compared = *a < *b ? -1 : 1;
	return compared;
}

#define ST_SORT sort_ranks
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, order) compare_ranks(a, b, order)
#define ST_COMPARE_ARG_TYPE const collated_order
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
sort_segment(void *context, int64 begin, int64 end)
{
	collated_order *order = context;

	sort_ranks(order->ranks + begin, end - begin, order);
}

bool
order_is_collated(collated_order *order, thread_work *work)
{
	order->is_wrong = mgpu_setting_inject_fault == MGPU_FAULT_COLLATION;
	thread_work_run(work, check_task, order, (order->num_items + TASK_ITEMS - 1) / TASK_ITEMS, THREADS_MIN_TASKS);
	return !order->is_wrong;
}

void
order_by_collation(collated_order *order)
{
	order_each_segment(order->segments, order->num_items, sort_segment, order);
}
