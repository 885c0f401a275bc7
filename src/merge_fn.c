/*
 * merge_fn.c
 *		mgpu_merge, mgpu_merge_pairs: SQL functions that merge sorted arrays.
 *
 * Keys that executors know are merged where they will be returned; all else by
 * position (sorted_input.c) and a gather of both arrays.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "array_result.h"
#include "compat.h"
#include "element_table.h"
#include "pgerror.h"
#include "run.h"
#include "sort_args.h"
#include "sorted_input.h"

PG_FUNCTION_INFO_V1(mgpu_merge);
PG_FUNCTION_INFO_V1(mgpu_merge_pairs);

static void
open_input(sorted_input *input, sort_spec spec, Datum a, Datum b)
{
	input->function = spec.function;
	input->order = spec.order;
	input->collation = spec.collation;
	array_source_open(&input->a, a);
	array_source_open(&input->b, b);
	check_one_dimensional(&input->a);
	check_one_dimensional(&input->b);
	if (input->a.num_items + input->b.num_items > (int64) MaxArraySize)
		mgpu_raise_too_large(input->a.num_items + input->b.num_items);
}

static void
close_input(sorted_input *input)
{
	array_source_close(&input->a);
	array_source_close(&input->b);
}

/* The part of a request that both kinds of merge share. */
static void
describe_merge(run_request *request, sorted_input *input, mgpu_op op, ArrayType *keys)
{
	const element_type *type = input->type;

	array_source_require(&input->a, (Size) sorted_input_present(&input->a) * type->stride);
	array_source_require(&input->b, (Size) sorted_input_present(&input->b) * type->stride);
	memset(request, 0, sizeof(*request));
	request->function = input->function;
	request->job.op = op;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->job.outputs = MGPU_OUT_KEYS;
	request->job.descending = input->order.descending;
	request->job.num_items = sorted_input_present(&input->a);
	request->job.num_b_items = sorted_input_present(&input->b);
	request->sources[MGPU_CHANNEL_KEYS] = &input->a;
	request->sources[MGPU_CHANNEL_B_KEYS] = &input->b;
	request->binding.in_keys = array_source_bound(&input->a, type->key_width);
	request->binding.in_b_keys = array_source_bound(&input->b, type->key_width);
	request->binding.out_keys = ARR_DATA_PTR(keys);
	request->first_subscripts[0] = sorted_input_first_subscript(&input->a, &input->order);
	request->first_subscripts[1] = sorted_input_first_subscript(&input->b, &input->order);
}

static ArrayType *
create_merged(const array_source *a, const array_source *b, const element_type *type, bool nulls_first)
{
	int64		num_nulls = a->num_nulls + b->num_nulls;
	int64		num_items = a->num_items + b->num_items;

	return array_result_create(a->element_type, 1, num_items, num_nulls, nulls_first,
							   (Size) (num_items - num_nulls) * type->stride);
}

static ArrayType *
merge_direct(sorted_input *input)
{
	ArrayType  *result = create_merged(&input->a, &input->b, input->type, input->order.nulls_first);
	run_request request;

	if (sorted_input_present(&input->a) + sorted_input_present(&input->b) > 0)
	{
		describe_merge(&request, input, MGPU_OP_MERGE, result);
		run_job(&request);
	}
	return result;
}

static ArrayType *
merge_gathered(sorted_input *input)
{
	uint32	   *positions = sorted_input_positions(input);
	ArrayType  *result = element_table_gather(&input->a, &input->b, input->type, positions,
											  input->a.num_items + input->b.num_items);

	pfree(positions);
	return result;
}

/*
 * mgpu_merge(a anyarray, b anyarray [, descending bool [, nulls_first bool]])
 * → anyarray: two sorted arrays merged into one; a's elements first on ties
 */
