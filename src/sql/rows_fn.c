/*
 * rows_fn.c
 *		Set-returning functions whose rows hold the elements of two arrays, side by side.
 *
 * Each call returns one row.  Filling a tuplestore with all rows was rejected: a target list does
 * not need one, and in FROM PostgreSQL's executor fills one itself.
 */
#include "postgres.h"

#include "funcapi.h"

#include "compat.h"
#include "array/pair_result.h"
#include "sql/sort_args.h"
#include "sql/rows_fn.h"

typedef struct rows_state
{
	ArrayIterator first;
	ArrayIterator second;
} rows_state;

static void
start(FunctionCallInfo fcinfo, FuncCallContext *funcctx, rows_start_fn start_arrays)
{
	MemoryContext caller = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
	rows_state *state = palloc(sizeof(rows_state));
	ArrayType  *first;
	ArrayType  *second;

	funcctx->tuple_desc = result_row_type(fcinfo);
	start_arrays(fcinfo, &first, &second);
	state->first = array_create_iterator(first, 0, NULL);
	state->second = array_create_iterator(second, 0, NULL);
	funcctx->user_fctx = state;
	MemoryContextSwitchTo(caller);
}

Datum
rows_of_arrays(FunctionCallInfo fcinfo, rows_start_fn start_arrays)
{
	FuncCallContext *funcctx;
	rows_state *state;
	Datum		values[2];
	bool		nulls[2];

	if (SRF_IS_FIRSTCALL())
	{
		funcctx = SRF_FIRSTCALL_INIT();
		if (sort_args_null(fcinfo, 2))
			SRF_RETURN_DONE(funcctx);
		start(fcinfo, funcctx, start_arrays);
	}
	funcctx = SRF_PERCALL_SETUP();
	state = funcctx->user_fctx;
	if (array_iterate(state->first, &values[0], &nulls[0]) &&
		array_iterate(state->second, &values[1], &nulls[1]))
		SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, nulls)));
	SRF_RETURN_DONE(funcctx);
}
