/*
 * sort_fn.c
 *		SQL functions that sort one array (mgpu_sort, mgpu_argsort, mgpu_locality_sort,
 *		mgpu_oddeven_sort) or reorder another one with it (mgpu_sort_by, mgpu_sort_pairs,
 *		mgpu_sort_rows, mgpu_locality_sort_pairs).
 *
 * Each takes (…, descending DEFAULT false, nulls_first DEFAULT NULL).  Views and indexes made with
 * version 0.1 call the same C function by two more SQL functions, which lack the last one or two.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "array/array_result.h"
#include "order/array_sort.h"
#include "order/slices.h"
#include "pgerror.h"
#include "run/record.h"
#include "sql/rows_fn.h"
#include "sql/sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_sort);
PG_FUNCTION_INFO_V1(mgpu_argsort);
PG_FUNCTION_INFO_V1(mgpu_locality_sort);
PG_FUNCTION_INFO_V1(mgpu_oddeven_sort);
PG_FUNCTION_INFO_V1(mgpu_sort_by);
PG_FUNCTION_INFO_V1(mgpu_sort_pairs);
PG_FUNCTION_INFO_V1(mgpu_sort_rows);
PG_FUNCTION_INFO_V1(mgpu_locality_sort_pairs);

/* ---- one array */

/* mgpu_sort(arr anyarray [, descending bool [, nulls_first bool]]) → anyarray */
Datum
mgpu_sort(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_sort", 1);
	array_source source;
	ArrayType  *result;

	if (sort_args_null(fcinfo, 1))
		PG_RETURN_NULL();
	array_source_open(&source, PG_GETARG_DATUM(0));
	if (source.ndim < 1 || source.dims[0] < 2)
	{
		array_source_close(&source);
		PG_RETURN_DATUM(source.datum);
	}
	if (source.ndim > 1)
		result = slices_sorted(&spec, &source);
	else
		result = sorted_array(&spec, &source, element_type_lookup(fcinfo, 0, source.element_type));
	array_source_close(&source);
	PG_RETURN_ARRAYTYPE_P(result);
}

/*
 * mgpu_locality_sort(arr anyarray [, descending bool [, nulls_first bool]]) → anyarray: as
 * mgpu_sort, by a mergesort that does not merge what is already in order.
 */
Datum
mgpu_locality_sort(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_locality_sort", 1);

	spec.algorithm = MGPU_ALGORITHM_LOCALITY;
	PG_RETURN_DATUM(sort_one_array(fcinfo, &spec, NULL));
}

/*
 * mgpu_oddeven_sort(arr anyarray [, descending bool [, nulls_first bool]]) → anyarray: by
 * Batcher's odd-even mergesort network.  Not stable.
 */
Datum
mgpu_oddeven_sort(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_oddeven_sort", 1);

	spec.op = MGPU_OP_ODD_EVEN_SORT;
	PG_RETURN_DATUM(sort_one_array(fcinfo, &spec, NULL));
}

/*
 * mgpu_argsort(arr anyarray [, descending bool [, nulls_first bool]]) → int[]: the subscripts of
 * arr's elements in sorted order.
 */
Datum
mgpu_argsort(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_argsort", 1);
	run_record	record = {0};
	array_source source;
	const element_type *type;
	ArrayType  *result;
	int32	   *subscripts;

	if (sort_args_null(fcinfo, 1))
		PG_RETURN_NULL();
	array_source_open_vector(&source, PG_GETARG_DATUM(0));
	if (source.num_items == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT4OID));
	result = array_result_create(INT4OID, source.lower_bounds[0], source.num_items, 0, false,
								 source.num_items * sizeof(int32));
	subscripts = (int32 *) ARR_DATA_PTR(result);
	if (source.num_items == 1)
		subscripts[0] = source.lower_bounds[0];
	else
	{
		type = element_type_lookup(fcinfo, 0, source.element_type);
		element_type_check_sortable(type);
		spec.record = &record;
		sorted_positions(&spec, &source, type, source.lower_bounds[0], subscripts);
		run_report(&record);
	}
	array_source_close(&source);
	PG_RETURN_ARRAYTYPE_P(result);
}

/* ---- two arrays */

/*
 * mgpu_sort_by(vals anyarray, keys anycompatiblearray [, descending bool [, nulls_first bool]])
 * → anyarray: vals in the order of keys.
 */
Datum
mgpu_sort_by(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_sort_by", 2);
	array_pair	pair;
	pair_result result = {0};

	if (sort_args_null(fcinfo, 2))
		PG_RETURN_NULL();
	pair_args_open(&pair, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
	if (pair.keys.num_items < 2)
	{
		pair_args_close(&pair);
		PG_RETURN_DATUM(pair.vals.datum);
	}
	pair_args_types(&pair, fcinfo);
	sorted_arrays(&spec, &pair, false, &result);
	pair_args_close(&pair);
	PG_RETURN_ARRAYTYPE_P(result.vals);
}

/*
 * mgpu_sort_pairs(keys anyarray, vals anycompatiblearray
 * [, descending bool [, nulls_first bool]]) → (keys, vals): both in the order of keys.
 */
Datum
mgpu_sort_pairs(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_sort_pairs", 2);

	PG_RETURN_DATUM(sort_pair(fcinfo, &spec, NULL));
}

/*
 * mgpu_locality_sort_pairs(keys anyarray, vals anycompatiblearray
 * [, descending bool [, nulls_first bool]]) → (keys, vals): as mgpu_sort_pairs, by a mergesort
 * that does not merge what is already in order.
 */
Datum
mgpu_locality_sort_pairs(PG_FUNCTION_ARGS)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_locality_sort_pairs", 2);

	spec.algorithm = MGPU_ALGORITHM_LOCALITY;
	PG_RETURN_DATUM(sort_pair(fcinfo, &spec, NULL));
}

/* Sort the arrays whose elements become rows. */
static void
start_rows(FunctionCallInfo fcinfo, ArrayType **keys, ArrayType **vals)
{
	sort_spec	spec = sort_spec_args(fcinfo, "mgpu_sort_rows", 2);
	array_pair	pair;
	element_type key_type;
	element_type val_type;
	pair_result result = {0};

	pair_args_open(&pair, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	if (pair.keys.num_items < 2)
	{
		array_source_load(&pair.keys);
		array_source_load(&pair.vals);
		*keys = pair.keys.array;
		*vals = pair.vals.array;
		return;
	}
	element_type_fill(&key_type, pair.keys.element_type);
	element_type_fill(&val_type, pair.vals.element_type);
	pair.key_type = &key_type;
	pair.val_type = &val_type;
	sorted_arrays(&spec, &pair, true, &result);
	pair_args_close(&pair);
	*keys = result.keys;
	*vals = result.vals;
}

/*
 * mgpu_sort_rows(keys anyarray, vals anycompatiblearray [, descending bool [, nulls_first bool]])
 * → SETOF (key, val), in the order of keys.
 */
Datum
mgpu_sort_rows(PG_FUNCTION_ARGS)
{
	return rows_of_arrays(fcinfo, start_rows);
}
