/*
 * index_collate.c
 *		Puts rows whose strings are collated in the order of the index's own functions.
 *
 * Strings of the C library's collations are nearly in order (keys/collated.h).  They are proved, as order/order_collated.c does it:
 * each row is compared with the one before.  Threads do that as the index's functions would, and find the stretches in which rows
 * are not in their places.  There the session compares by these functions, and moves rows.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "core/executor.h"
#include "core/sizes.h"
#include "index/index_collate.h"
#include "index/index_compare.h"
#include "keys/collated.h"
#include "settings.h"

/* Items of a thread's task. */
#define TASK_ITEMS MGPU_SIZE(16 * 1024, 64)

#define ITEMS_AHEAD 12

typedef struct collate_work
{
	index_rows *rows;
	bool	   *are_wrong;		/* by task: an item belongs before the one before */
} collate_work;

/* ---- for threads */

/* The end of a column's part of a string, behind the zero that ends it; of a descending one, its complement. */
static inline const unsigned char *
end_of_part(const index_key *key, const unsigned char *part)
{
	unsigned char end = key->descending ? 0xFF : 0;

	if (key->kind != 0)
		return part + key->width;
	while (*part != end)
		part++;
	return part + 1;
}

/* Compare strings as index_compare does their rows.  No collated column is descending. */
static int
compare_strings(const index_keys *keys, const unsigned char *a, const unsigned char *b)
{
	int			order = 0;

	for (int i = 0; i < keys->num_keys && order == 0; i++)
	{
		const index_key *key = &keys->keys[i];
		const unsigned char *end_a;

		/* NULL, or not */
		if (*a != *b)
			return *a < *b ? -1 : 1;
		if ((*a == 0) == key->nulls_first)
		{
			a++;
			b++;
			continue;
		}
		end_a = end_of_part(key, a + 1);
		if (key->locale)
		{
			const unsigned char *text_a = end_a;
			const unsigned char *text_b = end_of_part(key, b + 1);

			order = collated_compare(key->locale, (const char *) text_a, (const char *) text_b);
			end_a = end_of_part(key, text_a);
			b = end_of_part(key, text_b);
		}
		else
		{
			const unsigned char *end_b = end_of_part(key, b + 1);

			/* the end is one of the bytes that are compared */
			order = memcmp(a + 1, b + 1, Min(end_a - a, end_b - b) - 1);
			b = end_b;
		}
		a = end_a;
	}
	return order;
}

static bool
are_in_order(const index_rows *rows, uint64 i)
{
	const index_entry *a = index_entry_of(rows, index_strings(rows)[i - 1]);
	const index_entry *b = index_entry_of(rows, index_strings(rows)[i]);
	int			order = compare_strings(rows->keys, index_entry_rest(a), index_entry_rest(b));

	return order < 0 || (order == 0 && ItemPointerCompare(&index_entry_tuple(a)->t_tid, &index_entry_tuple(b)->t_tid) < 0);
}

static void
prove_task(void *context, uint64 task, int worker)
{
	collate_work *work = context;
	const index_rows *rows = work->rows;
	uint64		end = Min((task + 1) * TASK_ITEMS, rows->num_items);

	for (uint64 i = Max(task * TASK_ITEMS, 1); i < end && !work->are_wrong[task]; i++)
	{
		if (i + ITEMS_AHEAD < end)
			index_fetch_ahead(index_entry_of(rows, index_strings(rows)[i + ITEMS_AHEAD]));
		work->are_wrong[task] = !are_in_order(rows, i);
	}
}

/* ---- of the session */

static int
compare_rows(const mgpu_u128 *a, const mgpu_u128 *b, const index_rows *rows)
{
	return index_compare(rows->keys, index_entry_tuple(index_entry_of(rows, *a)), index_entry_tuple(index_entry_of(rows, *b)));
}

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE mgpu_u128
#define ST_COMPARE(a, b, rows) compare_rows(a, b, rows)
#define ST_COMPARE_ARG_TYPE const index_rows
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Move an item that is not in its place to where it belongs, before the items in front of it.  Returns how far. */
static uint64
move_back(index_rows *rows, uint64 i)
{
	mgpu_u128  *items = index_strings(rows);
	mgpu_u128	moved = items[i];
	uint64		to = i;

	do
	{
		items[to] = items[to - 1];
		to--;
	} while (to > 0 && compare_rows(&items[to - 1], &moved, rows) > 0);
	items[to] = moved;
	return i - to;
}

/* Put a stretch in order, and what is behind it as long as its neighbours change, with so many moves at most.  Returns how many. */
static uint64
mend_stretch(index_rows *rows, uint64 task, uint64 most)
{
	mgpu_u128  *items = index_strings(rows);
	uint64		end = (task + 1) * TASK_ITEMS;
	bool		moved = false;
	uint64		moves = 0;

	for (uint64 i = Max(task * TASK_ITEMS, 1); i < rows->num_items && (i <= end || moved) && moves <= most; i++)
	{
		moved = compare_rows(&items[i - 1], &items[i], rows) > 0;
		if (moved)
			moves += move_back(rows, i);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return moves;
}

/* False: too many items are not in their places. */
static bool
prove_order(index_rows *rows)
{
	uint64		num_tasks = (rows->num_items + TASK_ITEMS - 1) / TASK_ITEMS;
	collate_work work = {rows, palloc0(num_tasks + 1)};
	uint64		most = rows->num_items / 4 + 1024;
	uint64		moves = 0;

	for (int i = 0; i < rows->keys->num_keys; i++)
		if (rows->keys->keys[i].locale && rows->keys->keys[i].descending)
			memset(work.are_wrong, true, num_tasks);
	thread_work_run(rows->work, prove_task, &work, num_tasks, UINT64_MAX);
	for (uint64 task = 0; task < num_tasks && moves <= most; task++)
		if (work.are_wrong[task])
			moves += mend_stretch(rows, task, most - moves);
	pfree(work.are_wrong);
	return moves <= most;
}

void
index_collate(index_rows *rows)
{
	if (mgpu_setting_inject_fault == MGPU_FAULT_COLLATION || !prove_order(rows))
		sort_rows(index_strings(rows), rows->num_items, rows);
}
