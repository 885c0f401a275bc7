/*
 * sort_args.h
 *		Arguments and results that the sorting functions have in common.
 */
#ifndef MGPU_SORT_ARGS_H
#define MGPU_SORT_ARGS_H

#include "positions.h"

/* The order… arguments, the first of which is argument number first. */
extern sort_order sort_order_args(FunctionCallInfo fcinfo, int first);

/* ereport(ERROR) for an array of two dimensions or more. */
extern void check_one_dimensional(const array_source *source);

/* The calling function's (keys, vals) row. */
extern Datum pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals);

#endif							/* MGPU_SORT_ARGS_H */
