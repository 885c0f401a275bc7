/*
 * index_order.c
 *		Sorts the rows of an index that are in memory.
 *
 * One sort of all items orders numbers, and strings by their first 8 bytes.  Runs of strings with equal beginnings are
 * sorted by their next 8 bytes, and so on.  Of rows with equal keys the one comes first that is first in the table.
 *
 * Strings of the C library's collations are then proved, as order/order_collated.c does it: each row is compared with the next by
 * the index's own function, and those that are not in their places are moved there.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "compat.h"
#include "core/executor.h"
#include "core/sizes.h"
#include "core/unsigned_sort.h"
#include "index/index_compare.h"
#include "index/index_rows.h"
#include "index/index_sort.h"
#include "large_memory.h"
#include "settings.h"

/* Shorter runs are sorted by comparison. */
#define COMPARED_ITEMS MGPU_SIZE(48, 4)

/* From here on, strings are compared: their rounds would be as many as they have bytes. */
#define COMPARED_BYTES MGPU_SIZE(512, 32)

#define ITEMS_AHEAD 12

static void
sort_items(index_rows *rows)
{
	void	   *sorted = index_sort(rows->items, rows->num_items, index_item_bytes(rows), rows->work);

	if (sorted == rows->items)
		return;
	pfree(rows->items);
	rows->items = sorted;
	rows->most_items = rows->num_items;
}

/* ---- runs of equal beginnings */

/* Rows first … end - 1 are equal in all bytes up to 8 + offset. */
typedef struct equal_run
{
	const index_rows *rows;
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
compare_entries(const index_entry *a, const index_entry *b, uint32 offset)
{
	uint32		common = Min(a->rest_bytes, b->rest_bytes);
	int			order = 0;

	if (common > offset)
		order = memcmp(index_entry_rest(a) + offset, index_entry_rest(b) + offset, common - offset);
	if (order == 0)
		order = ItemPointerCompare(&index_entry_tuple(a)->t_tid, &index_entry_tuple(b)->t_tid);
	return order;
}

static int
compare_items(const mgpu_u128 *a, const mgpu_u128 *b, const equal_run *run)
{
	return compare_entries(index_entry_of(run->rows, *a), index_entry_of(run->rows, *b), run->offset);
}

#define ST_SORT sort_by_comparison
#define ST_ELEMENT_TYPE mgpu_u128
#define ST_COMPARE(a, b, run) compare_items(a, b, run)
#define ST_COMPARE_ARG_TYPE const equal_run
#define ST_CHECK_FOR_INTERRUPTS
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
			__builtin_prefetch(entry_of(run->rows, i + ITEMS_AHEAD));
		if (compare_entries(entry_of(run->rows, i - 1), entry_of(run->rows, i), run->offset) > 0)
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

		if (first->rest_bytes <= run->offset)
			return false;
		while (i < run->end && code_at(entry_of(run->rows, i), run->offset) == code)
			i++;
		if (i < run->end)
			return true;
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

	for (uint64 i = 0; i < num_items; i++)
	{
		if (i + ITEMS_AHEAD < num_items)
			__builtin_prefetch(entry_of(run->rows, run->first + i + ITEMS_AHEAD));
		coded[i] = (mgpu_u128) code_at(entry_of(run->rows, run->first + i), run->offset) << 64 | (uint64) items[i];
	}
	mgpu_sort_unsigned(coded, num_items, sizeof(mgpu_u128), NULL);
	CHECK_FOR_INTERRUPTS();
	for (uint64 i = 0; i < num_items; i++)
		items[i] = (mgpu_u128) high << 64 | (uint64) coded[i];
	sort_next(run, coded);
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

static void
sort_equal_beginnings(index_rows *rows)
{
	uint64		begin = 0;

	for (uint64 i = 1; i <= rows->num_items; i++)
	{
		if (i < rows->num_items && index_strings(rows)[i] >> 64 == index_strings(rows)[begin] >> 64)
			continue;
		if (i - begin > 1)
			sort_run((equal_run) {rows, begin, i, 0});
		begin = i;
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* ---- collated strings */

static int
compare_collated(const mgpu_u128 *a, const mgpu_u128 *b, const index_rows *rows)
{
	return index_compare(rows->keys, index_entry_tuple(index_entry_of(rows, *a)), index_entry_tuple(index_entry_of(rows, *b)));
}

#define ST_SORT sort_by_collation
#define ST_ELEMENT_TYPE mgpu_u128
#define ST_COMPARE(a, b, rows) compare_collated(a, b, rows)
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
	} while (to > 0 && compare_collated(&items[to - 1], &moved, rows) > 0);
	items[to] = moved;
	return i - to;
}

/* False: too many items are not in their places. */
static bool
prove_order(index_rows *rows)
{
	uint64		most_moves = rows->num_items / 4 + 1024;
	uint64		moves = 0;

	if (mgpu_setting_inject_fault == MGPU_FAULT_COLLATION)
		return false;
	for (uint64 i = 1; i < rows->num_items; i++)
	{
		if (i + ITEMS_AHEAD < rows->num_items)
			__builtin_prefetch(index_entry_tuple(entry_of(rows, i + ITEMS_AHEAD)));
		if (compare_collated(&index_strings(rows)[i - 1], &index_strings(rows)[i], rows) > 0)
			moves += move_back(rows, i);
		if (moves > most_moves)
			return false;
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

void
index_rows_sort(index_rows *rows)
{
	if (rows->num_items < 2)
		return;
	sort_items(rows);
	if (!rows->keys->are_numbers)
		sort_equal_beginnings(rows);
	if (rows->keys->is_collated && !prove_order(rows))
		sort_by_collation(rows->items, rows->num_items, rows);
}