Datum
mgpu_merge(PG_FUNCTION_ARGS)
{
	sorted_input input;
	ArrayType  *result;

	open_input(&input, sort_spec_args(fcinfo, "mgpu_merge", 2), PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	if (input.a.num_items + input.b.num_items == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(input.a.element_type));
	input.type = element_type_lookup(fcinfo, 0, input.a.element_type);
	element_type_check_sortable(input.type);
	sorted_input_check_nulls(&input);
	result = input.type->key_kind != 0 ? merge_direct(&input) : merge_gathered(&input);
	close_input(&input);
	PG_RETURN_ARRAYTYPE_P(result);
}

/* The value arrays that go with a merge's keys. */
typedef struct value_arrays
{
	array_source a;
	array_source b;
	const element_type *type;
} value_arrays;

static bool
executor_moves(const sorted_input *input, const value_arrays *vals)
{
	return input->type->key_kind != 0 && element_type_is_movable(vals->type) &&
		input->a.num_nulls + input->b.num_nulls + vals->a.num_nulls + vals->b.num_nulls == 0;
}

static void
merge_pairs_direct(sorted_input *input, value_arrays *vals, ArrayType **merged_keys, ArrayType **merged_vals)
{
	int			width = vals->type->stride;
	run_request request;

	array_source_require(&vals->a, (Size) vals->a.num_items * width);
	array_source_require(&vals->b, (Size) vals->b.num_items * width);
	*merged_keys = create_merged(&input->a, &input->b, input->type, false);
	*merged_vals = create_merged(&vals->a, &vals->b, vals->type, false);
	describe_merge(&request, input, MGPU_OP_MERGE_PAIRS, *merged_keys);
	request.job.value_width = width;
	request.job.outputs |= MGPU_OUT_VALUES;
	request.sources[MGPU_CHANNEL_VALUES] = &vals->a;
	request.sources[MGPU_CHANNEL_B_VALUES] = &vals->b;
	request.binding.in_values = array_source_bound(&vals->a, width);
	request.binding.in_b_values = array_source_bound(&vals->b, width);
	request.binding.out_values = ARR_DATA_PTR(*merged_vals);
	run_job(&request);
}

static void
merge_pairs_gathered(sorted_input *input, value_arrays *vals, ArrayType **merged_keys, ArrayType **merged_vals)
{
	int64		num_items = input->a.num_items + input->b.num_items;
	uint32	   *positions = sorted_input_positions(input);

	array_source_load(&vals->a);
	array_source_load(&vals->b);
	*merged_keys = element_table_gather(&input->a, &input->b, input->type, positions, num_items);
	*merged_vals = element_table_gather(&vals->a, &vals->b, vals->type, positions, num_items);
	pfree(positions);
}

/*
 * mgpu_merge_pairs(a_keys anyarray, a_vals anycompatiblearray, b_keys anyarray,
 * b_vals anycompatiblearray [, descending bool [, nulls_first bool]])
 * → (keys, vals): keys merged as by mgpu_merge, and their values with them
 */
Datum
mgpu_merge_pairs(PG_FUNCTION_ARGS)
{
	sorted_input input;
	value_arrays vals;
	ArrayType  *merged_keys;
	ArrayType  *merged_vals;

	open_input(&input, sort_spec_args(fcinfo, "mgpu_merge_pairs", 4),
			   PG_GETARG_DATUM(0), PG_GETARG_DATUM(2));
	array_source_open(&vals.a, PG_GETARG_DATUM(1));
	array_source_open(&vals.b, PG_GETARG_DATUM(3));
	check_one_dimensional(&vals.a);
	check_one_dimensional(&vals.b);
	if (input.a.num_items != vals.a.num_items)
		mgpu_raise_length_mismatch("a_keys", input.a.num_items, "a_vals", vals.a.num_items);
	if (input.b.num_items != vals.b.num_items)
		mgpu_raise_length_mismatch("b_keys", input.b.num_items, "b_vals", vals.b.num_items);
	if (input.a.num_items + input.b.num_items == 0)
		PG_RETURN_DATUM(pair_of_arrays(fcinfo, PointerGetDatum(construct_empty_array(input.a.element_type)),
									   PointerGetDatum(construct_empty_array(vals.a.element_type))));
	input.type = element_type_lookup(fcinfo, 0, input.a.element_type);
	vals.type = element_type_lookup(fcinfo, 1, vals.a.element_type);
	element_type_check_sortable(input.type);
	sorted_input_check_nulls(&input);
	if (executor_moves(&input, &vals))
		merge_pairs_direct(&input, &vals, &merged_keys, &merged_vals);
	else
		merge_pairs_gathered(&input, &vals, &merged_keys, &merged_vals);
	close_input(&input);
	array_source_close(&vals.a);
	array_source_close(&vals.b);
	PG_RETURN_DATUM(pair_of_arrays(fcinfo, PointerGetDatum(merged_keys), PointerGetDatum(merged_vals)));
}
