/*
 * visible_rows.c
 *		Finds the rows of a page that a heap reader's snapshot sees.
 *
 * Which rows are visible is PostgreSQL's to say.  On an all-visible page all are; elsewhere it is asked about each, but
 * for those that are like one before: of the same transaction, which is known to have committed, and not deleted.
 * This, and pruning before, is what heapam.c does in its page scan.  That one is not called: before 17 it
 * pins the page once more, which counts as another read and keeps the page from being pruned.
 *
 * Rows are found under the lock of the page.  Line pointers are copied, unless all are of visible rows: then none changes while
 * the page is pinned (heap_sender.c says why).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "scan/heap_reader_state.h"

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
	HeapTupleData tuple = {.t_tableOid = RelationGetRelid(reader->scan->ss_currentRelation)};
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
	Relation	relation = reader->scan->ss_currentRelation;
	Snapshot	snapshot = heap_scan_of(reader)->rs_base.rs_snapshot;
	Page		page = BufferGetPage(buffer);
	uint32		num_items;
	uint32		num_rows;
	bool		all_visible;

	/* pruning trusts it */
	(void) count_items(relation, buffer);
	mgpu_prune(heap_scan_of(reader), buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	mgpu_test_for_old_snapshot(snapshot, relation, page);
	all_visible = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;
	num_rows = num_items = count_items(relation, buffer);
	reader->items = ((PageHeader) page)->pd_linp;
	if (!all_visible || !(*as_is ? !PageHasFreeLinePointers(page) : are_all_normal(reader->items, num_items)))
		num_rows = copy_visible(reader, buffer, num_items, all_visible);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	reader->counts.checked_pages += !all_visible;
	reader->all_visible = all_visible;
	*as_is &= num_rows == num_items;
	return num_rows;
}

uint32
heap_reader_copy_page(const heap_reader *reader, Buffer buffer, char *copy, uint32 num_rows)
{
	ItemIdData *items = ((PageHeader) copy)->pd_linp;
	uint32		num_items = 0;
	uint32		row = 0;

	memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	/* those of visible rows do not change while the page is pinned */
	for (; row < num_rows && num_items < MaxHeapTuplesPerPage; num_items++)
	{
		if (ItemIdIsNormal(&items[num_items]) && ItemIdGetOffset(&items[num_items]) == ItemIdGetOffset(&reader->items[row]))
			items[num_items] = reader->items[row++];
		else
			ItemIdSetUnused(&items[num_items]);
	}
	ReleaseBuffer(buffer);
	if (row < num_rows)
		elog(ERROR, "visible rows of a page are not there any more");
	return num_items;
}
