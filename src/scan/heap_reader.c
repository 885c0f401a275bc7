/*
 * heap_reader.c
 *		Reads a heap table into chunks, a page at a time, in place of a Seq Scan node.
 *
 * PostgreSQL's executor hands over a row at a time, which takes five times as long as reading it.  Here a
 * page's rows are found (visible_rows.c), filtered and copied to columns together.  Afterwards only the page's pin is held:
 * while it is, nothing moves or removes a row.
 *
 * Conditions that compare a column with a constant are met by columns (column_filter.h).  The first other conditions, and columns that
 * are computed, run as programs (heap_expressions.c).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"

#include "scan/heap_reader_state.h"

/* ---- the scan */

void
heap_reader_start(heap_reader *reader)
{
	ScanState  *scan = reader->scan;

	/* workers of a parallel scan have theirs */
	if (scan->ss_currentScanDesc == NULL)
		scan->ss_currentScanDesc = mgpu_begin_scan(scan);
	reader->started = true;
	reader->counts = (heap_reader_counts) {0, 0};
	if (heap_reader_is_found(reader))
	{
		found_pages_read(&reader->found, outerPlanState(scan), heap_scan_of(reader)->rs_nblocks);
		reader->pages.found = &reader->found;
	}
	heap_pages_start(&reader->pages, heap_scan_of(reader));
	for (int i = 0; i < reader->num_filters; i++)
		column_filter_forget(&reader->filters[i]);
	for (int i = 0; i < reader->num_tests; i++)
		expr_program_forget(reader->tests[i].program);
	if (reader->program.program)
		expr_program_forget(reader->program.program);
}

/* ---- rows into a chunk */

/* Rows of a damaged page may lie anywhere. */
#define COPY(type, row) \
	do { \
		type	   *cells = (type *) col->cells + first; \
		\
		for (uint32 i = 0; i < num_rows; i++) \
			memcpy(&cells[i], starts[row] + offset, sizeof(type)); \
	} while (0)

/* A uuid, for one. */
typedef struct wide_value
{
	uint64		halves[2];
} wide_value;

/* Copy the kept rows' values of a column that is an attribute. */
static void
copy_values(const heap_reader *reader, int number, chunk *rows, uint64 first, uint32 num_rows)
{
	column	   *col = &rows->columns[number];
	const element_type *element = &col->type->element;
	page_values *values = reader->values;
	const uint16 *kept = reader->kept;
	int			list = reader->columns[number].list;
	bool		is_wide = col->type->store == COLUMN_BYTES && element->typlen == sizeof(wide_value) && col->type->width == sizeof(wide_value);
	bool		is_uniform = values->is_uniform && (col->type->store == COLUMN_4 || col->type->store == COLUMN_8 || is_wide);
	const value_list *from = is_uniform ? values->lists[list] : page_values_list(values, list);
	const char *const *starts = is_uniform ? values->data : from->values;
	uint32		offset = is_uniform ? from->offset : 0;
	bool		has_nulls = !is_uniform && from->has_nulls;
	bool		keeps_all = num_rows == values->num_rows;

	if (!has_nulls && col->type->store == COLUMN_4 && keeps_all)
		COPY(uint32, i);
	else if (!has_nulls && col->type->store == COLUMN_4)
		COPY(uint32, kept[i]);
	else if (!has_nulls && col->type->store == COLUMN_8 && keeps_all)
		COPY(uint64, i);
	else if (!has_nulls && col->type->store == COLUMN_8)
		COPY(uint64, kept[i]);
	else if (!has_nulls && is_wide)
		COPY(wide_value, kept[i]);
	else if (col->type->store == COLUMN_VARLENA)
		chunk_put_varlenas(rows, col, first, from->values, kept, num_rows);
	else
		for (uint32 i = 0; i < num_rows; i++)
		{
			const char *value = from->values[kept[i]];

			chunk_put(rows, col, first + i, value ? fetch_att(value, element->typbyval, element->typlen) : (Datum) 0,
					  value == NULL);
		}
}

/* Keep the rows that meet all conditions, and return how many there are. */
static uint32
filter_rows(heap_reader *reader, uint32 num_rows)
{
	ExprContext *context = reader->scan->ps.ps_ExprContext;
	uint32		num_kept = num_rows;

	/* then kept has all rows for good */
	if (reader->num_filters == 0 && reader->condition == NULL)
		return num_rows;
	heap_reader_keep_all(reader, num_rows);
	for (int i = 0; i < reader->num_filters; i++)
		num_kept = column_filter_apply(&reader->filters[i], page_values_list(reader->values, reader->filters[i].list)->values,
									   reader->kept, num_kept, context);
	if (reader->condition)
		num_kept = heap_reader_test(reader, num_kept);
	return num_kept;
}

/* Copy the columns that are attributes: the late ones, or the others. */
static void
copy_columns(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows, bool late)
{
	for (int i = 0; i < reader->num_columns; i++)
		if (reader->columns[i].list >= 0 && reader->columns[i].is_late == late)
			copy_values(reader, i, rows, first, num_rows);
}

