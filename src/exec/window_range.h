/*
 * window_range.h
 *		Frames that begin with a distance in the order's key: RANGE BETWEEN '7 days' PRECEDING AND CURRENT ROW.
 */
#ifndef MGPU_EXEC_WINDOW_RANGE_H
#define MGPU_EXEC_WINDOW_RANGE_H

#include "nodes/primnodes.h"

typedef struct window_range
{
	Oid			type;			/* of the key */
	const Const *distance;
} window_range;

/* A key as a number that orders as keys do, in units of bounds. */
extern int64 window_range_place(const window_range *range, Datum key);

/* The least such number in the frame of a row with this key. */
extern int64 window_range_bound(const window_range *range, Datum key);

#endif							/* MGPU_EXEC_WINDOW_RANGE_H */
