/*
 * positions.h
 *		The sorted order of an array's elements, as positions.
 */
#ifndef MGPU_POSITIONS_H
#define MGPU_POSITIONS_H

#include "array_source.h"
#include "element_type.h"

/* The two optional trailing arguments of every sorting function. */
typedef struct sort_order
{
	bool		descending;
	bool		nulls_first;
} sort_order;

/*
 * positions[i] = base + 0-based position of the i-th element in order, NULL
 * elements placed by order.  keys is one-dimensional and sortable; it may be
 * streamed on entry and may be loaded on return.  positions has room for all
 * of its items.
 */
extern void sorted_positions(const char *function, array_source *keys,
							 const element_type *type, const sort_order *order,
							 Oid collation, int32 base, int32 *positions);

#endif							/* MGPU_POSITIONS_H */
