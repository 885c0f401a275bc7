/*
 * pair_room.h
 *		Pairs for whose positions the result of their values has no room.
 */
#ifndef MGPU_PAIR_ROOM_H
#define MGPU_PAIR_ROOM_H

#include "array_result.h"
#include "pair_result.h"
#include "sort_spec.h"

/* Whether values that lie in memory, and would be there twice while a job runs, are too many for that. */
extern bool pair_copy_takes_too_much(const array_source *vals);

/* Whether positions of all, for which vals has scratch behind it, take more than a call may have. */
extern bool pair_positions_take_too_much(const array_source *keys, const array_source *vals,
										 const array_shape *val_shape);

/*
 * sorted_arrays in such a case: key_shape NULL if keys are not wanted.  False, and no
 * result: there is no other way.
 */
extern bool sorted_arrays_without_room(const sort_spec *spec, array_source *keys, const element_type *key_type,
									   array_source *vals, const element_type *val_type,
									   const array_shape *key_shape, const array_shape *val_shape,
									   pair_result *result);

#endif							/* MGPU_PAIR_ROOM_H */
