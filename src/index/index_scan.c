/*
 * index_scan.c
 *		Collects the rows of a table for an index.
 *
 * Pages are read here if all of their rows are live or dead for everyone and none is part of a chain of HOT updates, as
 * most pages are.  Any other page goes to PostgreSQL's own scan, by its number, and so do all pages if the index is built
 * concurrently, or has expressions or a predicate.  So which rows that old snapshots see, or that belong to transactions in progress,
 * are indexed, and where, is PostgreSQL's business.  The table is locked against writes meanwhile.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"

#include "compat.h"
#include "index/index_scan.h"
#include "scan/heap_pages.h"
#include "scan/page_values.h"
#include "settings.h"

/* Pages between two reports of progress. */
#define REPORTED_PAGES 64

typedef struct page_scan
{
	Relation	heap;
	IndexInfo  *info;
	index_rows *rows;
	TransactionId oldest_xmin;
	double		num_live;
	page_values *values;
	int			num_columns;
	int			lists[INDEX_MAX_KEYS];	/* of values, by the index's column */
	BlockNumber first_left;		/* pages left to PostgreSQL that it has not read yet */
	BlockNumber num_left;
	uint32		num_rows;		/* of the page, those to index */
	ItemIdData	items[MaxHeapTuplesPerPage];
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} page_scan;

/* A row of PostgreSQL's scan. */
static void
take_row(Relation index, ItemPointer place, Datum *values, bool *nulls, bool is_alive, void *state)
{
	index_rows_add(state, place, values, nulls, !is_alive);
}

static void
scan_left(page_scan *scan)
{
	if (scan->num_left > 0)
		scan->num_live += table_index_build_range_scan(scan->heap, scan->rows->keys->index, scan->info, false, false, false,
													   scan->first_left, scan->num_left, take_row, scan->rows, NULL);
	scan->num_left = 0;
}

static void
leave_page(page_scan *scan, BlockNumber block)
{
	if (scan->num_left > 0 && block != scan->first_left + scan->num_left)
		scan_left(scan);
	if (scan->num_left++ == 0)
		scan->first_left = block;
}

/* ---- a page */

typedef enum row_state
{
	ROW_LIVE,
	ROW_DEAD,
	ROW_IS_POSTGRESQLS
} row_state;

static row_state
ask_about(const page_scan *scan, Buffer buffer, HeapTuple row)
{
	switch (HeapTupleSatisfiesVacuum(row, scan->oldest_xmin, buffer))
	{
		case HEAPTUPLE_LIVE:
			return ROW_LIVE;
		case HEAPTUPLE_DEAD:
			return ROW_DEAD;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) ? ROW_LIVE : ROW_IS_POSTGRESQLS;
		default:
			return ROW_IS_POSTGRESQLS;
	}
}

static row_state
state_of_row(const page_scan *scan, Buffer buffer, ItemId item, OffsetNumber offset)
{
	Page		page = BufferGetPage(buffer);
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, item);
	uint16		settled = HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID;
	HeapTupleData row;

	if ((header->t_infomask2 & HEAP_ONLY_TUPLE) != 0)
		return ROW_IS_POSTGRESQLS;
	/* then that is PostgreSQL's first answer, too */
	if ((header->t_infomask & settled) == settled || PageIsAllVisible(page))
		return ROW_LIVE;
	row.t_len = ItemIdGetLength(item);
	row.t_data = header;
	row.t_tableOid = RelationGetRelid(scan->heap);
	ItemPointerSet(&row.t_self, BufferGetBlockNumber(buffer), offset);
	return ask_about(scan, buffer, &row);
}

/* Find the rows of a page to index.  False: the page is PostgreSQL's. */
static bool
find_rows(page_scan *scan, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	scan->num_rows = 0;
	if (last > MaxHeapTuplesPerPage)
		return false;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		row_state	state;

		if (ItemIdIsRedirected(item))
			return false;
		if (!ItemIdIsNormal(item))
			continue;
		state = state_of_row(scan, buffer, item, offset);
		if (state == ROW_IS_POSTGRESQLS)
			return false;
		scan->items[scan->num_rows] = *item;
		scan->offsets[scan->num_rows] = offset;
		scan->num_rows += state == ROW_LIVE;
	}
	return true;
}

