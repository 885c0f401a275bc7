/*
 * pair_result.c
 *		The results of a call that sorts or merges keys and their values.
 *
 * A row holds its arrays one behind the other, so arrays that are large are made
 * there: copying them into a row when they are done would take as much memory as
 * both once more.  heap_form_tuple() knows only the latter.  In a row, the second
 * array may stand where elements of 8 bytes are not aligned as executors want
 * them; then it is made a few bytes further on, and moved in the end.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"

#include "array/pair_result.h"
#include "pgerror.h"

/* Smaller arrays are copied into their row. */
#define IN_ROW_MIN_BYTES (64 * 1024)

/* Bytes moved between looks at interrupts. */
#define STEP_BYTES (16 * 1024 * 1024)

static TupleDesc
row_type(FunctionCallInfo fcinfo)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(tupdesc);
}

Datum
pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals)
{
	Datum		values[2] = {keys, vals};
	bool		nulls[2] = {false, false};

	return HeapTupleGetDatum(heap_form_tuple(row_type(fcinfo), values, nulls));
}

/* The header that heap_form_tuple() makes of a row without NULLs. */
static void
start_row(HeapTupleHeader row, TupleDesc tupdesc, Size row_bytes)
{
	Size		header_bytes = MAXALIGN(SizeofHeapTupleHeader);

	memset(row, 0, header_bytes);
	HeapTupleHeaderSetDatumLength(row, row_bytes);
	HeapTupleHeaderSetTypeId(row, tupdesc->tdtypeid);
	HeapTupleHeaderSetTypMod(row, tupdesc->tdtypmod);
	ItemPointerSetInvalid(&row->t_ctid);
	HeapTupleHeaderSetNatts(row, 2);
	row->t_infomask = HEAP_HASVARWIDTH;
	row->t_hoff = header_bytes;
}

static void
create_in_row(pair_result *result, const array_shape *keys, const array_shape *vals)
{
	TupleDesc	tupdesc = row_type(result->row_of);
	Size		keys_offset = MAXALIGN(SizeofHeapTupleHeader);
	Size		keys_end = keys_offset + array_shape_bytes(keys);
	Size		vals_offset;
	Size		row_bytes;
	char	   *memory;

	result->vals_align = TupleDescAttr(tupdesc, 1)->attalign;
	vals_offset = att_align_nominal(keys_end, result->vals_align);
	row_bytes = vals_offset + array_shape_bytes(vals);
	if (MAXALIGN(row_bytes) > MaxAllocSize)
		mgpu_raise_row_too_large(row_bytes);
	/* values may begin up to that much further on at first */
	memory = palloc_extended(vals_offset + MAXIMUM_ALIGNOF + array_shape_bytes(vals), MCXT_ALLOC_HUGE);
	result->row = (HeapTupleHeader) memory;
	start_row(result->row, tupdesc, row_bytes);
	result->keys = array_result_start(memory + keys_offset, keys);
	result->vals = array_result_start(memory + MAXALIGN(vals_offset), vals);
}

void
pair_result_create(pair_result *result, const array_shape *keys, const array_shape *vals)
{
	result->row = NULL;
	if (result->row_of && keys && array_shape_bytes(keys) >= IN_ROW_MIN_BYTES &&
		array_shape_bytes(vals) >= IN_ROW_MIN_BYTES)
	{
		create_in_row(result, keys, vals);
		return;
	}
	result->keys = keys ? array_result_start(palloc(array_shape_bytes(keys)), keys) : NULL;
	result->vals = array_result_start(palloc(array_shape_bytes(vals)), vals);
}

/* Where dest is before from. */
static void
move_down(char *dest, const char *from, Size bytes)
{
	for (Size done = 0; done < bytes; done += STEP_BYTES)
	{
		memmove(dest + done, from + done, Min(STEP_BYTES, bytes - done));
		CHECK_FOR_INTERRUPTS();
	}
}

Datum
pair_result_row(pair_result *result)
{
	char	   *row = (char *) result->row;
	Size		keys_end;
	Size		vals_offset;
	Size		vals_bytes = VARSIZE(result->vals);

	if (result->row == NULL)
		return pair_of_arrays(result->row_of, PointerGetDatum(result->keys), PointerGetDatum(result->vals));
	keys_end = (char *) result->keys + VARSIZE(result->keys) - row;
	vals_offset = att_align_nominal(keys_end, result->vals_align);
	if (row + vals_offset != (char *) result->vals)
		move_down(row + vals_offset, (char *) result->vals, vals_bytes);
	/* only zeros may stand in front of an aligned value */
	memset(row + keys_end, 0, vals_offset - keys_end);
	HeapTupleHeaderSetDatumLength(result->row, vals_offset + vals_bytes);
	return HeapTupleHeaderGetDatum(result->row);
}
