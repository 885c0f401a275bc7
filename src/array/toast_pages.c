/*
 * toast_pages.c
 *		Reads chunks of a stored value that lie in order, page by page.
 *
 * PostgreSQL looks for each chunk of 2 kB in the TOAST table's index, pins its page and locks it.
 * That takes several times as long as the copy.  But a large value is written at once, so most of
 * its chunks lie one behind the other.  Here the index says where the first one is.  The others are
 * looked for on the rest of its page, and then on the next pages: each must be the next chunk of
 * the value and be visible, which is what the index would have been asked for.  At the first page
 * that does not have the next chunk, reading ends, and PostgreSQL goes on by the index.
 *
 * An index lookup for each gap was rejected: values in many pieces are rare, and then are read as
 * fast as before.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "compat.h"
#include "array/toast_pages.h"

/* Attributes of a TOAST table, and of its index. */
enum
{
	CHUNK_VALUE = 1,
	CHUNK_NUMBER,
	CHUNK_DATA,
};

typedef struct chunk_reader
{
	Relation	table;
	Oid			value;
	Size		value_bytes;
	Snapshot	snapshot;
	Size		offset;			/* of the next byte, in the value */
	Size		end;
	char	   *dest;			/* where the next byte goes */
} chunk_reader;

static int32
next_chunk(const chunk_reader *reader)
{
	return (int32) (reader->offset / TOAST_MAX_CHUNK_SIZE);
}

/* Where the index says that the next chunk is. */
static bool
find_chunk(const chunk_reader *reader, ItemPointer place)
{
	Relation   *indexes;
	int			num_indexes;
	int			valid = toast_open_indexes(reader->table, AccessShareLock, &indexes, &num_indexes);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], CHUNK_VALUE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(reader->value));
	ScanKeyInit(&keys[1], CHUNK_NUMBER, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(next_chunk(reader)));
	scan = systable_beginscan_ordered(reader->table, indexes[valid], reader->snapshot, lengthof(keys), keys);
	tuple = systable_getnext_ordered(scan, ForwardScanDirection);
	if (tuple)
		*place = tuple->t_self;
	systable_endscan_ordered(scan);
	toast_close_indexes(indexes, num_indexes, AccessShareLock);
	return tuple != NULL;
}

/* The data of the next chunk, if this row is the one.  Its page is locked. */
static const char *
chunk_data(const chunk_reader *reader, HeapTuple row, Buffer buffer, Size chunk_bytes)
{
	TupleDesc	columns = RelationGetDescr(reader->table);
	bool		no_value;
	bool		no_number;
	bool		no_data;
	Oid			value = DatumGetObjectId(heap_getattr(row, CHUNK_VALUE, columns, &no_value));
	int32		number = DatumGetInt32(heap_getattr(row, CHUNK_NUMBER, columns, &no_number));
	const char *data = DatumGetPointer(heap_getattr(row, CHUNK_DATA, columns, &no_data));

	if (no_value || no_number || no_data || value != reader->value || number != next_chunk(reader) ||
		!HeapTupleSatisfiesVisibility(row, reader->snapshot, buffer))
		return NULL;
	/* what is damaged is PostgreSQL's to report */
	if (VARATT_IS_EXTERNAL(data) || VARATT_IS_COMPRESSED(data) || VARSIZE_ANY_EXHDR(data) != chunk_bytes)
		return NULL;
	return VARDATA_ANY(data);
}

/* Copy what is needed of the next chunk.  False: this row is another one. */
static bool
copy_chunk(chunk_reader *reader, HeapTuple row, Buffer buffer)
{
	Size		begin = (Size) next_chunk(reader) * TOAST_MAX_CHUNK_SIZE;
	Size		chunk_bytes = Min(TOAST_MAX_CHUNK_SIZE, reader->value_bytes - begin);
	Size		bytes = Min(begin + chunk_bytes, reader->end) - reader->offset;
	const char *data = chunk_data(reader, row, buffer, chunk_bytes);

	if (data == NULL)
		return false;
	memcpy(reader->dest, data + (reader->offset - begin), bytes);
	reader->dest += bytes;
	reader->offset += bytes;
	return true;
}

/* Copy the next chunks from a page, from an item on.  False: it has none. */
static bool
copy_page(chunk_reader *reader, BlockNumber block, OffsetNumber first)
{
	Buffer		buffer = ReadBuffer(reader->table, block);
	Page		page = BufferGetPage(buffer);
	bool		found = false;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	for (OffsetNumber item = first; item <= PageGetMaxOffsetNumber(page) && reader->offset < reader->end; item++)
	{
		ItemId		id = PageGetItemId(page, item);
		HeapTupleData row;

		if (!ItemIdIsNormal(id))
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(page, id);
		row.t_len = ItemIdGetLength(id);
		row.t_tableOid = RelationGetRelid(reader->table);
		ItemPointerSet(&row.t_self, block, item);
		found |= copy_chunk(reader, &row, buffer);
	}
	UnlockReleaseBuffer(buffer);
	return found;
}

Size
toast_pages_read(Relation table, const struct varatt_external *value, Size offset, Size bytes, char *dest)
{
	chunk_reader reader = {table, value->va_valueid, VARATT_EXTERNAL_GET_EXTSIZE(*value), NULL, offset, offset + bytes, dest};
	BlockNumber num_blocks;
	ItemPointerData place;
	MGPU_TOAST_SNAPSHOT(snapshot);

	reader.snapshot = snapshot;
	if (table->rd_rel->relam != HEAP_TABLE_AM_OID || bytes == 0 || !find_chunk(&reader, &place))
		return 0;
	num_blocks = RelationGetNumberOfBlocks(table);
	for (BlockNumber block = ItemPointerGetBlockNumber(&place); block < num_blocks && reader.offset < reader.end; block++)
	{
		if (!copy_page(&reader, block, ItemPointerGetOffsetNumber(&place)))
			break;
		ItemPointerSetOffsetNumber(&place, FirstOffsetNumber);
	}
	return reader.offset - offset;
}
