/*
 * index_scan.c
 *		Collects the rows of a table for an index.
 *
 * Pages are read here if all of their rows are live or dead for everyone and none is part of a chain of HOT updates, as
 * most pages are.  Any other page goes to PostgreSQL's own scan, by its number, and so do all pages if the index is built
 * concurrently, or has expressions or a predicate.  So which rows that old snapshots see, or that belong to transactions in progress,
 * are indexed, and where, is PostgreSQL's business.  The table is locked against writes meanwhile.
 *
 * The session pins a batch of pages while threads read those of the batch before (index_pages.c).
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
#include "core/sizes.h"
#include "index/index_pages.h"
#include "index/index_rows.h"
#include "index/index_scan.h"
#include "scan/heap_pages.h"
#include "settings.h"

/* Pages of a batch, at most.  PostgreSQL keeps a record of each that is pinned, which costs more, the more there are. */
#define BATCH_PAGES MGPU_SIZE(128, 8)

typedef struct page_batch
{
	uint32		num_pages;
	uint64		num_items;		/* line pointers of all */
	Buffer		buffers[BATCH_PAGES];
	index_page	pages[BATCH_PAGES];
} page_batch;

typedef struct page_scan
{
	Relation	heap;
	IndexInfo  *info;
	index_rows *rows;
	TransactionId oldest_xmin;
	double		num_live;
	heap_pages	pages;
	BlockNumber num_pages;		/* that were read */
	BlockNumber first_left;		/* pages left to PostgreSQL that it has not read yet */
	BlockNumber num_left;
	uint32		most_pages;		/* of a batch */
	page_batch *reading;		/* is read */
	page_batch *next;			/* is pinned meanwhile */
	uint32		num_handed;
	index_page *handed[BATCH_PAGES];	/* to threads, of those that are read */
	index_reader *readers;		/* of threads */
	Buffer		asked;			/* the page that index_reader_find asks about */
} page_scan;

/* ---- rows of the session */

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

static index_row_state
ask_about(void *context, BlockNumber block, OffsetNumber offset, HeapTuple row)
{
	const page_scan *scan = context;

	row->t_tableOid = RelationGetRelid(scan->heap);
	switch (HeapTupleSatisfiesVacuum(row, scan->oldest_xmin, scan->asked))
	{
		case HEAPTUPLE_LIVE:
			return INDEX_ROW_LIVE;
		case HEAPTUPLE_DEAD:
			return INDEX_ROW_DEAD;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) ? INDEX_ROW_LIVE : INDEX_ROW_IS_POSTGRESQLS;
		default:
			return INDEX_ROW_IS_POSTGRESQLS;
	}
}

static bool
find_rows(page_scan *scan, const index_page *page, Buffer buffer)
{
	bool		found;

	scan->asked = buffer;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = index_reader_find(&scan->readers[0], page, ask_about, scan);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return found;
}

/* A page that threads did not read, or not all of it. */
static void
take_page(page_scan *scan, const index_page *page, Buffer buffer)
{
	index_reader *reader = &scan->readers[0];
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	ItemPointerData place;

	if (!find_rows(scan, page, buffer))
	{
		leave_page(scan, page->block);
		return;
	}
	index_reader_values(reader, page, page->page);
	for (uint32 row = page->num_done; row < reader->num_rows; row++)
	{
		index_reader_row(reader, row, values, nulls);
		ItemPointerSet(&place, page->block, reader->offsets[row]);
		index_rows_add(scan->rows, &place, values, nulls, false);
	}
	scan->num_live += reader->num_rows - page->num_done;
}

/* ---- batches */

/*
 * Pin the next batch.  A page is locked for a moment: then whoever removed rows from it has ended, and nobody can begin as long as it
 * is pinned.
 */
static void
pin_batch(page_scan *scan, page_batch *batch)
{
	Buffer		buffer;

	batch->num_pages = 0;
	batch->num_items = 0;
	while (batch->num_pages < scan->most_pages && (buffer = heap_pages_take(&scan->pages)) != InvalidBuffer)
	{
		index_page *page = &batch->pages[batch->num_pages];

		CHECK_FOR_INTERRUPTS();
		batch->buffers[batch->num_pages++] = buffer;
		heap_pages_prefetch(&scan->pages);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page->num_items = PageGetMaxOffsetNumber(BufferGetPage(buffer));
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		page->page = BufferGetPage(buffer);
		page->block = BufferGetBlockNumber(buffer);
		page->num_done = 0;
		page->state = INDEX_PAGE_NEW;
		batch->num_items += page->num_items;
	}
}

static void
release_batch(page_batch *batch)
{
	for (uint32 i = 0; i < batch->num_pages; i++)
		ReleaseBuffer(batch->buffers[i]);
}

static void
read_task(void *context, uint64 task, int worker)
{
	page_scan  *scan = context;
	uint64		ahead = Min(task + scan->rows->num_makers, scan->num_handed - 1);

	index_reader_take(&scan->readers[worker], scan->handed[task], scan->handed[ahead]->page);
}

/* Where the items of the batch's pages go: all of a page's line pointers may be rows. */
static void
start_reading(page_scan *scan)
{
	page_batch *batch = scan->reading;
	index_rows *rows = scan->rows;
	uint64		first;

	index_rows_reserve(rows, batch->num_items, rows->keys->are_numbers ? 0 : 2 * batch->num_pages * BLCKSZ);
	first = rows->num_items;
	for (uint32 i = 0; i < batch->num_pages; i++)
	{
		batch->pages[i].first = first;
		first += batch->pages[i].num_items;
		scan->handed[i] = &batch->pages[i];
	}
	scan->num_handed = batch->num_pages;
	thread_work_begin(rows->work, read_task, scan, scan->num_handed);
}

