/*
 * pair_result.c
 *		The result of a call that sorts or merges keys together with values.
 *
 * A row holds its arrays one after the other, so large arrays are made inside the row.
 * heap_form_tuple() was rejected: it copies finished arrays into a row, which takes as much
 * memory as both arrays again.
 *
 * Inside a row, the second array may be misaligned for executors that write 8-byte elements.  It
 * is then made a few bytes further on and moved down at the end.
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

/* Bytes moved between checks for interrupts. */
#define STEP_BYTES (16 * 1024 * 1024)

TupleDesc
result_row_type(FunctionCallInfo fcinfo)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(tupdesc);
}

/* The row type of pairs.  The catalogs are asked once a call site: that takes longer than to sort a few. */
static TupleDesc
pair_row_type(FunctionCallInfo fcinfo)
{
	call_types *types = call_types_of(fcinfo);
	MemoryContext before;

	if (types->row == NULL)
	{
		before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		types->row = result_row_type(fcinfo);
		MemoryContextSwitchTo(before);
	}
	return types->row;
}

Datum
pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals)
{
	Datum		values[2] = {keys, vals};
	bool		nulls[2] = {false, false};

	return HeapTupleGetDatum(heap_form_tuple(pair_row_type(fcinfo), values, nulls));
}

/* Write the same header as heap_form_tuple() for a row without NULLs. */
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
	TupleDesc	tupdesc = pair_row_type(result->row_of);
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
	/* until they are moved, vals may start up to MAXIMUM_ALIGNOF bytes further on */
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

/* Move bytes to a lower address.  The ranges may overlap. */
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
	/* padding in front of an aligned value must be zero */
	memset(row + keys_end, 0, vals_offset - keys_end);
	HeapTupleHeaderSetDatumLength(result->row, vals_offset + vals_bytes);
	return HeapTupleHeaderGetDatum(result->row);
}
