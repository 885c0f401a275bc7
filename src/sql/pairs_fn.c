/*
 * pairs_fn.c
 *		SQL functions that sort one array and reorder another one with it: mgpu_sort_by,
 *		mgpu_sort_pairs, mgpu_sort_rows, mgpu_locality_sort_pairs.
 *
 * Each takes the order arguments described in sort_fn.c.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "order/array_sort.h"
#include "sql/args.h"
#include "sql/rows_fn.h"

PG_FUNCTION_INFO_V1(mgpu_sort_by);
PG_FUNCTION_INFO_V1(mgpu_sort_pairs);
PG_FUNCTION_INFO_V1(mgpu_sort_rows);
PG_FUNCTION_INFO_V1(mgpu_locality_sort_pairs);

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
