/*
 * source.c
 *		Reads an array argument, whole or in slices from its TOAST table.
 *
 * Detoasting a stored 40 MB array costs more in page faults on the fresh memory than in reading.
 * So a large uncompressed array is read in slices.  The caller names a buffer whose pages are
 * already mapped (a slot of a ring), or the result itself, and chunks are copied from their pages
 * straight into it.  Compressed values cannot be sliced cheaply and are read whole.
 *
 * detoast_attr_slice() was rejected: it allocates each slice, and the slice must be copied once
 * more.
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

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "core/sizes.h"

#include "compat.h"
#include "array/array_result.h"
#include "array/source.h"
#include "pgerror.h"

/* Stored arrays from this size on are streamed. */
#define STREAM_MIN_BYTES MGPU_SIZE(1024 * 1024, 8192)

/* Bytes loaded between checks for interrupts. */
#define LOAD_STEP_BYTES MGPU_SIZE((Size) 4 * 1024 * 1024, (Size) 16 * 1024)

/* Enough for the header of any array: six dimensions and their bounds. */
#define HEADER_BYTES ARR_OVERHEAD_NONULLS(MAXDIM)

/* A stored array has no length word, so its offsets are smaller. */
#define STORED_OFFSET(array_offset) ((array_offset) - VARHDRSZ)

/* ---- stored values, page by page */

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

/*
 * Copy bytes of a value to dest, as far as their chunks lie in order.  offset counts from the start
 * of the value as it is stored.  Returns how many bytes were copied: any number, 0 included, and
 * PostgreSQL has to read the rest.
 */
static Size
read_pages(Relation table, const struct varatt_external *value, Size offset, Size bytes, char *dest)
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

/* ---- arrays */

/* PostgreSQL writes a length word before the bytes. */
static void
fetch_by_index(const array_source *source, Size offset, Size bytes, char *dest)
{
	struct varlena *slice = (struct varlena *) (dest - VARHDRSZ);
	char		kept[VARHDRSZ];

	memcpy(kept, slice, VARHDRSZ);
	SET_VARSIZE(slice, bytes + VARHDRSZ);
	table_relation_fetch_toast_slice(source->toast_relation,
									 source->toast_pointer.va_valueid,
									 VARATT_EXTERNAL_GET_EXTSIZE(source->toast_pointer),
									 offset, bytes, slice);
	memcpy(slice, kept, VARHDRSZ);
}

static void
fetch_slice(const array_source *source, Size array_offset, Size bytes, char *dest)
{
	Size		offset = STORED_OFFSET(array_offset);
	Size		done = read_pages(source->toast_relation, &source->toast_pointer, offset, bytes, dest);

	if (done < bytes)
		fetch_by_index(source, offset + done, bytes - done, dest + done);
}

/* header holds at least the array's fixed part and all of its dimensions. */
static void
read_geometry(array_source *source, const ArrayType *header, Size array_bytes)
{
	source->element_type = ARR_ELEMTYPE(header);
	source->ndim = ARR_NDIM(header);
	if (source->ndim < 0 || source->ndim > MAXDIM)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid number of dimensions: %d", source->ndim)));
	memcpy(source->dims, ARR_DIMS(header), source->ndim * sizeof(int));
	memcpy(source->lower_bounds, ARR_LBOUND(header), source->ndim * sizeof(int));
	source->num_items = ArrayGetNItems(source->ndim, source->dims);
	source->data_offset = ARR_DATA_OFFSET(header);
	if (source->data_offset > array_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("invalid array data offset: %zu", source->data_offset)));
	source->data_bytes = array_bytes - source->data_offset;
}

static int64
count_nulls(const uint8 *bitmap, int64 num_items)
{
	int			rest = num_items % 8;
	int64		present = pg_popcount((const char *) bitmap, num_items / 8);

	if (rest != 0)
		present += pg_number_of_ones[bitmap[num_items / 8] & ((1 << rest) - 1)];
	return num_items - present;
}

static void
open_in_memory(array_source *source, ArrayType *array)
{
	source->array = array;
	read_geometry(source, array, ARR_SIZE(array));
	source->null_bitmap = ARR_NULLBITMAP(array);
	if (source->null_bitmap)
		source->num_nulls = count_nulls(source->null_bitmap, source->num_items);
}

