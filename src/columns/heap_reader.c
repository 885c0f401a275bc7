/*
 * heap_reader.c
 *		Reads a heap table into chunks, a page at a time, in place of a Seq Scan node.
 *
 * PostgreSQL's executor hands over a row at a time, which takes five times as long as reading it.  Here a
 * page's rows are found, filtered and copied to columns together.
 *
 * Which rows are visible is PostgreSQL's to say.  On an all-visible page all are; elsewhere it is asked about each, but
 * for those that are like one before: of the same transaction, which is known to have committed, and not deleted.
 * This, and pruning before, is what heapam.c does in its page scan.  That one is not called: before 17 it
 * pins the page once more, which counts as another read and keeps the page from being pruned.  Rows are found under the
 * lock of the page.  Afterwards only the pin is held: while it is, nothing moves or removes a row.  Line pointers are
 * copied, unless all are of visible rows: then none changes (heap_sender.c says why).
 *
 * Conditions that compare a column with a constant are met by columns (column_filter.h).  From the first other
 * condition on, and for columns that are computed, the executor's expressions run, on a slot that is filled
 * from the page.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "columns/heap_reader_state.h"

/* ---- the scan */

void
heap_reader_start(heap_reader *reader)
{
	SeqScanState *scan = reader->scan;

	/* workers of a parallel scan have theirs */
	if (scan->ss.ss_currentScanDesc == NULL)
		scan->ss.ss_currentScanDesc = table_beginscan(scan->ss.ss_currentRelation, scan->ss.ps.state->es_snapshot, 0, NULL);
	reader->started = true;
	reader->counts = (heap_reader_counts) {0, 0};
	heap_pages_start(&reader->pages, heap_scan_of(reader));
	for (int i = 0; i < reader->num_filters; i++)
		column_filter_forget(&reader->filters[i]);
}

/* Whether hints say that a row's transaction has committed and that no one has deleted the row. */
static bool
is_settled(HeapTupleHeader row)
{
	return (row->t_infomask & HEAP_XMIN_COMMITTED) != 0 && (row->t_infomask & HEAP_XMAX_INVALID) != 0;
}

/*
 * tuple has what all rows of the page have in common; visible_xmin is a transaction whose settled rows the
 * snapshot sees.
 */
static bool
is_visible(HeapTuple tuple, OffsetNumber offset, Snapshot snapshot, Buffer buffer, TransactionId *visible_xmin)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, offset);
	HeapTupleHeader row;

	if (!ItemIdIsNormal(item))
		return false;
	row = (HeapTupleHeader) PageGetItem(page, item);
	if (is_settled(row) && HeapTupleHeaderGetRawXmin(row) == *visible_xmin)
		return true;
	tuple->t_data = row;
	tuple->t_len = ItemIdGetLength(item);
	ItemPointerSetOffsetNumber(&tuple->t_self, offset);
	if (!HeapTupleSatisfiesVisibility(tuple, snapshot, buffer))
		return false;
	if (is_settled(row) && !HeapTupleHeaderXminFrozen(row))
		*visible_xmin = HeapTupleHeaderGetRawXmin(row);
	return true;
}

/* Copy the line pointers of the visible rows, and return how many there are. */
static uint32
copy_visible(heap_reader *reader, Buffer buffer, uint32 num_items, bool all_visible)
{
	const ItemIdData *items = reader->items;
	HeapTupleData tuple = {.t_tableOid = RelationGetRelid(reader->scan->ss.ss_currentRelation)};
	Snapshot	snapshot = heap_scan_of(reader)->rs_base.rs_snapshot;
	TransactionId visible_xmin = InvalidTransactionId;
	uint32		num_rows = 0;

	ItemPointerSetBlockNumber(&tuple.t_self, BufferGetBlockNumber(buffer));
	for (uint32 i = 0; i < num_items; i++)
	{
		reader->copied[num_rows] = items[i];
		num_rows += all_visible ? ItemIdIsNormal(&items[i]) : is_visible(&tuple, i + 1, snapshot, buffer, &visible_xmin);
	}
	reader->items = reader->copied;
	return num_rows;
}

/* More line pointers than a page can have would not fit in the reader's arrays. */
static uint32
count_items(Relation relation, Buffer buffer)
{
	uint32		num_items = PageGetMaxOffsetNumber(BufferGetPage(buffer));

	if (num_items > MaxHeapTuplesPerPage)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("page %u of table \"%s\" is damaged", BufferGetBlockNumber(buffer), RelationGetRelationName(relation)),
				 errdetail("It has %u line pointers, and no page can have more than %d.", num_items, (int) MaxHeapTuplesPerPage),
				 errhint("Restore the table from a backup. The amcheck extension finds damage.")));
	return num_items;
}

static bool
are_all_normal(const ItemIdData *items, uint32 num_items)
{
	bool		all_normal = true;

	for (uint32 i = 0; i < num_items; i++)
		all_normal &= ItemIdIsNormal(&items[i]);
	return all_normal;
}

