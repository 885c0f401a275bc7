/*
 * sort_args.c
 *		Arguments and results that the sorting functions have in common.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"

#include "pgerror.h"
#include "sort_args.h"

sort_order
sort_order_args(FunctionCallInfo fcinfo, int first)
{
	sort_order	order;

	order.descending = PG_NARGS() > first && PG_GETARG_BOOL(first);
	order.nulls_first = PG_NARGS() > first + 1 ? PG_GETARG_BOOL(first + 1) : order.descending;
	return order;
}

void
check_one_dimensional(const array_source *source)
{
	if (source->ndim > 1)
		mgpu_raise_not_one_dimensional(source->ndim);
}

Datum
pair_of_arrays(FunctionCallInfo fcinfo, Datum keys, Datum vals)
{
	TupleDesc	tupdesc;
	Datum		values[2] = {keys, vals};
	bool		nulls[2] = {false, false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls));
}
