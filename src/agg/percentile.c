/*
 * percentile.c
 *		Percentiles of the groups of a batch.
 *
 * Results equal those of PostgreSQL's ordered-set aggregates percentile_cont and
 * percentile_disc.  All groups are sorted at once, and all aggregates of the same
 * values in a query share one batch.  Selecting the k-th item of each group was
 * rejected: most queries compute several percentiles, and a vectorized sort costs
 * about as much as one selection.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "agg/batch.h"

static void
check_fraction(double fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

/* Values have the positions 0, 1, … num_items - 1.  A percentile is one of them, or lies between two. */
typedef struct between
{
	int64		low;
	int64		high;
	double		proportion;		/* 0 at low, 1 at high */
} between;

/*
 * On ARM64, compilers fuse the product and the difference of PostgreSQL's proportion
 * for one fraction, but not for an array of them.  Inlined, they would not fuse here,
 * and the last bit of a percentile would not be PostgreSQL's.
 */
static pg_noinline double
proportion_alone(double fraction, int64 num_items, int64 low)
{
	return fraction * (num_items - 1) - low;
}

static between
place_of(const agg_percentile *percentile, double fraction, int64 num_items)
{
	double		place = fraction * (num_items - 1);
	int64		low = (int64) floor(place);
	int64		rank = (int64) ceil(fraction * num_items);

	/* the smallest value such that at least this fraction of all values is not larger */
	if (!percentile->continuous)
		return (between) {Max(rank, 1) - 1, Max(rank, 1) - 1, 0};
	return (between) {low, (int64) ceil(place),
		percentile->is_array ? place - floor(place) : proportion_alone(fraction, num_items, low)};
}

/* By the layout of a value, since its type may be a domain. */
static double
number_of(const element_type *type, Datum value)
{
	switch (type->key_kind << 8 | type->key_width)
	{
		case MGPU_KEY_SIGNED << 8 | 2:
			return DatumGetInt16(value);
		case MGPU_KEY_SIGNED << 8 | 4:
			return DatumGetInt32(value);
		case MGPU_KEY_SIGNED << 8 | 8:
			return (double) DatumGetInt64(value);
		case MGPU_KEY_FLOAT << 8 | 4:
			return DatumGetFloat4(value);
		default:
			return DatumGetFloat8(value);
	}
}

static Datum
interpolate_numbers(const between *place, double low, double high)
{
	return Float8GetDatum(place->low == place->high ? low : low + place->proportion * (high - low));
}

static Datum
interpolate_intervals(const between *place, Datum low, Datum high)
{
	Datum		difference;

	if (place->low == place->high)
		return low;
	difference = DirectFunctionCall2(interval_mi, high, low);
	difference = DirectFunctionCall2(interval_mul, difference, Float8GetDatum(place->proportion));
	return DirectFunctionCall2(interval_pl, difference, low);
}

/* The percentile at a place, from the values there. */
static Datum
percentile_at(const agg_percentile *percentile, const element_type *type, const between *place, Datum low, Datum high)
{
	if (!percentile->continuous)
		return low;
	if (type->type_id == INTERVALOID)
		return interpolate_intervals(place, low, high);
	return interpolate_numbers(place, number_of(type, low), number_of(type, high));
}

/* ---- of a group */

/* Its values: sorted in a batch, from `begin` on, or two that are picked for each fraction. */
typedef struct group_values
{
	const element_type *type;
	int64		num_items;
	const agg_batch *batch;		/* or NULL */
	uint64		begin;
	const Datum *picked;		/* for the next fraction */
} group_values;

static Datum
percentile_of(group_values *values, const agg_percentile *percentile, double fraction)
{
	between		place = place_of(percentile, fraction, values->num_items);
	Datum		low;
	Datum		high;

	if (values->batch)
	{
		low = agg_batch_sorted_datum(values->batch, values->begin + place.low);
		high = agg_batch_sorted_datum(values->batch, values->begin + place.high);
	}
	else
	{
		low = *values->picked++;
		high = *values->picked++;
	}
	return percentile_at(percentile, values->type, &place, low, high);
}

