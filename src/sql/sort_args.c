/*
 * sort_args.c
 *		Arguments of the SQL functions that sort arrays, and what several of these functions do.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "array/array_result.h"
#include "order/array_sort.h"
#include "pgerror.h"
#include "run/record.h"
#include "sql/sort_args.h"

sort_spec
sort_spec_args(FunctionCallInfo fcinfo, const char *function, int first)
{
	bool		descending = PG_NARGS() > first && PG_GETARG_BOOL(first);
	bool		has_nulls_first = PG_NARGS() > first + 1 && !PG_ARGISNULL(first + 1);

	run_call_start();
	return (sort_spec) {
		.function = function,
		.op = MGPU_OP_SORT,
		.algorithm = MGPU_ALGORITHM_AUTO,
		.order = {
			.descending = descending,
			.nulls_first = has_nulls_first ? PG_GETARG_BOOL(first + 1) : descending
		},
		.collation = PG_GET_COLLATION()
	};
}

bool
sort_args_null(FunctionCallInfo fcinfo, int first)
{
	for (int i = 0; i <= first && i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			return true;
	return false;
}

void
pair_args_open_named(array_pair *pair, Datum keys, const char *keys_name,
					 Datum vals, const char *vals_name)
{
	array_source_open_vector(&pair->keys, keys);
	array_source_open_vector(&pair->vals, vals);
	if (pair->keys.num_items != pair->vals.num_items)
		mgpu_raise_length_mismatch(keys_name, pair->keys.num_items, vals_name, pair->vals.num_items);
}

void
pair_args_open(array_pair *pair, Datum keys, Datum vals)
{
	pair_args_open_named(pair, keys, "keys", vals, "vals");
}

void
pair_args_close(array_pair *pair)
{
	array_source_close(&pair->keys);
	array_source_close(&pair->vals);
}

void
pair_args_types(array_pair *pair, FunctionCallInfo fcinfo)
{
	pair->key_type = element_type_lookup(fcinfo, 0, pair->keys.element_type);
	pair->val_type = element_type_lookup(fcinfo, 1, pair->vals.element_type);
}

Datum
sort_one_array(FunctionCallInfo fcinfo, const sort_spec *spec, read_segments_fn read_segments)
{
	sort_spec	sort = *spec;
	segment_list segments;
	array_source source;
	Datum		result;

	if (sort_args_null(fcinfo, read_segments ? 2 : 1))
		PG_RETURN_NULL();
	array_source_open_vector(&source, PG_GETARG_DATUM(0));
	if (read_segments)
	{
		read_segments(&segments, PG_GETARG_DATUM(1), &source);
		sort.segments = &segments;
	}
	if (source.num_items < 2)
		result = source.datum;
	else
		result = PointerGetDatum(sorted_array(&sort, &source, element_type_lookup(fcinfo, 0, source.element_type)));
	array_source_close(&source);
	return result;
}

Datum
sort_pair(FunctionCallInfo fcinfo, const sort_spec *spec, read_segments_fn read_segments)
{
	sort_spec	sort = *spec;
	segment_list segments;
	array_pair	pair;
	pair_result result = {.row_of = fcinfo};

	if (sort_args_null(fcinfo, read_segments ? 3 : 2))
		PG_RETURN_NULL();
	pair_args_open(&pair, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	if (read_segments)
	{
		read_segments(&segments, PG_GETARG_DATUM(2), &pair.keys);
		sort.segments = &segments;
	}
	if (pair.keys.num_items < 2)
	{
		pair_args_close(&pair);
		return pair_of_arrays(fcinfo, pair.keys.datum, pair.vals.datum);
	}
	pair_args_types(&pair, fcinfo);
	sorted_arrays(&sort, &pair, true, &result);
	pair_args_close(&pair);
	return pair_result_row(&result);
}