static void
take_numbers(page_scan *scan, BlockNumber block)
{
	const index_keys *keys = scan->rows->keys;
	mgpu_u128	numbers[MaxHeapTuplesPerPage];
	bool		is_exact = true;

	memset(numbers, 0, scan->num_rows * sizeof(mgpu_u128));
	for (int i = 0; i < keys->num_keys; i++)
		is_exact &= index_keys_add_values(&keys->keys[i], page_values_list(scan->values, scan->lists[i])->values, scan->num_rows,
										  numbers);
	if (is_exact)
		index_rows_add_numbers(scan->rows, block, scan->offsets, numbers, scan->num_rows);
	else
		index_rows_need_strings(scan->rows);
}

static void
take_strings(page_scan *scan, BlockNumber block)
{
	TupleDesc	descriptor = RelationGetDescr(scan->rows->keys->index);
	const value_list *lists[INDEX_MAX_KEYS];
	ItemPointerData place;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	for (int i = 0; i < scan->num_columns; i++)
		lists[i] = page_values_list(scan->values, scan->lists[i]);
	for (uint32 row = 0; row < scan->num_rows; row++)
	{
		for (int i = 0; i < scan->num_columns; i++)
		{
			const char *value = lists[i]->values[row];

			nulls[i] = value == NULL;
			values[i] = value ? fetchatt(TupleDescAttr(descriptor, i), value) : (Datum) 0;
		}
		ItemPointerSet(&place, block, scan->offsets[row]);
		index_rows_add(scan->rows, &place, values, nulls, false);
	}
}

static void
take_rows(page_scan *scan, Buffer buffer, const char *ahead)
{
	page_values_find(scan->values, BufferGetPage(buffer), scan->items, scan->num_rows, ahead);
	if (scan->rows->keys->are_numbers)
		take_numbers(scan, BufferGetBlockNumber(buffer));
	else
		take_strings(scan, BufferGetBlockNumber(buffer));
	scan->num_live += scan->num_rows;
}

/* The page is pinned, so that its rows stay where they are without a lock. */
static void
read_page(page_scan *scan, Buffer buffer, const heap_pages *pages)
{
	bool		is_plain;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_plain = find_rows(scan, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (!is_plain)
		leave_page(scan, BufferGetBlockNumber(buffer));
	else
	{
		/* in the table's order, if that can be */
		scan_left(scan);
		take_rows(scan, buffer, BufferGetPage(BufferIsValid(pages->ahead) ? pages->ahead : buffer));
	}
	ReleaseBuffer(buffer);
}

/* ---- the table */

static void
start_scan(page_scan *scan, Relation heap, IndexInfo *info, index_rows *rows)
{
	memset(scan, 0, offsetof(page_scan, items));
	scan->heap = heap;
	scan->info = info;
	scan->rows = rows;
	scan->oldest_xmin = GetOldestNonRemovableTransactionId(heap);
	scan->values = page_values_create(RelationGetDescr(heap));
	scan->num_columns = rows->keys->num_columns;
	for (int i = 0; i < scan->num_columns; i++)
		scan->lists[i] = page_values_want(scan->values, info->ii_IndexAttrNumbers[i], true);
	page_values_plan(scan->values);
}

static double
scan_pages(Relation heap, IndexInfo *info, index_rows *rows)
{
	page_scan  *scan = palloc(sizeof(page_scan));
	TableScanDesc table = table_beginscan_strat(heap, SnapshotAny, 0, NULL, true, true);
	heap_pages	pages = {0};
	BlockNumber num_pages = 0;
	Buffer		buffer;

	start_scan(scan, heap, info, rows);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, ((HeapScanDesc) table)->rs_nblocks);
	heap_pages_start(&pages, (HeapScanDesc) table);
	while (rows->why_not == NULL && BufferIsValid(buffer = heap_pages_take(&pages)))
	{
		CHECK_FOR_INTERRUPTS();
		heap_pages_prefetch(&pages);
		read_page(scan, buffer, &pages);
		if (++num_pages % REPORTED_PAGES == 0)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, num_pages);
	}
	heap_pages_stop(&pages);
	if (rows->why_not == NULL)
		scan_left(scan);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, num_pages);
	table_endscan(table);
	return scan->num_live;
}

double
index_scan(Relation heap, IndexInfo *info, index_rows *rows)
{
	if (info->ii_Concurrent || info->ii_Expressions != NIL || info->ii_Predicate != NIL || RelationUsesLocalBuffers(heap) ||
		!mgpu_setting_enable_columns)
		return table_index_build_scan(heap, rows->keys->index, info, true, true, take_row, rows, NULL);
	return scan_pages(heap, info, rows);
}