/* Leave a page's late columns until rows are wanted.  False: there are none, or too many pages. */
static bool
put_off(heap_reader *reader, Buffer buffer, uint64 first, uint32 num_rows)
{
	late_pages *late = reader->late;
	late_page  *page;

	if (late == NULL || late->num_pages >= late->most_pages || num_rows == 0)
		return false;
	page = &late->pages[late->num_pages++];
	page->reader = reader;
	page->buffer = buffer;
	page->first = first;
	page->num_rows = num_rows;
	for (uint32 i = 0; i < num_rows; i++)
		page->items[i] = reader->items[reader->kept[i]];
	return true;
}

/* Read a page, and return how many rows were taken. */
static uint32
read_page(heap_reader *reader, Buffer buffer, chunk *rows)
{
	Buffer		ahead = reader->pages.ahead;
	bool		as_is = false;
	uint32		num_visible = heap_reader_find_visible(reader, buffer, &as_is);
	uint32		num_rows;
	uint64		first;

	reader->counts.pages++;
	/* counts rows that a scan returns, of a table too */
	pgstat_count_index_tuples(heap_scan_of(reader)->rs_base.rs_rd, num_visible);
	page_values_find(reader->values, BufferGetPage(buffer), reader->items, num_visible,
					 BufferGetPage(BufferIsValid(ahead) ? ahead : buffer));
	num_rows = filter_rows(reader, num_visible);
	InstrCountFiltered1(reader->scan, num_visible - num_rows);
	first = chunk_add_rows(rows, num_rows);
	copy_columns(reader, rows, first, num_rows, false);
	heap_reader_compute(reader, rows, first, num_rows);
	if (put_off(reader, buffer, first, num_rows))
		return num_rows;
	if (reader->late && num_rows > 0)
	{
		page_values_find_all(reader->values, BufferGetPage(buffer), reader->items, num_visible);
		copy_columns(reader, rows, first, num_rows, true);
	}
	ReleaseBuffer(buffer);
	return num_rows;
}

void
rescan_node(PlanState *node)
{
	MemoryContext caller = MemoryContextSwitchTo(node->state->es_query_cxt);

	ExecReScan(node);
	MemoryContextSwitchTo(caller);
}

/* As ExecProcNode does. */
static void
rescan_if_changed(heap_reader *reader)
{
	PlanState  *node = &reader->scan->ps;

	if (node->chgParam == NULL)
		return;
	heap_reader_stop(reader);
	rescan_node(node);
}

/* Have a page's rows meet the conditions. */
static void
meet_conditions(heap_reader *reader, Buffer buffer)
{
	bool		as_is = false;
	uint32		num_visible = heap_reader_find_visible(reader, buffer, &as_is);

	page_values_find(reader->values, BufferGetPage(buffer), reader->items, num_visible, BufferGetPage(buffer));
	(void) filter_rows(reader, num_visible);
}

/* Whether conditions have the result of a query that has not run. */
static bool
waits(const heap_reader *reader)
{
	return expr_waits_for_query((Node *) reader->conditions, reader->scan->ps.ps_ExprContext);
}

/* Read until they have no such, or to the end, and begin anew. */
static void
run_queries(heap_reader *reader)
{
	Buffer		buffer;

	if (!waits(reader))
		return;
	if (!reader->started)
		heap_reader_start(reader);
	while (waits(reader) && (buffer = heap_pages_take(&reader->pages)) != InvalidBuffer)
	{
		CHECK_FOR_INTERRUPTS();
		meet_conditions(reader, buffer);
		ReleaseBuffer(buffer);
	}
	heap_reader_stop(reader);
	rescan_node(&reader->scan->ps);
}

bool
heap_readers_run_queries(const List *readers)
{
	MemoryContext caller = MemoryContextSwitchTo(((const heap_reader *) linitial(readers))->scan->ps.state->es_query_cxt);
	bool		any_waits = false;
	ListCell   *cell;

	foreach(cell, readers)
		run_queries(lfirst(cell));
	MemoryContextSwitchTo(caller);
	/* a row of one partition serves them all */
	foreach(cell, readers)
		any_waits |= waits(lfirst(cell));
	return !any_waits;
}

bool
heap_reader_prepare(heap_reader *reader)
{
	rescan_if_changed(reader);
	return !reader->scan->ps.plan->parallel_aware;
}

NodeInstrumentation *
heap_reader_instrument(const heap_reader *reader)
{
	return reader->scan->ps.instrument;
}

bool
heap_reader_read(heap_reader *reader, chunk *rows)
{
	PlanState  *node = &reader->scan->ps;
	Buffer		buffer;
	uint32		num_rows = 0;

	rescan_if_changed(reader);
	if (node->instrument)
		InstrStartNode(node->instrument);
	if (!reader->started)
		heap_reader_start(reader);
	while (num_rows == 0 && (buffer = heap_pages_take(&reader->pages)) != InvalidBuffer)
	{
		CHECK_FOR_INTERRUPTS();
		num_rows = read_page(reader, buffer, rows);
	}
	if (node->instrument)
		InstrStopNode(node->instrument, num_rows);
	return num_rows > 0;
}

void
heap_reader_stop(heap_reader *reader)
{
	heap_pages_stop(&reader->pages);
	reader->started = false;
}

heap_reader_counts
heap_reader_count(const heap_reader *reader)
{
	return reader->counts;
}
