/*
 * pair_parts.h
 *		Sorts values by keys, a part of the order at a time.
 */
#ifndef MGPU_PAIR_PARTS_H
#define MGPU_PAIR_PARTS_H

#include "pair_fill.h"
#include "sort_spec.h"

/* Whether it can be: keys have codes, and there are no segments. */
extern bool pair_parts_apply(const sort_spec *spec, const element_type *key_type);

/*
 * Adds all pairs whose keys are not NULL.  False, with some of them added: some key
 * has no code, or too many have the same.
 */
extern bool pair_parts_sort(const sort_spec *spec, const array_source *keys, const element_type *key_type,
							pair_filler *filler);

#endif							/* MGPU_PAIR_PARTS_H */
