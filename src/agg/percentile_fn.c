/*
 * percentile_fn.c
 *		mgpu_percentile_cont, mgpu_percentile_disc: percentiles as plain aggregates.
 *
 * Results equal those of PostgreSQL's ordered-set aggregates percentile_cont and
 * percentile_disc.  The batches are those of mgpu_sort_agg: all groups are sorted at
 * once, and all aggregates of the same values in a query share one batch.  Selecting
 * the k-th item of each group was rejected: most queries compute several percentiles,
 * and a vectorized sort costs about as much as one selection.
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
#include "agg/call.h"
#include "core/group_spec.h"

PG_FUNCTION_INFO_V1(mgpu_percentile_cont_trans);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_trans);
PG_FUNCTION_INFO_V1(mgpu_percentile_cont_final);
PG_FUNCTION_INFO_V1(mgpu_percentile_disc_final);

/* A group of a sorted batch, or the two of its values that a percentile needs. */
typedef struct percentile_group
{
	const agg_call *call;
	const agg_batch *batch;		/* NULL: of the group's values these two are known */
	int64		low;			/* position of the first */
	Datum		picked[2];
	uint64		begin;
	int64		num_items;
	bool		is_alone;		/* one fraction, not an array of them */
} percentile_group;

typedef Datum (*percentile_fn) (const percentile_group *group, double fraction);

/* ---- transition */

static Datum
transition(FunctionCallInfo fcinfo, agg_kind kind)
{
	uint32		group;
	agg_batch  *batch = agg_group_of_row(fcinfo, kind, false, &group);

	if (batch->call->args_vary)
		agg_batch_take_fraction(batch, group, fcinfo->args[2]);
	/* NULLs are stored because a follower may be mgpu_sort_agg, which keeps them */
	if (batch->call->leader == NULL)
		agg_batch_add_key(batch, group, PG_GETARG_DATUM(1), PG_ARGISNULL(1));
	PG_RETURN_DATUM(UInt32GetDatum(group));
}

/* mgpu_percentile_cont_trans(state internal, val anyelement, fraction float8 or float8[]) → internal */
Datum
mgpu_percentile_cont_trans(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, AGG_PERCENTILE_CONT);
}

/* mgpu_percentile_disc_trans(state internal, val anyelement, fraction float8 or float8[]) → internal */
Datum
mgpu_percentile_disc_trans(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, AGG_PERCENTILE_DISC);
}

/* ---- one percentile */

