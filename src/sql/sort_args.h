/*
 * sort_args.h
 *		Arguments and bodies that SQL functions that sort share.
 */
#ifndef MGPU_SQL_SORT_ARGS_H
#define MGPU_SQL_SORT_ARGS_H

#include "fmgr.h"

#include "order/array_sort.h"
#include "order/sort_spec.h"

/*
 * The spec of a call whose arguments descending and nulls_first start at argument number first.
 * nulls_first is the value of descending if it is NULL.  Functions of version 0.1 may lack one or
 * both.  The sort has no segments and uses the call's collation.
 */
extern sort_spec sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first);

/* Whether an argument up to descending, which is number first, is NULL.  The result is NULL then. */
extern bool sort_args_null(FunctionCallInfo fcinfo, int first);

/* Open keys and values that are sorted together.  Errors: more than one dimension, different lengths. */
extern void pair_args_open(array_pair *pair, Datum keys, Datum vals);

/* As pair_args_open, with other names of the arguments for error messages. */
extern void pair_args_open_named(array_pair *pair, Datum keys, const char *keys_name,
								 Datum vals, const char *vals_name);
extern void pair_args_close(array_pair *pair);

/* Set both element types, from slots 0 and 1 of the function's cache. */
extern void pair_args_types(array_pair *pair, FunctionCallInfo fcinfo);

/* Reads an argument that tells where an array's segments begin (segment_args.h). */
typedef void (*read_segments_fn) (segment_list *segments, Datum argument, const array_source *array);

/*
 * Bodies of functions that sort one array, and keys with values into a row.  Fewer than
 * two elements are returned as they are.  read_segments takes the argument behind the
 * arrays; NULL: no segments.  The order arguments come next.
 */
extern Datum sort_one_array(FunctionCallInfo fcinfo, const sort_spec *spec, read_segments_fn read_segments);
extern Datum sort_pair(FunctionCallInfo fcinfo, const sort_spec *spec, read_segments_fn read_segments);

#endif							/* MGPU_SQL_SORT_ARGS_H */
