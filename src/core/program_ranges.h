/*
 * program_ranges.h
 *		What operations of ranges ask: see program/ops_ranges.h.
 */
#ifndef MGPU_PROGRAM_RANGES_H
#define MGPU_PROGRAM_RANGES_H

/* As rows have them, in a range's last byte. */
typedef enum mgpu_range_flag
{
	MGPU_RANGE_EMPTY = 1,
	MGPU_RANGE_LOWER_INCLUSIVE = 2,
	MGPU_RANGE_UPPER_INCLUSIVE = 4,
	MGPU_RANGE_LOWER_INFINITE = 8,
	MGPU_RANGE_UPPER_INFINITE = 16,
	MGPU_RANGE_END_FLAGS = 32	/* others have no meaning in rows */
} mgpu_range_flag;

typedef enum mgpu_range_relation
{
	MGPU_RANGE_CONTAINS,
	MGPU_RANGE_OVERLAPS,
	MGPU_RANGE_BEFORE,
	MGPU_RANGE_ADJOINS
} mgpu_range_relation;

#endif							/* MGPU_PROGRAM_RANGES_H */
