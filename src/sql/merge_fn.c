/*
 * merge_fn.c
 *		mgpu_merge, mgpu_merge_pairs: SQL functions that merge sorted arrays.
 *
 * Executors merge keys of the types that they know directly into the result.  Other types are
 * merged by position (merge/merge_input.c), and then the elements of both arrays are gathered.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "array/pair_result.h"
#include "array/array_result.h"
#include "merge/merge_gather.h"
#include "merge/merge_input.h"
#include "pgerror.h"
#include "run/run_job.h"
#include "sql/sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_merge);
PG_FUNCTION_INFO_V1(mgpu_merge_pairs);

static void
open_input(sorted_input *input, sort_spec spec, Datum a, Datum b)
{
	input->function = spec.function;
	input->order = spec.order;
	input->collation = spec.collation;
	input->record = (run_record) {0};
	array_source_open_vector(&input->a, a);
	array_source_open_vector(&input->b, b);
	if (input->a.num_items + input->b.num_items > (int64) MaxArraySize)
		mgpu_raise_too_large(input->a.num_items + input->b.num_items);
}

/* The merge is complete. */
static void
close_input(sorted_input *input)
{
	array_source_close(&input->a);
	array_source_close(&input->b);
	run_report(&input->record);
}

static ArrayType *
create_merged(const array_source *a, const array_source *b, const element_type *type, bool nulls_first)
{
	array_shape shape;

	merge_shape(&shape, a, b, type, nulls_first);
	return array_result_start(palloc(array_shape_bytes(&shape)), &shape);
}

static ArrayType *
merge_direct(sorted_input *input)
{
	ArrayType  *result = create_merged(&input->a, &input->b, input->type, input->order.nulls_first);
	run_request request;

	if (sorted_input_present(&input->a) + sorted_input_present(&input->b) > 0)
	{
		sorted_input_describe(&request, input, MGPU_OP_MERGE);
		request.job.outputs = MGPU_OUT_KEYS;
		request.binding.out_keys = ARR_DATA_PTR(result);
		run_job(&request);
	}
	return result;
}

static ArrayType *
merge_gathered(sorted_input *input)
{
	bool	   *sides = sorted_input_sides(input, NULL);
	ArrayType  *result = create_merged(&input->a, &input->b, input->type, false);

	merge_gather(result, &input->a, &input->b, input->type, sides);
	pfree(sides);
	return result;
}

/*
 * mgpu_merge(a anyarray, b anyarray [, descending bool [, nulls_first bool]]) → anyarray: two
 * sorted arrays merged into one.  Of equal elements, those of a come first.
 */
Datum
mgpu_merge(PG_FUNCTION_ARGS)
{
	Oid			array_type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	sorted_input input;
	ArrayType  *result;

	if (sort_args_null(fcinfo, 2))
		PG_RETURN_NULL();
	open_input(&input, sort_spec_args(fcinfo, "mgpu_merge", 2), PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	if (input.a.num_items + input.b.num_items == 0)
		PG_RETURN_ARRAYTYPE_P(array_result_as(construct_empty_array(input.a.element_type), array_type));
	input.type = element_type_lookup(fcinfo, 0, input.a.element_type);
	element_type_check_sortable(input.type);
	sorted_input_check_nulls(&input);
	result = input.type->key_kind != 0 ? merge_direct(&input) : merge_gathered(&input);
	close_input(&input);
	PG_RETURN_ARRAYTYPE_P(array_result_as(result, array_type));
}

/* The values that belong to the keys of a merge. */
typedef struct value_arrays
{
	array_source a;
	array_source b;
	const element_type *type;
} value_arrays;

static void
open_values(value_arrays *vals, const sorted_input *input, Datum a, Datum b)
{
	array_source_open_vector(&vals->a, a);
	array_source_open_vector(&vals->b, b);
	if (input->a.num_items != vals->a.num_items)
		mgpu_raise_length_mismatch("a_keys", input->a.num_items, "a_vals", vals->a.num_items);
	if (input->b.num_items != vals->b.num_items)
		mgpu_raise_length_mismatch("b_keys", input->b.num_items, "b_vals", vals->b.num_items);
}

static bool
executor_moves(const sorted_input *input, const value_arrays *vals)
{
	return input->type->key_kind != 0 && element_type_is_movable(vals->type) &&
		input->a.num_nulls + input->b.num_nulls + vals->a.num_nulls + vals->b.num_nulls == 0;
}

static void
merge_pairs_direct(sorted_input *input, value_arrays *vals, pair_result *result)
{
	int			width = vals->type->stride;
	run_request request;

	sorted_input_describe(&request, input, MGPU_OP_MERGE_PAIRS);
	request.binding.out_keys = ARR_DATA_PTR(result->keys);
	request.job.value_width = width;
	request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_VALUES;
	request.sources[MGPU_CHANNEL_VALUES] = &vals->a;
	request.sources[MGPU_CHANNEL_B_VALUES] = &vals->b;
	request.binding.in_values = array_source_bound(&vals->a, width);
	request.binding.in_b_values = array_source_bound(&vals->b, width);
	request.binding.out_values = ARR_DATA_PTR(result->vals);
	run_job(&request);
}

static void
merge_pairs_gathered(sorted_input *input, value_arrays *vals, pair_result *result)
{
	bool	   *sides = sorted_input_sides(input, ARR_DATA_PTR(result->keys));

	if (input->type->key_kind == 0)
		merge_gather(result->keys, &input->a, &input->b, input->type, sides);
	merge_gather(result->vals, &vals->a, &vals->b, vals->type, sides);
	pfree(sides);
}

/*
 * mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray,
 * b_vals anycompatiblearray [, descending bool [, nulls_first bool]]) → (keys, vals): keys merged
 * as by mgpu_merge, each with its value.
 */
Datum
mgpu_merge_pairs(PG_FUNCTION_ARGS)
{
	Oid			array_type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	sorted_input input;
	value_arrays vals;
	array_shape shapes[2];
	pair_result result = {.row_of = fcinfo};

	if (sort_args_null(fcinfo, 4))
		PG_RETURN_NULL();
	open_input(&input, sort_spec_args(fcinfo, "mgpu_merge_pairs", 4),
			   PG_GETARG_DATUM(0), PG_GETARG_DATUM(2));
	open_values(&vals, &input, PG_GETARG_DATUM(1), PG_GETARG_DATUM(3));
	if (input.a.num_items + input.b.num_items == 0)
	{
		ArrayType  *keys = array_result_as(construct_empty_array(input.a.element_type), array_type);

		PG_RETURN_DATUM(pair_of_arrays(fcinfo, PointerGetDatum(keys),
									   PointerGetDatum(construct_empty_array(vals.a.element_type))));
	}
	input.type = element_type_lookup(fcinfo, 0, input.a.element_type);
	vals.type = element_type_lookup(fcinfo, 1, vals.a.element_type);
	element_type_check_sortable(input.type);
	sorted_input_check_nulls(&input);
	merge_shape(&shapes[0], &input.a, &input.b, input.type, input.order.nulls_first);
	merge_shape(&shapes[1], &vals.a, &vals.b, vals.type, false);
	pair_result_create(&result, &shapes[0], &shapes[1]);
	if (executor_moves(&input, &vals))
		merge_pairs_direct(&input, &vals, &result);
	else
		merge_pairs_gathered(&input, &vals, &result);
	close_input(&input);
	array_source_close(&vals.a);
	array_source_close(&vals.b);
	result.keys = array_result_as(result.keys, array_type);
	PG_RETURN_DATUM(pair_result_row(&result));
}
