/*
 * args.h
 *		Arguments that the sorting functions share.
 */
#ifndef MGPU_SQL_ARGS_H
#define MGPU_SQL_ARGS_H

#include "fmgr.h"

#include "order/array_sort.h"
#include "order/sort_spec.h"

/*
 * The spec of a call whose arguments descending and nulls_first start at argument number first.
 * Missing arguments get their defaults.  The sort has no segments and uses the call's collation.
 */
extern sort_spec sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first);

/* Open keys and values that are sorted together.  Errors: more than one dimension, different lengths. */
extern void pair_args_open(array_pair *pair, Datum keys, Datum vals);

/* As pair_args_open, with other names of the arguments for error messages. */
extern void pair_args_open_named(array_pair *pair, Datum keys, const char *keys_name,
								 Datum vals, const char *vals_name);
extern void pair_args_close(array_pair *pair);

/* Set both element types, from slots 0 and 1 of the function's cache. */
extern void pair_args_types(array_pair *pair, FunctionCallInfo fcinfo);

#endif							/* MGPU_SQL_ARGS_H */
