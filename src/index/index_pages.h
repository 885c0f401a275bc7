/*
 * index_pages.h
 *		Rows of a table's pages as items of an index, by threads.
 */
#ifndef MGPU_INDEX_PAGES_H
#define MGPU_INDEX_PAGES_H

#include "access/htup_details.h"
#include "nodes/execnodes.h"
#include "storage/bufpage.h"

#include "index/index_items.h"
#include "scan/page_values.h"

typedef enum index_page_state
{
	INDEX_PAGE_NEW,
	INDEX_PAGE_DONE,
	INDEX_PAGE_NO_ROOM,			/* a block was full; some rows may be done */
	INDEX_PAGE_IS_SESSIONS,		/* rows have to be asked about, or PostgreSQL's functions are needed for their values */
	INDEX_PAGE_NO_NUMBERS		/* values do not fit in numbers */
} index_page_state;

/* A page that is pinned, and was locked since. */
typedef struct index_page
{
	const char *page;
	BlockNumber block;
	uint32		num_items;		/* line pointers */
	uint64		first;			/* of its items, for which there is room */
	uint32		num_done;		/* rows that have an item */
	index_page_state state;
} index_page;

typedef enum index_row_state
{
	INDEX_ROW_LIVE,
	INDEX_ROW_DEAD,
	INDEX_ROW_IS_POSTGRESQLS
} index_row_state;

/* Whether a row is live, where hints do not say so. */
typedef index_row_state (*index_ask_fn) (void *context, BlockNumber block, OffsetNumber offset, HeapTuple row);

/* How a thread reads pages. */
typedef struct index_reader
{
	const index_rows *rows;
	index_maker *maker;
	page_values *values;
	int			lists[INDEX_MAX_KEYS];	/* of values, by the index's column */
	uint32		num_rows;		/* of the page, those to index */
	ItemIdData	items[MaxHeapTuplesPerPage];
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} index_reader;

extern void index_reader_start(index_reader *reader, Relation heap, const IndexInfo *info, index_rows *rows, int maker);

/* Find the rows of a page to index.  False: it has others than live and dead ones; without ask, than live ones. */
extern bool index_reader_find(index_reader *reader, const index_page *page, index_ask_fn ask, void *context);

/* Make items of a page's rows.  Meanwhile the processor fetches the page ahead. */
extern void index_reader_take(index_reader *reader, index_page *page, const char *ahead);

/* Find the values of the rows that were found. */
extern void index_reader_values(index_reader *reader, const index_page *page, const char *ahead);

/* The values of one of these rows. */
extern void index_reader_row(const index_reader *reader, uint32 row, Datum *values, bool *nulls);

#endif							/* MGPU_INDEX_PAGES_H */