/* The type of a percentile. */
static const element_type *
result_type(const element_type *type, const agg_percentile *percentile)
{
	static const element_type float8_type = {.type_id = FLOAT8OID,.typlen = sizeof(float8),
	.typbyval = FLOAT8PASSBYVAL,.typalign = TYPALIGN_DOUBLE};

	return percentile->continuous && type->type_id != INTERVALOID ? &float8_type : type;
}

static int
read_fractions(const ArrayType *fractions, Datum **values, bool **nulls)
{
	int			num_fractions;

	deconstruct_array((ArrayType *) fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, values, nulls, &num_fractions);
	return num_fractions;
}

/* An array of percentiles with the dimensions of the array of fractions. */
static Datum
percentile_array(group_values *of, const agg_percentile *percentile)
{
	ArrayType  *fractions = DatumGetArrayTypeP(percentile->fraction.value);
	const element_type *type = result_type(of->type, percentile);
	Datum	   *values;
	bool	   *nulls;
	int			num_fractions = read_fractions(fractions, &values, &nulls);

	if (num_fractions == 0)
		return PointerGetDatum(construct_empty_array(type->type_id));
	for (int i = 0; i < num_fractions; i++)
		if (!nulls[i])
			check_fraction(DatumGetFloat8(values[i]));
	for (int i = 0; i < num_fractions; i++)
		if (!nulls[i])
			values[i] = percentile_of(of, percentile, DatumGetFloat8(values[i]));
	return PointerGetDatum(construct_md_array(values, nulls, ARR_NDIM(fractions), ARR_DIMS(fractions),
											  ARR_LBOUND(fractions), type->type_id,
											  type->typlen, type->typbyval, type->typalign));
}

Datum
agg_batch_percentile(agg_batch *batch, uint32 group, const agg_percentile *percentile, bool *is_null)
{
	group_values values = {.type = &batch->key_type->element,.batch = batch};
	const element_type *type = result_type(values.type, percentile);

	*is_null = percentile->fraction.isnull;
	if (*is_null)
		return (Datum) 0;
	if (!percentile->is_array)
		check_fraction(DatumGetFloat8(percentile->fraction.value));
	agg_batch_sort(batch);
	values.num_items = row_groups_size(&batch->items, group);
	values.begin = batch->items.starts[group];
	*is_null = values.num_items == 0;
	if (*is_null)
		return (Datum) 0;
	if (percentile->is_array)
		return percentile_array(&values, percentile);
	/* a sorted value is in the batch's memory; PostgreSQL needs a copy */
	return datumCopy(percentile_of(&values, percentile, DatumGetFloat8(percentile->fraction.value)),
					 type->typbyval, type->typlen);
}

/* ---- of values that somebody else picks */

int
agg_percentile_fractions(const agg_percentile *percentile, double *fractions, int most)
{
	Datum		value = percentile->fraction.value;
	Datum	   *values = &value;
	bool		is_null = percentile->fraction.isnull;
	bool	   *nulls = &is_null;
	int			num_values = 1;
	int			num_fractions = 0;

	if (is_null)
		return -1;
	if (percentile->is_array)
		num_values = read_fractions(DatumGetArrayTypeP(value), &values, &nulls);
	for (int i = 0; i < num_values; i++)
	{
		double		fraction = nulls[i] ? 0 : DatumGetFloat8(values[i]);

		if (nulls[i])
			continue;
		if (num_fractions == most || !(fraction >= 0 && fraction <= 1))
			return -1;
		fractions[num_fractions++] = fraction;
	}
	return num_fractions;
}

Datum
agg_percentile_picked(const agg_percentile *percentile, const element_type *type, int64 num_items, const Datum *picked)
{
	group_values values = {.type = type,.num_items = num_items,.picked = picked};

	if (percentile->is_array)
		return percentile_array(&values, percentile);
	return percentile_of(&values, percentile, DatumGetFloat8(percentile->fraction.value));
}