/* Give room to whom it was too little, and the pages that wait for it to threads again.  False: there are none. */
static bool
read_again(page_scan *scan)
{
	uint32		num_pages = 0;

	for (int i = 0; i < scan->rows->num_makers; i++)
		if (scan->rows->makers[i].needed > scan->rows->makers[i].block_bytes - scan->rows->makers[i].block_used)
			index_rows_add_block(scan->rows, &scan->rows->makers[i], scan->rows->makers[i].needed);
	for (uint32 i = 0; i < scan->num_handed; i++)
		if (scan->handed[i]->state == INDEX_PAGE_NO_ROOM)
			scan->handed[num_pages++] = scan->handed[i];
	scan->num_handed = num_pages;
	if (num_pages > 0)
		thread_work_run(scan->rows->work, read_task, scan, num_pages, UINT64_MAX);
	return num_pages > 0;
}

/* Close the gaps between the items of a batch's pages. */
static void
close_gaps(page_scan *scan)
{
	index_rows *rows = scan->rows;
	Size		bytes = rows->item_bytes;

	for (uint32 i = 0; i < scan->reading->num_pages; i++)
	{
		const index_page *page = &scan->reading->pages[i];

		if (page->first != rows->num_items)
			memmove((char *) rows->items + rows->num_items * bytes, (char *) rows->items + page->first * bytes, page->num_done * bytes);
		rows->num_items += page->num_done;
		rows->num_rows += page->num_done;
		scan->num_live += page->num_done;
	}
}

static void
end_reading(page_scan *scan)
{
	page_batch *batch = scan->reading;

	thread_work_end(scan->rows->work);
	while (read_again(scan))
		;
	close_gaps(scan);
	for (uint32 i = 0; i < batch->num_pages && scan->rows->why_not == NULL; i++)
		if (batch->pages[i].state == INDEX_PAGE_NO_NUMBERS)
			index_rows_need_strings(scan->rows);
		else if (batch->pages[i].state == INDEX_PAGE_IS_SESSIONS)
			take_page(scan, &batch->pages[i], batch->buffers[i]);
	release_batch(batch);
	scan->num_pages += batch->num_pages;
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, scan->num_pages);
}

/* ---- the table */

static void
start_scan(page_scan *scan, Relation heap, IndexInfo *info, index_rows *rows)
{
	Size		batch_bytes = rows->memory / 16;

	scan->heap = heap;
	scan->info = info;
	scan->rows = rows;
	scan->oldest_xmin = GetOldestNonRemovableTransactionId(heap);
	/* other sessions need buffers, too */
	scan->most_pages = Min(Min(BATCH_PAGES, batch_bytes / BLCKSZ), NBuffers / MaxBackends / 2);
	scan->most_pages = Max(scan->most_pages, 2);
	scan->reading = palloc0(sizeof(page_batch));
	scan->next = palloc0(sizeof(page_batch));
	scan->readers = palloc0(rows->num_makers * sizeof(index_reader));
	for (int i = 0; i < rows->num_makers; i++)
		index_reader_start(&scan->readers[i], heap, info, rows, i);
}

static void
read_batches(page_scan *scan, BlockNumber num_blocks)
{
	pin_batch(scan, scan->next);
	if (scan->next->num_pages > 0)
		scan->rows->expected_items = (scan->next->num_items + 1) * ((num_blocks + num_blocks / 16) / scan->next->num_pages + 1);
	while (scan->next->num_pages > 0 && scan->rows->why_not == NULL)
	{
		page_batch *batch = scan->next;

		scan->next = scan->reading;
		scan->reading = batch;
		start_reading(scan);
		pin_batch(scan, scan->next);
		end_reading(scan);
	}
	release_batch(scan->next);
}

static double
scan_pages(Relation heap, IndexInfo *info, index_rows *rows)
{
	page_scan  *scan = palloc0(sizeof(page_scan));
	TableScanDesc table = table_beginscan_strat(heap, SnapshotAny, 0, NULL, true, true);
	BlockNumber num_blocks = ((HeapScanDesc) table)->rs_nblocks;

	if (rows->place_bits > 0 && num_blocks > rows->num_blocks)
		elog(ERROR, "a table has grown while an index is built");
	start_scan(scan, heap, info, rows);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, num_blocks);
	heap_pages_start(&scan->pages, (HeapScanDesc) table);
	read_batches(scan, num_blocks);
	heap_pages_stop(&scan->pages);
	if (rows->why_not == NULL)
		scan_left(scan);
	table_endscan(table);
	return scan->num_live;
}

/* Whether rows come from PostgreSQL's scan. */
static bool
is_postgresqls(Relation heap, const IndexInfo *info)
{
	return info->ii_Concurrent || info->ii_Expressions != NIL || info->ii_Predicate != NIL || RelationUsesLocalBuffers(heap) ||
		!mgpu_setting_enable_columns;
}

double
index_scan(Relation heap, IndexInfo *info, index_rows *rows)
{
	if (is_postgresqls(heap, info))
		return table_index_build_scan(heap, rows->keys->index, info, true, true, take_row, rows, NULL);
	return scan_pages(heap, info, rows);
}
