/*
 * args.h
 *		Arguments and results that the sorting functions have in common.
 */
#ifndef MGPU_SQL_ARGS_H
#define MGPU_SQL_ARGS_H

#include "fmgr.h"

#include "order/array_sort.h"
#include "order/sort_spec.h"

/*
 * The spec of a call whose order… arguments start at argument number first: a
 * plain sort, without segments, under the call's collation.
 */
extern sort_spec sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first);

/* Keys and values to sort together.  Opening checks that both have one dimension and one length. */
extern void pair_args_open(array_pair *pair, Datum keys, Datum vals);

/* The same where the arguments have other names (shown in errors). */
extern void pair_args_open_named(array_pair *pair, Datum keys, const char *keys_name,
								 Datum vals, const char *vals_name);
extern void pair_args_close(array_pair *pair);

/* Look both element types up, in slots 0 and 1 of the function's cache. */
extern void pair_args_types(array_pair *pair, FunctionCallInfo fcinfo);

#endif							/* MGPU_SQL_ARGS_H */
