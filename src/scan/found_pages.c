/*
 * found_pages.c
 *		The pages of a table that an index names, as the nodes below a Bitmap Heap Scan do (found_pages.h).
 *
 * Only pages are taken, not rows: those of a page are all looked at, as columns, and the conditions that the index has met are tested again.
 * So it does not matter whether the bitmap has kept rows, or pages alone for want of memory.  A row that is visible to the query is on a page that its index
 * entry names, for rows that an update has left without an entry stay on the page of the first.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/tidbitmap.h"

#include "scan/found_pages.h"

/* Pages for which a list has room at first. */
#define FIRST_PAGES 1024

/* Pages that follow each other, at least, on average, to be worth one read. */
#define LEAST_RUN 8

#if PG_VERSION_NUM >= 180000
typedef TBMPrivateIterator bitmap_pages;
#define begin_bitmap(bitmap) tbm_begin_private_iterate(bitmap)
#define end_bitmap(pages) tbm_end_private_iterate(pages)
#else
typedef TBMIterator bitmap_pages;
#define begin_bitmap(bitmap) tbm_begin_iterate(bitmap)
#define end_bitmap(pages) tbm_end_iterate(pages)
#endif

/* The next page, or InvalidBlockNumber. */
static BlockNumber
next_page(bitmap_pages *pages)
{
#if PG_VERSION_NUM >= 180000
	TBMIterateResult result;

	return tbm_private_iterate(pages, &result) ? result.blockno : InvalidBlockNumber;
#else
	const TBMIterateResult *result = tbm_iterate(pages);

	return result ? result->blockno : InvalidBlockNumber;
#endif
}

static void
list_pages(found_pages *found, TIDBitmap *bitmap, BlockNumber num_pages)
{
	bitmap_pages *pages = begin_bitmap(bitmap);
	BlockNumber room = FIRST_PAGES;
	BlockNumber num_runs = 0;
	BlockNumber last = InvalidBlockNumber;
	BlockNumber block;

	found->num_blocks = 0;
	found->blocks = palloc(room * sizeof(BlockNumber));
	/* rows of pages that have come since the scan began are not visible */
	while ((block = next_page(pages)) < num_pages)
	{
		if (found->num_blocks == room)
		{
			room *= 2;
			found->blocks = repalloc_huge(found->blocks, room * sizeof(BlockNumber));
		}
		num_runs += last == InvalidBlockNumber || block != last + 1;
		found->blocks[found->num_blocks++] = last = block;
	}
	end_bitmap(pages);
	found->are_apart = found->num_blocks < num_runs * LEAST_RUN;
}

void
found_pages_read(found_pages *found, PlanState *index, BlockNumber num_pages)
{
	MemoryContext caller = MemoryContextSwitchTo(index->state->es_query_cxt);
	TIDBitmap  *bitmap;

	if (found->was_read)
		ExecReScan(index);
	found->was_read = true;
	if (found->blocks)
		pfree(found->blocks);
	found->blocks = NULL;
	bitmap = (TIDBitmap *) MultiExecProcNode(index);
	if (bitmap == NULL || !IsA(bitmap, TIDBitmap))
		elog(ERROR, "unrecognized result from subplan");
	list_pages(found, bitmap, num_pages);
	tbm_free(bitmap);
	MemoryContextSwitchTo(caller);
}
