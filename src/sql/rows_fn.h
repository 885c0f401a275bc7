/*
 * rows_fn.h
 *		Set-returning functions whose rows hold the elements of two arrays, side by side.
 */
#ifndef MGPU_SQL_ROWS_FN_H
#define MGPU_SQL_ROWS_FN_H

#include "fmgr.h"
#include "utils/array.h"

/* Makes the two arrays, which have the same length.  Called once, in the memory context of the result set. */
typedef void (*rows_start_fn) (FunctionCallInfo fcinfo, ArrayType **first, ArrayType **second);

/*
 * Body of a value-per-call set-returning function of two arrays and the order arguments.  The first
 * call makes the arrays.  Every call returns one row, so a LIMIT ends the work early.
 */
extern Datum rows_of_arrays(FunctionCallInfo fcinfo, rows_start_fn start);

#endif							/* MGPU_SQL_ROWS_FN_H */
