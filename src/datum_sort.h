/*
 * datum_sort.h
 *		Stable sort of any sortable type through its btree comparison.
 */
#ifndef MGPU_DATUM_SORT_H
#define MGPU_DATUM_SORT_H

#include "element_type.h"

/*
 * ranks[i] = index among values of the i-th in order; equal values keep their
 * order.  values are num_items Datums, none NULL, read but not changed.
 */
extern void datum_sort(const Datum *values, int64 num_items, const element_type *type,
					   bool descending, Oid collation, uint32 *ranks);

#endif							/* MGPU_DATUM_SORT_H */