uint32
heap_reader_find_visible(heap_reader *reader, Buffer buffer, bool *as_is)
{
	Relation	relation = reader->scan->ss.ss_currentRelation;
	Snapshot	snapshot = heap_scan_of(reader)->rs_base.rs_snapshot;
	Page		page = BufferGetPage(buffer);
	uint32		num_items;
	uint32		num_rows;
	bool		all_visible;

	heap_page_prune_opt(relation, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	mgpu_test_for_old_snapshot(snapshot, relation, page);
	all_visible = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	num_rows = num_items = count_items(relation, buffer);
	reader->items = ((PageHeader) page)->pd_linp;
	if (!all_visible || !(*as_is ? !PageHasFreeLinePointers(page) : are_all_normal(reader->items, num_items)))
		num_rows = copy_visible(reader, buffer, num_items, all_visible);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	reader->counts.checked_pages += !all_visible;
	*as_is &= num_rows == num_items;
	return num_rows;
}

/* ---- rows into a chunk */

static inline Datum
stored_datum(Form_pg_attribute attribute, const char *value)
{
	return value ? fetch_att(value, attribute->attbyval, attribute->attlen) : (Datum) 0;
}

/* Fill the slot that expressions see with the values of a row. */
static void
fill_slot(heap_reader *reader, uint32 row)
{
	TupleTableSlot *slot = reader->slot;
	ExprContext *context = reader->scan->ss.ps.ps_ExprContext;

	ExecClearTuple(slot);
	for (int i = 0; i < reader->values->num_lists; i++)
	{
		const value_list *list;
		int			number = reader->values->lists[i]->attribute - 1;

		if (!reader->values->lists[i]->of_all_rows)
			continue;
		list = page_values_list(reader->values, i);
		slot->tts_values[number] = stored_datum(TupleDescAttr(reader->values->descriptor, number), list->values[row]);
		slot->tts_isnull[number] = list->values[row] == NULL;
	}
	ExecStoreVirtualTuple(slot);
	ResetExprContext(context);
	context->ecxt_scantuple = slot;
}

/* Rows of a damaged page may lie anywhere. */
#define COPY(type, row) \
	do { \
		type	   *cells = (type *) col->cells + first; \
		\
		for (uint32 i = 0; i < num_rows; i++) \
			memcpy(&cells[i], starts[row] + offset, sizeof(type)); \
	} while (0)

/* Copy the kept rows' values of a column that is an attribute. */
static void
copy_values(const heap_reader *reader, int number, chunk *rows, uint64 first, uint32 num_rows)
{
	column	   *col = &rows->columns[number];
	const element_type *element = &col->type->element;
	page_values *values = reader->values;
	const uint16 *kept = reader->kept;
	int			list = reader->columns[number].list;
	bool		is_uniform = values->is_uniform && (col->type->store == COLUMN_4 || col->type->store == COLUMN_8);
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
	else
		for (uint32 i = 0; i < num_rows; i++)
		{
			const char *value = from->values[kept[i]];

			chunk_put(rows, col, first + i, value ? fetch_att(value, element->typbyval, element->typlen) : (Datum) 0,
					  value == NULL);
		}
}

static void
keep_all(heap_reader *reader, uint32 num_rows)
{
	for (uint32 i = 0; i < num_rows; i++)
		reader->kept[i] = i;
}

/* Keep the rows that meet all conditions, and return how many there are. */
static uint32
filter_rows(heap_reader *reader, uint32 num_rows)
{
	ExprContext *context = reader->scan->ss.ps.ps_ExprContext;
	uint32		num_kept = num_rows;

	/* then kept has all rows for good */
	if (reader->num_filters == 0 && reader->condition == NULL)
		return num_rows;
	keep_all(reader, num_rows);
	for (int i = 0; i < reader->num_filters; i++)
		num_kept = column_filter_apply(&reader->filters[i], page_values_list(reader->values, reader->filters[i].list)->values,
									   reader->kept, num_kept, context);
	if (reader->condition)
	{
		uint32		num_candidates = num_kept;

		num_kept = 0;
		for (uint32 i = 0; i < num_candidates; i++)
		{
			fill_slot(reader, reader->kept[i]);
			reader->kept[num_kept] = reader->kept[i];
			num_kept += ExecQual(reader->condition, context);
		}
	}
	InstrCountFiltered1(reader->scan, num_rows - num_kept);
	return num_kept;
}

static void
compute_columns(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows)
{
	ExprContext *context = reader->scan->ss.ps.ps_ExprContext;

	for (uint32 i = 0; i < num_rows; i++)
	{
		fill_slot(reader, reader->kept[i]);
		for (int j = 0; j < reader->num_columns; j++)
		{
			bool		is_null;
			Datum		value;

			if (reader->columns[j].expr == NULL)
				continue;
			value = ExecEvalExprSwitchContext(reader->columns[j].expr, context, &is_null);
			chunk_put(rows, &rows->columns[j], first + i, value, is_null);
		}
	}
}

/* Copy the columns that are attributes: the late ones, or the others. */
static void
copy_columns(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows, bool late)
{
	for (int i = 0; i < reader->num_columns; i++)
		if (reader->columns[i].expr == NULL && reader->columns[i].is_late == late)
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
	first = chunk_add_rows(rows, num_rows);
	copy_columns(reader, rows, first, num_rows, false);
	if (reader->computes)
		compute_columns(reader, rows, first, num_rows);
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

/* As ExecProcNode does. */
static void
rescan_if_changed(heap_reader *reader)
{
	PlanState  *node = &reader->scan->ss.ps;

	if (node->chgParam == NULL)
		return;
	heap_reader_stop(reader);
	ExecReScan(node);
}

bool
heap_reader_prepare(heap_reader *reader)
{
	rescan_if_changed(reader);
	return !reader->scan->ss.ps.plan->parallel_aware;
}

struct Instrumentation *
heap_reader_instrument(const heap_reader *reader)
{
	return reader->scan->ss.ps.instrument;
}

bool
heap_reader_read(heap_reader *reader, chunk *rows)
{
	PlanState  *node = &reader->scan->ss.ps;
	Buffer		buffer;
	uint32		num_rows = 0;

	rescan_if_changed(reader);
	if (node->instrument)
		InstrStartNode(node->instrument);
	if (!reader->started)
		heap_reader_start(reader);
	while (num_rows == 0 && BufferIsValid(buffer = heap_pages_take(&reader->pages)))
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

/* ---- what can be read so? */

/* Whether an expression has a part that needs more than the values of a row. */
static bool
needs_more(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno <= 0;
	if (IsA(node, PlaceHolderVar) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, CurrentOfExpr))
		return true;
	return expression_tree_walker(node, needs_more, context);
}

bool
heap_reader_takes(List *exprs, List *conditions)
{
	return !needs_more((Node *) exprs, NULL) && !needs_more((Node *) conditions, NULL);
}

/* Columns are computed once all conditions of a page are met: volatile functions in both could tell. */
static bool
are_both_volatile(List *exprs, List *conditions)
{
	return contain_volatile_functions((Node *) exprs) && contain_volatile_functions((Node *) conditions);
}

static bool
can_read(const SeqScanState *scan, List *exprs)
{
	Relation	relation = scan->ss.ss_currentRelation;

	/* SERIALIZABLE wants each row checked for conflicts */
	return relation->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(relation) &&
		!IsolationIsSerializable() && scan->ss.ps.state->es_epq_active == NULL &&
		IsMVCCSnapshot(scan->ss.ps.state->es_snapshot) && heap_reader_takes(exprs, scan->ss.ps.plan->qual) &&
		!are_both_volatile(exprs, scan->ss.ps.plan->qual);
}

/* Ask for the values of all attributes in an expression. */
static bool
want_all(Node *node, page_values *values)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		(void) page_values_want(values, ((Var *) node)->varattno, true);
	return expression_tree_walker(node, want_all, values);
}

static void
add_column(heap_reader *reader, Expr *expr, bool late)
{
	read_column *col = &reader->columns[reader->num_columns++];

	if (IsA(expr, Var))
	{
		col->is_late = late;
		col->list = page_values_want(reader->values, ((Var *) expr)->varattno, !late);
		return;
	}
	(void) want_all((Node *) expr, reader->values);
	/* without a parent, the expression takes a slot of any kind */
	col->expr = ExecInitExpr(expr, NULL);
	reader->computes = true;
}

/* Conditions are met in the order of the plan, since one may protect the next from an error. */
static void
add_conditions(heap_reader *reader, List *conditions)
{
	List	   *others = NIL;
	ListCell   *cell;

	reader->filters = palloc(list_length(conditions) * sizeof(column_filter) + 1);
	foreach(cell, conditions)
	{
		column_filter *filter = &reader->filters[reader->num_filters];

		if (others == NIL && column_filter_fill(filter, lfirst(cell)))
		{
			column_filter_init(filter);
			filter->list = page_values_want(reader->values, filter->attribute, true);
			reader->num_filters++;
		}
		else
			others = lappend(others, lfirst(cell));
	}
	(void) want_all((Node *) others, reader->values);
	reader->condition = ExecInitQual(others, NULL);
}

heap_reader *
heap_reader_open(SeqScanState *scan, List *exprs, const Bitmapset *late_columns, late_pages *late)
{
	heap_reader *reader;
	ListCell   *cell;

	if (!can_read(scan, exprs))
		return NULL;
	reader = palloc0(sizeof(heap_reader));
	reader->scan = scan;
	reader->late = bms_is_empty(late_columns) ? NULL : late;
	reader->values = page_values_create(RelationGetDescr(scan->ss.ss_currentRelation));
	reader->columns = palloc0(list_length(exprs) * sizeof(read_column) + 1);
	foreach(cell, exprs)
		add_column(reader, lfirst(cell), bms_is_member(foreach_current_index(cell), late_columns));
	add_conditions(reader, scan->ss.ps.plan->qual);
	page_values_plan(reader->values);
	keep_all(reader, lengthof(reader->kept));
	if (reader->computes || reader->condition)
		reader->slot = ExecInitExtraTupleSlot(scan->ss.ps.state, reader->values->descriptor, &TTSOpsVirtual);
	return reader;
}
