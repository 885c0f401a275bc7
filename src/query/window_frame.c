/*
 * window_frame.c
 *		Which frames of windows MgpuWindow has.
 *
 * They begin with the partition, with some rows before the row, or with a distance in the order's key; and end with the row, its equals, some rows before or behind it, or
 * the partition.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "query/window_frame.h"

/* A frame of some rows is computed anew for each row. */
#define MOST_FRAME_ROWS 10000

/* A window without an order has rows that are all equal. */
window_frame
window_frame_end(const WindowClause *window)
{
	bool		has_equals = (window->frameOptions & FRAMEOPTION_ROWS) == 0;

	if ((window->frameOptions & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) || (has_equals && window->orderClause == NIL))
		return WINDOW_PARTITION;
	return window->frameOptions & FRAMEOPTION_ROWS ? WINDOW_ROWS : WINDOW_PEERS;
}

/* A constant number of rows that are few.  false: it is another. */
static bool
take_rows(const Node *offset, int *rows)
{
	const Const *constant = (const Const *) offset;
	int64		value;

	if (offset == NULL || !IsA(constant, Const) || constant->constisnull || constant->consttype != INT8OID)
		return false;
	value = DatumGetInt64(constant->constvalue);
	*rows = (int) value;
	return value >= 0 && value <= MOST_FRAME_ROWS;
}

/* Keys that numbers, or times, are taken off. */
static bool
has_distances(const WindowClause *window)
{
	switch (window->startInRangeFunc)
	{
		case F_IN_RANGE_INT8_INT8_INT8_BOOL_BOOL:
		case F_IN_RANGE_INT4_INT4_INT8_BOOL_BOOL: case F_IN_RANGE_INT4_INT4_INT4_BOOL_BOOL: case F_IN_RANGE_INT4_INT4_INT2_BOOL_BOOL:
		case F_IN_RANGE_INT2_INT2_INT8_BOOL_BOOL: case F_IN_RANGE_INT2_INT2_INT4_BOOL_BOOL: case F_IN_RANGE_INT2_INT2_INT2_BOOL_BOOL:
		case F_IN_RANGE_DATE_DATE_INTERVAL_BOOL_BOOL: case F_IN_RANGE_TIMESTAMP_TIMESTAMP_INTERVAL_BOOL_BOOL:
		case F_IN_RANGE_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL_BOOL_BOOL:
			return window->inRangeAsc;
		default:
			return false;
	}
}

/* Whether a distance has no sign in any part, and is none that never ends. */
static bool
is_distance(const Const *constant)
{
	const Interval *interval;

	if (constant == NULL || !IsA(constant, Const) || constant->constisnull)
		return false;
	if (constant->consttype != INTERVALOID)
		return (constant->consttype == INT2OID ? DatumGetInt16(constant->constvalue) : constant->consttype == INT4OID ? DatumGetInt32(constant->constvalue) :
				DatumGetInt64(constant->constvalue)) >= 0;
	interval = DatumGetIntervalP(constant->constvalue);
	return interval->month >= 0 && interval->month < PG_INT32_MAX && interval->day >= 0 && interval->time >= 0;
}

/* The distance in the key with which a frame begins that ends with the row and its equals, or NULL. */
Node *
window_frame_range(const WindowClause *window)
{
	int			options = window->frameOptions;

	if ((options & FRAMEOPTION_RANGE) == 0 || (options & FRAMEOPTION_START_OFFSET_PRECEDING) == 0 || (options & FRAMEOPTION_END_CURRENT_ROW) == 0 ||
		!has_distances(window) || !is_distance((const Const *) window->startOffset))
		return NULL;
	return window->startOffset;
}

/* With which row a frame of rows ends.  false: it is another. */
static bool
take_end_of_rows(const WindowClause *window, int *following)
{
	int			options = window->frameOptions;

	if ((options & FRAMEOPTION_END_CURRENT_ROW) != 0)
		return true;
	if ((options & FRAMEOPTION_END_OFFSET) == 0 || !take_rows(window->endOffset, following))
		return false;
	if ((options & FRAMEOPTION_END_OFFSET_PRECEDING) != 0)
		*following = -*following;
	return true;
}

/* Frames that begin with the partition, and those of some rows around the row.  false: it is another. */
bool
window_frame_find(const WindowClause *window, int *preceding, int *following)
{
	int			options = window->frameOptions;

	*preceding = -1;
	*following = 0;
	if ((options & FRAMEOPTION_EXCLUSION) != 0)
		return false;
	if ((options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 &&
		(options & (FRAMEOPTION_END_CURRENT_ROW | FRAMEOPTION_END_UNBOUNDED_FOLLOWING)) != 0)
		return true;
	if ((options & FRAMEOPTION_ROWS) != 0 && (options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0)
		return take_end_of_rows(window, following);
	*preceding = 0;
	if ((options & FRAMEOPTION_ROWS) == 0)
		return window_frame_range(window) != NULL;
	return ((options & FRAMEOPTION_START_CURRENT_ROW) != 0 ||
			((options & FRAMEOPTION_START_OFFSET_PRECEDING) != 0 && take_rows(window->startOffset, preceding))) && take_end_of_rows(window, following);
}
