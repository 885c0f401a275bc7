/*
 * index_order.c
 *		Sorts the rows of an index that are in memory.
 *
 * One sort of all items orders numbers, and strings by their first 8 bytes.  Runs of strings with equal beginnings are sorted by
 * comparison, by threads.  Long ones are sorted by their next 8 bytes, and so on.  Of rows with equal keys the one comes first that
 * is first in the table.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "compat.h"
#include "core/sizes.h"
#include "index/index_collate.h"
#include "index/index_order.h"
#include "index/index_sort.h"
#include "large_memory.h"

/* Longer runs are sorted by the session, and by more bytes if they are longer than the second. */
#define THREADS_RUN MGPU_SIZE(4096, 16)
#define COMPARED_ITEMS MGPU_SIZE(48, 4)

/* From here on, strings are compared: their rounds would be as many as they have bytes. */
#define COMPARED_BYTES MGPU_SIZE(512, 32)

/* Items of a thread's task. */
#define TASK_ITEMS MGPU_SIZE(32 * 1024, 64)

#define ITEMS_AHEAD 12

/* ---- runs of equal beginnings */

/* Rows first … end - 1 are equal in all bytes up to offset. */
typedef struct equal_run
{
	index_rows *rows;
	uint64		first;
	uint64		end;
	uint32		offset;			/* in the rest of strings */
} equal_run;

static inline index_entry *
entry_of(const index_rows *rows, uint64 i)
{
	return index_entry_of(rows, index_strings(rows)[i]);
}

static int
compare_items(const mgpu_u128 *a, const mgpu_u128 *b, const equal_run *run)
{
	return index_compare_rest(index_entry_of(run->rows, *a), index_entry_of(run->rows, *b), run->offset);
}

