/*
 * heap_reader_state.h
 *		Internals of a heap reader, for heap_reader*.c, visible_rows.c and heap_sender.c.
 */
#ifndef MGPU_HEAP_READER_STATE_H
#define MGPU_HEAP_READER_STATE_H

#include "access/relscan.h"

#include "scan/column_filter.h"
#include "scan/heap_pages.h"
#include "scan/heap_reader.h"
#include "scan/page_values.h"

/* A column of the chunks: values as they are stored, or an expression of them. */
typedef struct read_column
{
	int			list;			/* of the page's values; -1: it is computed */
	bool		is_late;
} read_column;

struct heap_reader
{
	SeqScanState *scan;
	int			num_columns;
	read_column *columns;
	int			num_filters;
	column_filter *filters;
	ExprState  *condition;		/* the conditions that are no filters, or NULL */
	ProjectionInfo *projection; /* computes the columns that are expressions, all of a row at once; NULL: there are none */
	List	   *computed;		/* their numbers */
	late_pages *late;			/* where there are late columns */
	page_values *values;
	TupleTableSlot *slot;		/* what expressions see of a row */
	bool		started;
	heap_pages	pages;
	heap_reader_counts counts;
	uint16		kept[MaxHeapTuplesPerPage]; /* rows of the page; without conditions all, always */
	const ItemIdData *items;	/* of a page's visible rows: the page's own, or copied */
	ItemIdData	copied[MaxHeapTuplesPerPage];
};

static inline HeapScanDesc
heap_scan_of(const heap_reader *reader)
{
	return (HeapScanDesc) reader->scan->ss.ss_currentScanDesc;
}

static inline void
heap_reader_keep_all(heap_reader *reader, uint32 num_rows)
{
	for (uint32 i = 0; i < num_rows; i++)
		reader->kept[i] = i;
}

/* Start reading, from the first page on. */
extern void heap_reader_start(heap_reader *reader);

/*
 * Let items point to the line pointers of a page's visible rows, and return how many there are.  If the caller sets as_is, and
 * the page has no others nor gets them among these while it is pinned, as_is stays true.  Then redirections are among items.
 */
extern uint32 heap_reader_find_visible(heap_reader *reader, Buffer buffer, bool *as_is);

#endif							/* MGPU_HEAP_READER_STATE_H */
