/*
 * datum_network.h
 *		Batcher's odd-even mergesort network for types that are compared.
 */
#ifndef MGPU_DATUM_NETWORK_H
#define MGPU_DATUM_NETWORK_H

#include "element_type.h"

/* As datum_sort, by the network; equal values end up in any order. */
extern void datum_network_sort(const Datum *values, int64 num_items, const element_type *type,
							   bool descending, Oid collation, uint32 *ranks);

#endif							/* MGPU_DATUM_NETWORK_H */
