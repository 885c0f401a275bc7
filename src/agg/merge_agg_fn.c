/*
 * merge_agg_fn.c
 *		mgpu_merge_agg: merges any number of sorted arrays into one.
 *
 * Each array is checked for order when it arrives, and its elements join the batch as
 * rows.  One segmented sort then merges all groups.  The sort is stable, so elements of
 * earlier arrays come first among equals.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/sortsupport.h"

#include "core/key_codec.h"

#include "compat.h"
#include "agg/call.h"
#include "array/element_cursor.h"
#include "array/null_map.h"
#include "array/source.h"
#include "sql/args.h"

PG_FUNCTION_INFO_V1(mgpu_merge_agg_trans);

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

static MGPU_NORETURN void
raise_not_sorted(int64 subscript)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("array is not sorted"),
			 errdetail("The element at position %lld of one of the arrays belongs before the one at position %lld.",
					   (long long) subscript, (long long) subscript - 1),
			 errhint("Sort the array first, with the same order arguments.")));
	pg_unreachable();
}

/* Position of the first element on the wrong side of the NULLs; num_items if there is none. */
static int64
misplaced_null(const array_source *source, bool nulls_first)
{
	if (source->num_nulls == 0)
		return source->num_items;
	for (int64 i = 1; i < source->num_items; i++)
	{
		bool		present = null_bitmap_present(source->null_bitmap, i);

		if (present != null_bitmap_present(source->null_bitmap, i - 1) && present != nulls_first)
			return i;
	}
	return source->num_items;
}

/* The order code of a key of at most 8 bytes. */
static inline uint64
code_of(const char *key, uint32 kind, uint32 width)
{
	uint64		bits = 0;

	memcpy(&bits, key, width);
	return width == 8 ? mgpu_encode_64(bits, kind) : mgpu_encode_32((uint32) bits, kind, width);
}

/* Each count_ordered function returns the number of leading elements that are in order. */
static inline int64
count_ordered_codes(const char *keys, int64 num_keys, uint32 kind, uint32 width, bool descending)
{
	uint64		before = num_keys > 0 ? code_of(keys, kind, width) : 0;

	for (int64 i = 1; i < num_keys; i++)
	{
		uint64		code = code_of(keys + i * width, kind, width);

		if (descending ? code > before : code < before)
			return i;
		before = code;
	}
	return num_keys;
}

static int64
count_ordered_keys(const element_type *type, const char *keys, int64 num_keys, bool descending)
{
	/* constant widths let the compiler specialize the loop */
	if (type->key_width == 4)
		return count_ordered_codes(keys, num_keys, type->key_kind, 4, descending);
	if (type->key_width == 8)
		return count_ordered_codes(keys, num_keys, type->key_kind, 8, descending);
	if (type->key_width < 8)
		return count_ordered_codes(keys, num_keys, type->key_kind, type->key_width, descending);
	for (int64 i = 1; i < num_keys; i++)
	{
		int			order = memcmp(keys + (i - 1) * 16, keys + i * 16, 16);

		if (descending ? order < 0 : order > 0)
			return i;
	}
	return num_keys;
}

static int64
count_ordered_values(agg_call *call, const array_source *source, bool descending,
					 int64 first, int64 num_values)
{
	SortSupport support = agg_call_support(call, descending);
	element_cursor cursor;
	Datum		before = 0;

	element_cursor_start(&cursor, source, &call->key.element);
	for (int64 i = 0; i < num_values; i++)
	{
		Datum		here;

		element_cursor_seek(&cursor, first + i);
		here = element_cursor_datum(&cursor);
		if (i > 0 && ApplySortComparator(before, false, here, false, support) > 0)
			return i;
		before = here;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return num_values;
}

static void
check_sorted(const agg_batch *batch, const array_source *source)
{
	const element_type *type = &batch->call->key.element;
	int64		checked = misplaced_null(source, batch->order.nulls_first);
	int64		num_values = null_bitmap_count(source->null_bitmap, 0, checked);
	int64		first = batch->order.nulls_first ? checked - num_values : 0;
	int64		ordered;

	if (type->key_kind != 0)
		ordered = count_ordered_keys(type, array_source_data(source), num_values, batch->order.descending);
	else
		ordered = count_ordered_values(batch->call, source, batch->order.descending, first, num_values);
	if (ordered < num_values)
		raise_not_sorted(source->lower_bounds[0] + first + ordered);
	if (checked < source->num_items)
		raise_not_sorted(source->lower_bounds[0] + checked);
}

static void
join(agg_batch *batch, uint32 group, const array_source *source)
{
	column	   *key = batch->key;
	uint32		width = key->type->width;
	uint64		row = agg_batch_add_rows(batch, group, source->num_items);
	element_cursor cursor;

	if (!column_is_variable(key->type))
	{
		uint64		num_values = source->num_items - source->num_nulls;

		memcpy(key->cells + row * width, array_source_data(source), num_values * width);
		for (int64 i = 0; i < source->num_nulls; i++)
			chunk_put_null(batch->rows, key, row + num_values + i);
		return;
	}
	element_cursor_start(&cursor, source, &key->type->element);
	for (int64 i = 0; i < source->num_items; i++)
	{
		bool		present = null_bitmap_present(source->null_bitmap, i);

		element_cursor_seek(&cursor, i);
		chunk_put(batch->rows, key, row + i, present ? element_cursor_datum(&cursor) : (Datum) 0, !present);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
open_source(array_source *source, Datum array, const column_type *type)
{
	array_source_open_vector(source, array);
	array_source_load(source);
	if (source->element_type != type->element.type_id)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("array has elements of type %u, not %u", source->element_type, type->element.type_id)));
	if (!column_is_variable(type))
		array_source_require(source, (Size) (source->num_items - source->num_nulls) * type->width);
}

/*
 * mgpu_merge_agg_trans(state internal, sorted anyarray [, descending bool
 * [, nulls_first bool]]) → internal: the number of the group
 */
Datum
mgpu_merge_agg_trans(PG_FUNCTION_ARGS)
{
	array_source source;
	agg_batch  *batch;
	uint32		group;

	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	batch = agg_group_of_row(fcinfo, AGG_MERGE, false, &group);
	if (batch->call->args_vary)
		agg_call_order_args(batch, fcinfo, 2);
	open_source(&source, PG_GETARG_DATUM(1), &batch->call->key);
	if (source.num_items > 0)
	{
		check_sorted(batch, &source);
		join(batch, group, &source);
	}
	PG_RETURN_DATUM(UInt32GetDatum(group));
}
