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
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "core/sizes.h"

#include "array/array_result.h"
#include "array/source.h"
#include "array/toast_pages.h"
#include "pgerror.h"

/* Stored arrays from this size on are streamed. */
#define STREAM_MIN_BYTES MGPU_SIZE(1024 * 1024, 8192)

/* Bytes loaded between checks for interrupts. */
#define LOAD_STEP_BYTES MGPU_SIZE((Size) 4 * 1024 * 1024, (Size) 16 * 1024)

/* Enough for the header of any array: six dimensions and their bounds. */
#define HEADER_BYTES ARR_OVERHEAD_NONULLS(MAXDIM)

/* A stored array has no length word, so its offsets are smaller. */
#define STORED_OFFSET(array_offset) ((array_offset) - VARHDRSZ)

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
	Size		done = toast_pages_read(source->toast_relation, &source->toast_pointer, offset, bytes, dest);

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
count_nulls(const bits8 *bitmap, int64 num_items)
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
		source->null_bitmap = (bits8 *) bitmap + VARHDRSZ;
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
		(uintptr_t) array_source_data(source) % Min(width, 8) != 0)
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
