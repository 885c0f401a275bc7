/*
 * window_range.c
 *		Frames that begin with a distance in the order's key.
 *
 * The distance is taken off a row's key once, by PostgreSQL's own function where months or, in time zones, days are taken off.  PostgreSQL's in_range
 * functions do so for each row that they compare.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "exec/window_range.h"

static int64
timestamp_of_date(DateADT date)
{
	if (DATE_IS_NOBEGIN(date))
		return PG_INT64_MIN;
	return DATE_IS_NOEND(date) ? PG_INT64_MAX : date * USECS_PER_DAY;
}

int64
window_range_place(const window_range *range, Datum key)
{
	switch (range->type)
	{
		case INT2OID:
			return DatumGetInt16(key);
		case INT4OID:
			return DatumGetInt32(key);
		case DATEOID:
			return timestamp_of_date(DatumGetDateADT(key));
		default:
			return DatumGetInt64(key);
	}
}

static int64
distance_of(const Const *distance)
{
	switch (distance->consttype)
	{
		case INT2OID:
			return DatumGetInt16(distance->constvalue);
		case INT4OID:
			return DatumGetInt32(distance->constvalue);
		default:
			return DatumGetInt64(distance->constvalue);
	}
}

/* A time before another. */
static int64
time_before(const window_range *range, int64 time)
{
	const Interval *interval = DatumGetIntervalP(range->distance->constvalue);
	bool		is_local = range->type != TIMESTAMPTZOID;
	int64		days = (int64) interval->day * USECS_PER_DAY;
	int64		bound;

	if (TIMESTAMP_NOT_FINITE(time))
		return time;
	if (interval->month == 0 && (interval->day == 0 || is_local) && !pg_sub_s64_overflow(time, days, &bound) &&
		!pg_sub_s64_overflow(bound, interval->time, &bound) && IS_VALID_TIMESTAMP(bound))
		return bound;
	return DatumGetTimestamp(DirectFunctionCall2(is_local ? timestamp_mi_interval : timestamptz_mi_interval, TimestampGetDatum(time),
												 IntervalPGetDatum(interval)));
}

int64
window_range_bound(const window_range *range, Datum key)
{
	int64		place = window_range_place(range, key);
	int64		bound;

	if (range->distance->consttype == INTERVALOID)
		return time_before(range, place);
	return pg_sub_s64_overflow(place, distance_of(range->distance), &bound) ? PG_INT64_MIN : bound;
}
