/*
 * datum_network.h
 *		Batcher's odd-even mergesort network for types that are compared.
 */
#ifndef MGPU_DATUM_NETWORK_H
#define MGPU_DATUM_NETWORK_H

#include "compared_codes.h"

/* sort's first num_items references in the order of what they refer to; equal ones end up in any order. */
extern void datum_network_sort(compared_sort *sort, int64 num_items);

#endif							/* MGPU_DATUM_NETWORK_H */
