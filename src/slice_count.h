/*
 * slice_count.h
 *		Sorts very narrow slices of a multi-dimensional array by counting them.
 */
#ifndef MGPU_SLICE_COUNT_H
#define MGPU_SLICE_COUNT_H

#include "array_source.h"
#include "element_type.h"

/*
 * Whether slices have so few values that they are counted: up to three bytes of
 * numbers, or up to two of which some may be NULL; and are enough to be worth it.
 */
extern bool slices_are_counted(const array_source *source, const element_type *type);

/*
 * Slices of such a source, which is loaded, in order: to the data of result, an
 * array of the same shape whose null bitmap, if it has one, is all zeros.
 */
extern void slices_count(const array_source *source, const element_type *type, bool descending, ArrayType *result);

#endif							/* MGPU_SLICE_COUNT_H */
