/*
 * rows.h
 *		Set-returning functions whose rows are two arrays' elements side by side.
 */
#ifndef MGPU_SQL_ROWS_H
#define MGPU_SQL_ROWS_H

#include "fmgr.h"
#include "utils/array.h"

/* Makes the two arrays, of one length, once; in the set's memory context. */
typedef void (*rows_start_fn) (FunctionCallInfo fcinfo, ArrayType **first, ArrayType **second);

/*
 * Body of a value-per-call set-returning function: starts on the first call and
 * returns a row a call, so that a LIMIT above it ends the work.
 */
extern Datum rows_of_arrays(FunctionCallInfo fcinfo, rows_start_fn start);

#endif							/* MGPU_SQL_ROWS_H */
