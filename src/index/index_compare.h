/*
 * index_compare.h
 *		Compares index tuples as the index's own operator classes do.
 */
#ifndef MGPU_INDEX_COMPARE_H
#define MGPU_INDEX_COMPARE_H

#include "index/index_keys.h"

/* Which tuple comes first in the index; of equal ones, that whose row comes first in the table. */
extern int	index_compare(const index_keys *keys, IndexTuple a, IndexTuple b);

#endif							/* MGPU_INDEX_COMPARE_H */