#define ST_SORT sort_by_comparison
#define ST_ELEMENT_TYPE mgpu_u128
#define ST_COMPARE(a, b, run) compare_items(a, b, run)
#define ST_COMPARE_ARG_TYPE const equal_run
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* For threads, which must not look at interrupts: the header of 14 leaves the macro defined. */
#undef ST_CHECK_FOR_INTERRUPTS
#define ST_SORT sort_short_run
#define ST_ELEMENT_TYPE mgpu_u128
#define ST_COMPARE(a, b, run) compare_items(a, b, run)
#define ST_COMPARE_ARG_TYPE const equal_run
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Whether the run is in order: so are most runs of equal rows. */
static bool
is_in_order(const equal_run *run)
{
	for (uint64 i = run->first + 1; i < run->end; i++)
	{
		if (i + ITEMS_AHEAD < run->end)
			index_fetch_ahead(entry_of(run->rows, i + ITEMS_AHEAD));
		if (index_compare_rest(entry_of(run->rows, i - 1), entry_of(run->rows, i), run->offset) > 0)
			return false;
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* The next 8 bytes of a string; behind its end are zeros. */
static inline uint64
code_at(const index_entry *entry, uint32 offset)
{
	uint32		size = entry->rest_bytes > offset ? Min(entry->rest_bytes - offset, sizeof(uint64)) : 0;
	uint64		code = 0;

	memcpy(&code, index_entry_rest(entry) + offset, size);
	return pg_ntoh64(code);
}

static void sort_run(equal_run run);

/* Sort the runs of equal codes that a round has left. */
static void
sort_next(const equal_run *run, const mgpu_u128 *coded)
{
	uint64		num_items = run->end - run->first;
	uint64		begin = 0;

	for (uint64 i = 1; i <= num_items; i++)
		if (i == num_items || coded[i] >> 64 != coded[begin] >> 64)
		{
			if (i - begin > 1)
				sort_run((equal_run) {run->rows, run->first + begin, run->first + i, run->offset + sizeof(uint64)});
			begin = i;
		}
}

/* Move a run's offset behind what all of its strings share.  False: they are equal. */
static bool
skip_shared(equal_run *run)
{
	for (;; run->offset += sizeof(uint64))
	{
		const index_entry *first = entry_of(run->rows, run->first);
		uint64		code = code_at(first, run->offset);
		uint64		i = run->first + 1;

		while (i < run->end && code_at(entry_of(run->rows, i), run->offset) == code)
			i++;
		if (i < run->end)
			return true;
		if (first->rest_bytes <= run->offset)
			return false;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sort a run by its next 8 bytes. */
static void
sort_round(const equal_run *run)
{
	mgpu_u128  *items = index_strings(run->rows) + run->first;
	uint64		high = (uint64) (items[0] >> 64);
	uint64		num_items = run->end - run->first;
	mgpu_u128  *coded = large_alloc(CurrentMemoryContext, num_items * sizeof(mgpu_u128));
	mgpu_u128  *sorted;

	for (uint64 i = 0; i < num_items; i++)
	{
		if (i + ITEMS_AHEAD < num_items)
			index_fetch_ahead(entry_of(run->rows, run->first + i + ITEMS_AHEAD));
		coded[i] = (mgpu_u128) code_at(entry_of(run->rows, run->first + i), run->offset) << 64 | (uint64) items[i];
	}
	sorted = index_sort(coded, num_items, sizeof(mgpu_u128), run->rows->work);
	CHECK_FOR_INTERRUPTS();
	for (uint64 i = 0; i < num_items; i++)
		items[i] = (mgpu_u128) high << 64 | (uint64) sorted[i];
	sort_next(run, sorted);
	if (sorted != coded)
		pfree(sorted);
	pfree(coded);
}

static void
sort_run(equal_run run)
{
	if (is_in_order(&run))
		return;
	if (run.end - run.first <= COMPARED_ITEMS || run.offset >= COMPARED_BYTES || !skip_shared(&run))
		sort_by_comparison(index_strings(run.rows) + run.first, run.end - run.first, &run);
	else
		sort_round(&run);
}

/* The end of the run that begins with this item. */
static inline uint64
end_of_run(const index_rows *rows, uint64 begin)
{
	const mgpu_u128 *items = index_strings(rows);
	uint64		end = begin + 1;

	while (end < rows->num_items && items[end] >> 64 == items[begin] >> 64)
		end++;
	return end;
}

/* Sort the short runs that begin among the task's items. */
static void
sort_task(void *context, uint64 task, int worker)
{
	index_rows *rows = context;
	mgpu_u128  *items = index_strings(rows);
	uint64		begin = task * TASK_ITEMS;
	uint64		task_end = Min(begin + TASK_ITEMS, rows->num_items);

	while (begin > 0 && begin < task_end && items[begin] >> 64 == items[begin - 1] >> 64)
		begin++;
	for (uint64 end; begin < task_end; begin = end)
	{
		equal_run	run = {rows, begin, 0, 0};

		end = end_of_run(rows, begin);
		if (end - begin > 1 && end - begin <= THREADS_RUN)
			sort_short_run(items + begin, end - begin, &run);
	}
}

/* Run a function of the rows by threads, each task for TASK_ITEMS of them. */
static void
run_tasks(index_rows *rows, mgpu_task_function function)
{
	thread_work_run(rows->work, function, rows, (rows->num_items + TASK_ITEMS - 1) / TASK_ITEMS, UINT64_MAX);
}

static void
sort_equal_beginnings(index_rows *rows)
{
	run_tasks(rows, sort_task);
	for (uint64 begin = 0, end; begin < rows->num_items; begin = end)
	{
		end = end_of_run(rows, begin);
		if (end - begin > THREADS_RUN)
			sort_run((equal_run) {rows, begin, end, 0});
		if (begin / TASK_ITEMS != end / TASK_ITEMS)
			CHECK_FOR_INTERRUPTS();
	}
}

void
index_rows_sort(index_rows *rows)
{
	void	   *sorted = index_sort(rows->items, rows->num_items, rows->item_bytes, rows->work);

	if (sorted != rows->items)
	{
		pfree(rows->items);
		rows->items = sorted;
		rows->most_items = rows->num_items;
	}
	if (!rows->keys->are_numbers)
		sort_equal_beginnings(rows);
	if (rows->keys->is_collated)
		index_collate(rows);
}

/* ---- neighbours */

/* Of the first one of a task, nothing is found: the one before is another task's. */
static void
compare_task(void *context, uint64 task, int worker)
{
	index_rows *rows = context;
	mgpu_u128  *items = index_strings(rows);
	uint64		end = Min((task + 1) * TASK_ITEMS, rows->num_items);

	for (uint64 i = task * TASK_ITEMS + 1; i < end; i++)
	{
		if (i + ITEMS_AHEAD < end && items[i + ITEMS_AHEAD - 1] >> 64 == items[i + ITEMS_AHEAD] >> 64)
			index_fetch_ahead(entry_of(rows, i + ITEMS_AHEAD));
		if (items[i - 1] >> 64 == items[i] >> 64 && !index_same_rest(entry_of(rows, i - 1), entry_of(rows, i)))
			items[i] |= INDEX_ITEM_DIFFERS;
	}
}

void
index_rows_compare(index_rows *rows)
{
	if (!rows->keys->are_numbers)
		run_tasks(rows, compare_task);
}
