/*
 * heap_reader_state.h
 *		Internals of a heap reader, for heap_reader*.c, visible_rows.c and heap_sender.c.
 */
#ifndef MGPU_HEAP_READER_STATE_H
#define MGPU_HEAP_READER_STATE_H

#include "access/relscan.h"

#include "expr/expr_program.h"
#include "scan/column_filter.h"
#include "scan/found_pages.h"
#include "scan/heap_pages.h"
#include "scan/heap_reader.h"
#include "scan/page_values.h"

/* A column of the chunks: values as they are stored, or an expression of them. */
typedef struct read_column
{
	int			list;			/* of the page's values; -1: it is computed */
	bool		is_late;
	int			output;			/* of the program that computes it, or -1 */
	ExprState  *state;			/* the same by PostgreSQL's executor, for faults; NULL: the projection computes it */
} read_column;

/* A program and the lists of its inputs. */
typedef struct page_program
{
	expr_program *program;
	int		   *lists;
	mgpu_program_input *inputs;
} page_program;

struct heap_reader
{
	ScanState  *scan;			/* a Seq Scan or a Bitmap Heap Scan */
	List	   *conditions;		/* of its rows, also those that an index has met */
	found_pages found;			/* that an index names */
	List	   *exprs;			/* of the columns */
	int			num_columns;
	read_column *columns;
	int			num_filters;
	column_filter *filters;
	ExprState  *condition;		/* the conditions that are no filters, or NULL */
	int			num_tests;
	page_program *tests;		/* the first of these, as programs */
	ExprState  *rest;			/* those behind, or NULL */
	page_program program;		/* computes columns that are expressions; its program is NULL if there are none that it can */
	bool		started;
	bool		is_programmed;	/* it does, since most rows are no faults */
	uint64		num_computed;	/* values that it has computed, and how many of them were faults */
	uint64		num_faults;
	ProjectionInfo *projection; /* computes the others, all of a row at once; NULL: there are none */
	List	   *computed;		/* the numbers of the others */
	List	   *by_row;			/* these, and conditions that are no programs */
	late_pages *late;			/* where there are late columns */
	page_values *values;
	TupleTableSlot *slot;		/* what expressions see of a row */
	heap_pages	pages;
	heap_reader_counts counts;
	uint16		kept[MaxHeapTuplesPerPage]; /* rows of the page; without conditions all, always */
	bool		undecided[MaxHeapTuplesPerPage];	/* a test of the row was a fault */
	bool		all_visible;	/* of the page: it says so, and the snapshot trusts it */
	const ItemIdData *items;	/* of a page's visible rows: the page's own, or copied */
	ItemIdData	copied[MaxHeapTuplesPerPage];
};

static inline HeapScanDesc
heap_scan_of(const heap_reader *reader)
{
	return (HeapScanDesc) reader->scan->ss_currentScanDesc;
}

/* Whether it reads the pages alone that an index names. */
static inline bool
heap_reader_is_found(const heap_reader *reader)
{
	return IsA(reader->scan, BitmapHeapScanState);
}

static inline void
heap_reader_keep_all(heap_reader *reader, uint32 num_rows)
{
	for (uint32 i = 0; i < num_rows; i++)
		reader->kept[i] = i;
}

/* Put values of a column that is an expression into rows from first on: the kept rows', by a program or the executor. */
extern void heap_reader_compute(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows);

/* Keep the rows that meet all conditions that are no filters, of those that are kept so far, and return how many there are. */
extern uint32 heap_reader_test(heap_reader *reader, uint32 num_rows);

/* Start reading, from the first page on. */
extern void heap_reader_start(heap_reader *reader);

/*
 * Let items point to the line pointers of a page's visible rows, and return how many there are.  If the caller sets as_is, and
 * the page has no others nor gets them among these while it is pinned, as_is stays true.  Then redirections are among items.
 */
extern uint32 heap_reader_find_visible(heap_reader *reader, Buffer buffer, bool *as_is);

/*
 * Copy a page that is pinned, of which so many rows were found: all other line pointers are unused, and each row has its own.  Returns how many
 * line pointers there are.  The page is not pinned any more.
 */
extern uint32 heap_reader_copy_page(const heap_reader *reader, Buffer buffer, char *copy, uint32 num_rows);

#endif							/* MGPU_HEAP_READER_STATE_H */
