/*
 * sort_args.h
 *		Arguments and results that the sorting functions have in common.
 */
#ifndef MGPU_SORT_ARGS_H
#define MGPU_SORT_ARGS_H

#include "fmgr.h"

#include "array_source.h"
#include "element_type.h"
#include "sort_spec.h"

/*
 * The spec of a call whose order… arguments start at argument number first: a
 * plain sort, without segments, under the call's collation.
 */
extern sort_spec sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first);

/* ereport(ERROR) for an array of two dimensions or more. */
extern void check_one_dimensional(const array_source *source);

/*
 * Keys and values to sort together.  Opening checks that both have one dimension
 * and one length.
 */
typedef struct pair_args
{
	array_source keys;
	array_source vals;
	const element_type *key_type;
	const element_type *val_type;
} pair_args;

extern void pair_args_open(pair_args *pair, Datum keys, Datum vals);

/* The same where the arguments have other names (shown in errors). */
extern void pair_args_open_named(pair_args *pair, Datum keys, const char *keys_name,
								 Datum vals, const char *vals_name);
extern void pair_args_close(pair_args *pair);

/* Look both element types up, in slots 0 and 1 of the function's cache. */
extern void pair_args_types(pair_args *pair, FunctionCallInfo fcinfo);

#endif							/* MGPU_SORT_ARGS_H */
