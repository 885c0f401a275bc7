/*
 * agg_fraction.c
 *		The fraction (or array of fractions) that a percentile aggregate is asked for.
 *
 * Kept and compared as bytes, which is also how it is sent.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "compat.h"
#include "agg_fraction.h"
#include "array/null_map.h"

static agg_fraction *
make(MemoryContext context, Oid type_id, bool is_null, const void *data, uint32 bytes)
{
	agg_fraction *fraction = MemoryContextAlloc(context, offsetof(agg_fraction, data) + MAXALIGN(bytes));

	fraction->type_id = type_id;
	fraction->is_null = is_null;
	fraction->bytes = bytes;
	memcpy(fraction->data, data, bytes);
	return fraction;
}

agg_fraction *
agg_fraction_make(MemoryContext context, Oid type_id, Datum value, bool is_null)
{
	ArrayType  *array;
	double		number;

	if (is_null)
		return make(context, type_id, true, &number, 0);
	if (type_id == FLOAT8OID)
	{
		number = DatumGetFloat8(value);
		return make(context, type_id, false, &number, sizeof(number));
	}
	array = DatumGetArrayTypeP(value);
	return make(context, type_id, false, array, VARSIZE(array));
}

static bool
is_valid_array(const agg_fraction *fraction)
{
	const ArrayType *array = (const ArrayType *) fraction->data;
	Size		data_offset;
	int			num_items;
	int			num_present;

	if (fraction->bytes < sizeof(ArrayType) || VARATT_IS_EXTENDED(array) || VARSIZE(array) != fraction->bytes)
		return false;
	if (ARR_ELEMTYPE(array) != FLOAT8OID || ARR_NDIM(array) < 0 || ARR_NDIM(array) > MAXDIM ||
		ARR_OVERHEAD_NONULLS(ARR_NDIM(array)) > fraction->bytes)
		return false;
	num_items = num_present = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	data_offset = ARR_OVERHEAD_NONULLS(ARR_NDIM(array));
	if (ARR_HASNULL(array))
	{
		data_offset = ARR_OVERHEAD_WITHNULLS(ARR_NDIM(array), num_items);
		if (data_offset > fraction->bytes || ARR_DATA_OFFSET(array) != data_offset)
			return false;
		num_present = null_bitmap_count(ARR_NULLBITMAP(array), 0, num_items);
	}
	return fraction->bytes == data_offset + (Size) num_present * sizeof(float8);
}

agg_fraction *
agg_fraction_receive(MemoryContext context, Oid type_id, bool is_null, const char *data, uint32 bytes)
{
	agg_fraction *fraction = make(context, type_id, is_null, data, bytes);
	bool		valid = type_id == FLOAT8OID ? bytes == sizeof(double) : is_valid_array(fraction);

	if (is_null ? bytes != 0 : !valid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid fraction in an aggregate's state")));
	return fraction;
}

static bool
is_same(const agg_fraction *a, const agg_fraction *b)
{
	return a->is_null == b->is_null && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static void
make_room(agg_fractions *fractions, uint32 group)
{
	uint32		capacity = Max((Size) fractions->capacity * 2, Max((Size) group + 1, 8));

	if (group < fractions->capacity)
		return;
	if (fractions->by_group)
		fractions->by_group = repalloc_huge(fractions->by_group, (Size) capacity * sizeof(agg_fraction *));
	else
		fractions->by_group = MemoryContextAllocHuge(fractions->context, (Size) capacity * sizeof(agg_fraction *));
	fractions->capacity = capacity;
}

void
agg_fractions_set(agg_fractions *fractions, uint32 group, agg_fraction *fraction)
{
	make_room(fractions, group);
	if (fractions->latest && is_same(fractions->latest, fraction))
		pfree(fraction);
	else
		fractions->latest = fraction;
	fractions->by_group[group] = fractions->latest;
}

void
agg_fractions_check(const agg_fractions *fractions, uint32 group, const agg_fraction *fraction)
{
	if (!is_same(fractions->by_group[group], fraction))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fraction must be the same in all rows of a group")));
}