static void
open_stored(array_source *source)
{
	/* fetch_slice writes behind the length word; palloc aligns the header as an array */
	char	   *buffer = palloc(HEADER_BYTES + sizeof(int64));
	ArrayType  *header = (ArrayType *) buffer;
	Size		array_bytes = source->toast_pointer.va_rawsize;
	bool		has_nulls;

	source->toast_relation = table_open(source->toast_pointer.va_toastrelid, AccessShareLock);
	fetch_slice(source, VARHDRSZ, HEADER_BYTES - VARHDRSZ, buffer + VARHDRSZ);
	read_geometry(source, header, array_bytes);
	has_nulls = ARR_HASNULL(header);
	pfree(buffer);

	if (has_nulls)
	{
		Size		bitmap_bytes = (source->num_items + 7) / 8;
		char	   *bitmap = palloc(VARHDRSZ + bitmap_bytes);

		fetch_slice(source, ARR_OVERHEAD_NONULLS(source->ndim), bitmap_bytes, bitmap + VARHDRSZ);
		source->null_bitmap = (uint8 *) bitmap + VARHDRSZ;
		source->num_nulls = count_nulls(source->null_bitmap, source->num_items);
	}
}

static bool
worth_streaming(array_source *source)
{
	struct varlena *attr = (struct varlena *) DatumGetPointer(source->datum);

	if (!VARATT_IS_EXTERNAL_ONDISK(attr))
		return false;
	VARATT_EXTERNAL_GET_POINTER(source->toast_pointer, attr);
	return !VARATT_EXTERNAL_IS_COMPRESSED(source->toast_pointer) &&
		source->toast_pointer.va_rawsize >= STREAM_MIN_BYTES;
}

void
array_source_open(array_source *source, Datum datum)
{
	source->datum = datum;
	source->array = NULL;
	source->num_nulls = 0;
	source->null_bitmap = NULL;
	source->toast_relation = NULL;
	if (VARATT_IS_EXTERNAL(DatumGetPointer(datum)) && worth_streaming(source))
		open_stored(source);
	else
		open_in_memory(source, DatumGetArrayTypeP(datum));
}

/*
 * Same result as DatumGetArrayTypeP(), but in huge pages, which makes random access much faster,
 * and with checks for interrupts.
 */
void
array_source_load(array_source *source)
{
	Size		bytes;
	char	   *array;

	if (source->array)
		return;
	bytes = source->toast_pointer.va_rawsize;
	array = array_result_scratch(bytes);
	SET_VARSIZE(array, bytes);
	for (Size offset = VARHDRSZ; offset < bytes; offset += LOAD_STEP_BYTES)
	{
		fetch_slice(source, offset, Min(LOAD_STEP_BYTES, bytes - offset), array + offset);
		CHECK_FOR_INTERRUPTS();
	}
	array_source_close(source);
	open_in_memory(source, (ArrayType *) array);
}

void
array_source_require(const array_source *source, Size bytes)
{
	if (bytes > source->data_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("array has fewer bytes than its dimensions say"),
				 errdetail("The elements should take %zu bytes, but the array has %zu.",
						   bytes, source->data_bytes)));
}

const void *
array_source_bound(const array_source *source, int width)
{
	if (array_source_is_streamed(source) ||
		((uintptr_t) array_source_data(source) & (Min(width, 8) - 1)) != 0)
		return NULL;
	return array_source_data(source);
}

void
array_source_read(array_source *source, Size offset, Size bytes, void *dest)
{
	array_source_require(source, offset + bytes);
	if (source->array)
		memcpy(dest, array_source_data(source) + offset, bytes);
	else if (bytes > 0)
		fetch_slice(source, source->data_offset + offset, bytes, dest);
}

void
array_source_open_vector(array_source *source, Datum datum)
{
	array_source_open(source, datum);
	if (source->ndim > 1)
		mgpu_raise_not_one_dimensional(source->ndim);
}

void
array_source_close(array_source *source)
{
	if (source->toast_relation)
		table_close(source->toast_relation, AccessShareLock);
	source->toast_relation = NULL;
}
