/*
 * pair_result.h
 *		The result of a call that sorts or merges keys together with values.
 */
#ifndef MGPU_ARRAY_PAIR_RESULT_H
#define MGPU_ARRAY_PAIR_RESULT_H

#include "access/htup_details.h"
#include "fmgr.h"

#include "array/array_result.h"

/*
 * Keys and values, or only values.  The caller sets row_of and zeroes the rest.
 * pair_result_create makes the arrays, and the caller fills in their data.
 */
typedef struct pair_result
{
	FunctionCallInfo row_of;	/* return a row of this function; NULL: return arrays */
	ArrayType  *keys;			/* NULL: not wanted */
	ArrayType  *vals;

	/* set for large results: the row that contains both arrays */
	HeapTupleHeader row;
	char		vals_align;		/* alignment of vals in the finished row */
} pair_result;

/* Make the arrays in the current context.  keys is NULL if only values are wanted. */
extern void pair_result_create(pair_result *result, const array_shape *keys, const array_shape *vals);

/* The finished (keys, vals) row.  Both arrays must be complete. */
extern Datum pair_result_row(pair_result *result);

/* The row type of a function's result, blessed. */
extern TupleDesc result_row_type(FunctionCallInfo fcinfo);

/* A row with copies of any two arrays. */
extern Datum pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals);

#endif							/* MGPU_ARRAY_PAIR_RESULT_H */