static void
check_fraction(double fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

static Datum
sorted_datum(const percentile_group *group, int64 i)
{
	const element_type *type = &group->call->key.element;

	if (group->batch == NULL)
		return group->picked[i != group->low];
	return fetch_att(agg_batch_sorted_key(group->batch, group->begin + i), type->typbyval, type->typlen);
}

/* The smallest value such that at least this fraction of all values is not larger. */
static Datum
discrete(const percentile_group *group, double fraction)
{
	int64		rank = (int64) ceil(fraction * group->num_items);

	return sorted_datum(group, Max(rank, 1) - 1);
}

/* Values have the positions 0, 1, … num_items - 1.  A fraction falls between two of them. */
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
place_of(const percentile_group *group, double fraction)
{
	double		place = fraction * (group->num_items - 1);
	int64		low = (int64) floor(place);

	return (between) {low, (int64) ceil(place),
		group->is_alone ? proportion_alone(fraction, group->num_items, low) : place - floor(place)};
}

/* A domain's values are those of its base type, and are told by their keys. */
static double
sorted_number(const percentile_group *group, int64 i)
{
	const element_type *type = &group->call->key.element;
	Datum		value = sorted_datum(group, i);

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
continuous_number(const percentile_group *group, double fraction)
{
	between		place = place_of(group, fraction);
	double		low = sorted_number(group, place.low);
	double		high;

	if (place.low == place.high)
		return Float8GetDatum(low);
	high = sorted_number(group, place.high);
	return Float8GetDatum(low + place.proportion * (high - low));
}

static Datum
continuous_interval(const percentile_group *group, double fraction)
{
	between		place = place_of(group, fraction);
	Datum		low = sorted_datum(group, place.low);
	Datum		difference;

	if (place.low == place.high)
		return low;
	difference = DirectFunctionCall2(interval_mi, sorted_datum(group, place.high), low);
	difference = DirectFunctionCall2(interval_mul, difference, Float8GetDatum(place.proportion));
	return DirectFunctionCall2(interval_pl, difference, low);
}

/* ---- results */

/* A sorted value is in the batch's memory; PostgreSQL needs a copy. */
static Datum
copy_datum(Datum value, const element_type *type)
{
	return datumCopy(value, type->typbyval, type->typlen);
}

/* An array of percentiles with the dimensions of the array of fractions. */
static Datum
percentile_array(const percentile_group *group, ArrayType *fractions, percentile_fn percentile,
				 const element_type *result_type)
{
	Datum	   *values;
	bool	   *nulls;
	Datum	   *results;
	int			num_fractions;

	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &values, &nulls, &num_fractions);
	if (num_fractions == 0)
		return PointerGetDatum(construct_empty_array(result_type->type_id));
	results = palloc0(num_fractions * sizeof(Datum));
	for (int i = 0; i < num_fractions; i++)
		if (!nulls[i])
			check_fraction(DatumGetFloat8(values[i]));
	for (int i = 0; i < num_fractions; i++)
		if (!nulls[i])
			results[i] = percentile(group, DatumGetFloat8(values[i]));
	return PointerGetDatum(construct_md_array(results, nulls, ARR_NDIM(fractions), ARR_DIMS(fractions),
											  ARR_LBOUND(fractions), result_type->type_id,
											  result_type->typlen, result_type->typbyval, result_type->typalign));
}

/* The result type of continuous percentiles of numbers. */
static const element_type number_type = {.type_id = FLOAT8OID,.typlen = sizeof(float8),.typbyval = FLOAT8PASSBYVAL,
.typalign = TYPALIGN_DOUBLE};

Datum
agg_batch_percentile(agg_batch *batch, uint32 number, const chunk_slice *fraction, bool continuous, bool *is_null)
{
	const column *fractions = &fraction->rows->columns[0];
	Datum		value = cell_datum(fractions->type, fractions->cells, fraction->first);
	bool		is_array = !fractions->type->element.typbyval;
	const element_type *result_type = &batch->call->key.element;
	percentile_fn percentile = continuous ? continuous_interval : discrete;
	percentile_group group;

	*is_null = column_is_null(fractions, fraction->first);
	if (*is_null)
		return (Datum) 0;
	if (continuous && result_type->type_id != INTERVALOID)
	{
		result_type = &number_type;
		percentile = continuous_number;
	}
	if (!is_array)
		check_fraction(DatumGetFloat8(value));
	agg_batch_sort(batch);
	group.call = batch->call;
	group.batch = batch;
	group.begin = batch->items.starts[number];
	group.num_items = row_groups_size(&batch->items, number);
	group.is_alone = !is_array;
	*is_null = group.num_items == 0;
	if (group.num_items == 0)
		return (Datum) 0;
	if (is_array)
		return percentile_array(&group, DatumGetArrayTypeP(value), percentile, result_type);
	return copy_datum(percentile(&group, DatumGetFloat8(value)), result_type);
}

Datum
agg_percentile_between(const agg_call *call, double fraction, bool continuous, int64 num_items, const Datum picked[2])
{
	percentile_group group = {.call = call,.picked = {picked[0], picked[1]},.num_items = num_items,.is_alone = true};
	int64		high;

	check_fraction(fraction);
	mgpu_percentile_positions(&(mgpu_group_percentile) {fraction, continuous}, num_items, &group.low, &high);
	return continuous ? continuous_number(&group, fraction) : discrete(&group, fraction);
}

static Datum
finish(FunctionCallInfo fcinfo, bool continuous)
{
	agg_group	group;
	chunk_slice fraction;
	Datum		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	group = agg_group_of_final(fcinfo);
	fraction = agg_batch_fraction(group.own, group.number);
	result = agg_batch_percentile(group.batch, group.number, &fraction, continuous, &fcinfo->isnull);
	PG_RETURN_DATUM(result);
}

/* mgpu_percentile_cont_final(state internal, arguments as nulls) → float8, interval, or an array of them */
Datum
mgpu_percentile_cont_final(PG_FUNCTION_ARGS)
{
	return finish(fcinfo, true);
}

/* mgpu_percentile_disc_final(state internal, arguments as nulls) → anyelement, or an array of them */
Datum
mgpu_percentile_disc_final(PG_FUNCTION_ARGS)
{
	return finish(fcinfo, false);
}
