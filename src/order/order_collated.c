/*
 * order_collated.c
 *		Makes sure that collated strings (keys/collated.h) are in the server's order.
 *
 * Each string is compared with the next by the server's own comparison.  That order is transitive,
 * so neighbours in order prove that all are.  This takes one comparison for each string, where
 * sorting by comparison takes log2(n).
 *
 * glibc's strxfrm and strcoll (2.36) disagree on some texts with the same letters, such as '1.1a'
 * and '11 a'.  These are near their places, so each is inserted where it belongs.  If too many are, the
 * strings are sorted by comparison.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/executor.h"
#include "core/sizes.h"

#include "keys/collated.h"
#include "order/order_collated.h"
#include "order/order.h"
#include "settings.h"

#define TASK_ITEMS MGPU_SIZE(16 * 1024, 512)
#define THREADS_MIN_TASKS 8

/* A task that moves strings more places than this gives up: sorting takes no longer. */
#define MOST_MOVES (16 * TASK_ITEMS)

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

/* Whether text, which stands at place, belongs before the one in front of it. */
static bool
is_before(const collated_order *order, const char *text, const char *in_front, int64 place)
{
	int			compared = collated_compare(order->locale, in_front, text);

	return (order->keys->descending ? compared < 0 : compared > 0) && !begins_segment(order->segments, place);
}

/* Move the string at place, which belongs before the one in front, to its place behind first.  Returns how far. */
static int64
insert_string(collated_order *order, int64 first, int64 place)
{
	uint32	   *ranks = order->ranks;
	const char *text = text_at(order, place);
	uint32		rank = ranks[place];
	int64		to = place;

	do
	{
		ranks[to] = ranks[to - 1];
		to--;
	} while (to > first && is_before(order, text, text_at(order, to - 1), to));
	ranks[to] = rank;
	return place - to;
}

static void
check_task(void *context, uint64 task, int worker)
{
	collated_order *order = context;
	int64		first = task * TASK_ITEMS;
	int64		end = Min(first + TASK_ITEMS, order->num_items);
	const char *in_front = text_at(order, first);
	int64		moves = 0;

	for (int64 i = first + 1; i < end && moves <= MOST_MOVES; i++)
	{
		const char *text = text_at(order, i);

		if (i + 2 * STRINGS_AHEAD < end)
			__builtin_prefetch(&order->keys->spans[order->ranks[i + 2 * STRINGS_AHEAD]]);
		if (i + STRINGS_AHEAD < end)
			prefetch_string(order, i + STRINGS_AHEAD);
		/* the one in front then stands here */
		if (is_before(order, text, in_front, i))
			moves += insert_string(order, first, i);
		else
			in_front = text;
	}
	if (moves > MOST_MOVES)
		order->is_wrong = true;
}

/* Whether the string at place belongs before the one in front. */
static bool
is_misplaced(const collated_order *order, int64 place)
{
	return place > 0 && is_before(order, text_at(order, place), text_at(order, place - 1), place);
}

/* Join the tasks' stretches: the first strings of one may belong into the one before. */
static void
join_stretches(collated_order *order)
{
	int64		moves = 0;

	for (int64 begin = TASK_ITEMS; begin < order->num_items && !order->is_wrong; begin += TASK_ITEMS)
		for (int64 i = begin; i < order->num_items && is_misplaced(order, i); i++)
		{
			int64		moved = insert_string(order, begin - TASK_ITEMS, i);

			moves += moved;
			/* farther than one stretch is not near */
			if (moves > MOST_MOVES || is_misplaced(order, i - moved))
			{
				order->is_wrong = true;
				break;
			}
			CHECK_FOR_INTERRUPTS();
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
order_collate_neighbours(collated_order *order, thread_work *work)
{
	order->is_wrong = mgpu_setting_inject_fault == MGPU_FAULT_COLLATION;
	thread_work_run(work, check_task, order, (order->num_items + TASK_ITEMS - 1) / TASK_ITEMS, THREADS_MIN_TASKS);
	join_stretches(order);
	return !order->is_wrong;
}

void
order_by_collation(collated_order *order)
{
	order_each_segment(order->segments, order->num_items, sort_segment, order);
}
