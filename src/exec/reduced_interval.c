/*
 * reduced_interval.c
 *		Sums and averages of interval.
 *
 * Months, days and microseconds are added each by itself, as interval_pl adds them, and looked at for an overflow in the end.  Later ones than 16 have
 * infinite intervals: a group of them and others is infinite, and one of both infinities is an error.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "exec/reduced_interval.h"
#include "exec/reduced_rows.h"

#define HAS_INFINITY 1
#define HAS_NEGATIVE_INFINITY 2

#ifdef INTERVAL_NOT_FINITE
static int
infinity_of(const Interval *interval)
{
	return INTERVAL_IS_NOEND(interval) ? HAS_INFINITY : INTERVAL_IS_NOBEGIN(interval) ? HAS_NEGATIVE_INFINITY : 0;
}
#else
static int
infinity_of(const Interval *interval)
{
	(void) interval;
	return 0;
}
#endif

static pg_attribute_always_inline void
add(const Interval *interval, reduced_state *to)
{
	reduced_interval *sum = &to->interval;
	int			infinity = infinity_of(interval);

	to->count++;
	sum->infinities |= infinity;
	if (unlikely(infinity != 0))
		return;
	sum->time += interval->time;
	sum->days += interval->day;
	sum->months += interval->month;
}

void
reduced_interval_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end,
						  reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];

	for (uint64 i = begin; i < end; i++)
	{
		uint64		row = row_groups_row(numbers, i);

		if (counts(&counted, row))
			add((const Interval *) cell_element(col->type, col->cells, row), to);
	}
}

void
reduced_interval_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to)
{
	counted_rows counted = counted_rows_of(values, rows);
	const column *col = &rows->columns[values->column];

	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		if (row + ROWS_AHEAD < rows->num_rows)
			fetch_ahead(&to[groups[row + ROWS_AHEAD]]);
		if (counts(&counted, row))
			add((const Interval *) cell_element(col->type, col->cells, row), &to[groups[row]]);
	}
}

/* ---- results */

/* PostgreSQL's own error. */
static void
fail_overflow(void)
{
	Interval	longest = {.month = PG_INT32_MAX};

	(void) DirectFunctionCall2(interval_pl, IntervalPGetDatum(&longest), IntervalPGetDatum(&longest));
}

/* The infinity that a sum is; NULL: it is finite. */
static Interval *
infinite_sum(const reduced_interval *sum)
{
	if (sum->infinities == (HAS_INFINITY | HAS_NEGATIVE_INFINITY))
		fail_overflow();
	if (sum->infinities == 0)
		return NULL;
	return DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(sum->infinities == HAS_INFINITY ? "infinity" : "-infinity"),
												 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

Datum
reduced_interval_result(reduction what, const reduced_state *state)
{
	const reduced_interval *sum = &state->interval;
	Interval   *result = infinite_sum(sum);

	if (result)
		return IntervalPGetDatum(result);
	result = palloc(sizeof(Interval));
	*result = (Interval) {(TimeOffset) sum->time, (int32) sum->days, (int32) sum->months};
	if (result->time != sum->time || result->day != sum->days || result->month != sum->months)
		fail_overflow();
	if (what == REDUCE_SUM_OF_INTERVAL)
		return IntervalPGetDatum(result);
	return DirectFunctionCall2(interval_div, IntervalPGetDatum(result), Float8GetDatum((float8) state->count));
}
