/*
 * pair_result.h
 *		The results of a call that sorts or merges keys and their values.
 */
#ifndef MGPU_ARRAY_PAIR_RESULT_H
#define MGPU_ARRAY_PAIR_RESULT_H

#include "access/htup_details.h"
#include "fmgr.h"

#include "array/result.h"

/*
 * Keys and values, or values alone.  The caller sets row_of and zeroes the rest;
 * pair_result_create makes the arrays, whose data the caller fills in.
 */
typedef struct pair_result
{
	FunctionCallInfo row_of;	/* this function's (keys, vals) row is wanted; NULL: arrays */
	ArrayType  *keys;			/* NULL: not wanted */
	ArrayType  *vals;

	/* large rows, whose arrays are inside */
	HeapTupleHeader row;
	char		vals_align;		/* where vals end up; until then they may be further on */
} pair_result;

/* shapes: of keys (NULL: not wanted) and of values.  Palloc'd in the current context. */
extern void pair_result_create(pair_result *result, const array_shape *keys, const array_shape *vals);

/* The row, arrays being complete. */
extern Datum pair_result_row(pair_result *result);

/* A row of any two arrays, which are copied. */
extern Datum pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals);

#endif							/* MGPU_ARRAY_PAIR_RESULT_H */
