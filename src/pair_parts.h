/*
 * pair_parts.h
 *		Sorts values by keys, a part of the order at a time.
 */
#ifndef MGPU_PAIR_PARTS_H
#define MGPU_PAIR_PARTS_H

#include "array_source.h"
#include "element_type.h"
#include "pair_result.h"
#include "sort_spec.h"

/* Whether it can be: keys have codes, values are of one width, and there are no segments. */
extern bool pair_parts_apply(const sort_spec *spec, const element_type *key_type, const element_type *val_type);

/*
 * Fills result, which has no room but for the arrays themselves.  Sources are loaded.
 * False, with the result undefined: some key has no code, or too many have the same.
 */
extern bool pair_parts_sort(const sort_spec *spec, array_source *keys, const element_type *key_type,
							array_source *vals, const element_type *val_type, pair_result *result);

#endif							/* MGPU_PAIR_PARTS_H */
