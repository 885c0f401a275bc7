/*
 * pairs_fn.c
 *		mgpu_sort_by, mgpu_sort_pairs, mgpu_sort_rows: SQL functions that sort
 *		one array and carry another along.
 *
 * Overloads as in sort_fn.c.  Where both arrays are of fixed width without
 * NULLs, the executor moves the values itself (on a GPU, at the device's memory
 * speed); else the sorted positions are computed and both arrays are gathered.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

#include "array_result.h"
#include "pgerror.h"
#include "run.h"
#include "sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_sort_by);
PG_FUNCTION_INFO_V1(mgpu_sort_pairs);
PG_FUNCTION_INFO_V1(mgpu_sort_rows);

/* Under this many items positions and gathering are as fast and simpler. */
#define MOVE_MIN_ITEMS 1024

/* A call: its two arrays and what is known about them. */
typedef struct pairs_call
{
	const char *function;
	array_source keys;
	array_source vals;
	const element_type *key_type;
	const element_type *val_type;
	sort_order	order;
	Oid			collation;
} pairs_call;

static void
open_pairs(pairs_call *call, const char *function, Datum keys, const char *keys_name,
		   Datum vals, const char *vals_name)
{
	call->function = function;
	array_source_open(&call->keys, keys);
	array_source_open(&call->vals, vals);
	check_one_dimensional(&call->keys);
	check_one_dimensional(&call->vals);
	if (call->keys.num_items != call->vals.num_items)
		mgpu_raise_length_mismatch(keys_name, call->keys.num_items,
								   vals_name, call->vals.num_items);
}

static void
close_pairs(pairs_call *call)
{
	array_source_close(&call->keys);
	array_source_close(&call->vals);
}

/* Whether the executor can move the values (and keys) itself. */
static bool
executor_moves(const pairs_call *call)
{
	return call->key_type->key_kind != 0 && element_type_is_movable(call->val_type) &&
		call->keys.num_nulls == 0 && call->vals.num_nulls == 0 &&
		(call->keys.num_items >= MOVE_MIN_ITEMS || run_is_forced(call->keys.num_items));
}

static ArrayType *
same_shape(const array_source *source, const element_type *type)
{
	return array_result_create(source->element_type, source->lower_bounds[0],
							   source->num_items, 0, false,
							   (Size) source->num_items * type->stride);
}

static void
move_by_executor(pairs_call *call, ArrayType **keys, ArrayType **vals)
{
	run_request request;

	array_source_require(&call->keys, (Size) call->keys.num_items * call->key_type->stride);
	array_source_require(&call->vals, (Size) call->vals.num_items * call->val_type->stride);
	memset(&request, 0, sizeof(request));
	request.function = call->function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.key_kind = call->key_type->key_kind;
	request.job.key_width = call->key_type->key_width;
	request.job.value_width = call->val_type->stride;
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.descending = call->order.descending;
	request.job.num_items = call->keys.num_items;
	request.sources[MGPU_CHANNEL_KEYS] = &call->keys;
	request.sources[MGPU_CHANNEL_VALUES] = &call->vals;
	request.binding.in_keys = array_source_bound(&call->keys, call->key_type->key_width);
	request.binding.in_values = array_source_bound(&call->vals, call->val_type->stride);
	*vals = same_shape(&call->vals, call->val_type);
	request.binding.out_values = ARR_DATA_PTR(*vals);
	if (keys)
	{
		*keys = same_shape(&call->keys, call->key_type);
		request.binding.out_keys = ARR_DATA_PTR(*keys);
		request.job.outputs |= MGPU_OUT_KEYS;
	}
	run_job(&request);
}

static void
move_by_position(pairs_call *call, ArrayType **keys, ArrayType **vals)
{
	int32	   *positions = palloc_extended(call->keys.num_items * sizeof(int32), MCXT_ALLOC_HUGE);

	sorted_positions(call->function, &call->keys, call->key_type, &call->order,
					 call->collation, 0, positions);
	if (keys)
	{
		array_source_load(&call->keys);
		*keys = array_result_gather(&call->keys, call->key_type, positions);
	}
	array_source_load(&call->vals);
	*vals = array_result_gather(&call->vals, call->val_type, positions);
	pfree(positions);
}

/* Two items at least.  keys may be NULL: vals alone are wanted. */
static void
sort_pairs(pairs_call *call, ArrayType **keys, ArrayType **vals)
{
	element_type_check_sortable(call->key_type);
	if (executor_moves(call))
		move_by_executor(call, keys, vals);
	else
		move_by_position(call, keys, vals);
}

/*
 * mgpu_sort_by(vals anyarray, keys anycompatiblearray [, descending bool
 * [, nulls_first bool]]) → anyarray: vals in the order of keys
 */
Datum
mgpu_sort_by(PG_FUNCTION_ARGS)
{
	pairs_call	call;
	ArrayType  *vals;

	open_pairs(&call, "mgpu_sort_by", PG_GETARG_DATUM(1), "keys", PG_GETARG_DATUM(0), "vals");
	if (call.keys.num_items < 2)
	{
		close_pairs(&call);
		PG_RETURN_DATUM(call.vals.datum);
	}
	call.key_type = element_type_lookup(fcinfo, 0, call.keys.element_type);
	call.val_type = element_type_lookup(fcinfo, 1, call.vals.element_type);
	call.order = sort_order_args(fcinfo, 2);
	call.collation = PG_GET_COLLATION();
	sort_pairs(&call, NULL, &vals);
	close_pairs(&call);
	PG_RETURN_ARRAYTYPE_P(vals);
}

/*
 * mgpu_sort_pairs(keys anyarray, vals anycompatiblearray [, descending bool
 * [, nulls_first bool]]) → (keys, vals), both in the order of keys
 */
Datum
mgpu_sort_pairs(PG_FUNCTION_ARGS)
{
	pairs_call	call;
	ArrayType  *keys;
	ArrayType  *vals;

	open_pairs(&call, "mgpu_sort_pairs", PG_GETARG_DATUM(0), "keys", PG_GETARG_DATUM(1), "vals");
	if (call.keys.num_items < 2)
	{
		close_pairs(&call);
		PG_RETURN_DATUM(pair_of_arrays(fcinfo, call.keys.datum, call.vals.datum));
	}
	call.key_type = element_type_lookup(fcinfo, 0, call.keys.element_type);
	call.val_type = element_type_lookup(fcinfo, 1, call.vals.element_type);
	call.order = sort_order_args(fcinfo, 2);
	call.collation = PG_GET_COLLATION();
	sort_pairs(&call, &keys, &vals);
	close_pairs(&call);
	PG_RETURN_DATUM(pair_of_arrays(fcinfo, PointerGetDatum(keys), PointerGetDatum(vals)));
}

/* What mgpu_sort_rows keeps from row to row. */
typedef struct rows_state
{
	ArrayIterator keys;
	ArrayIterator vals;
} rows_state;

static rows_state *
start_rows(FunctionCallInfo fcinfo)
{
	rows_state *state = palloc(sizeof(rows_state));
	pairs_call	call;
	element_type key_type;
	element_type val_type;
	ArrayType  *keys;
	ArrayType  *vals;

	open_pairs(&call, "mgpu_sort_rows", PG_GETARG_DATUM(0), "keys", PG_GETARG_DATUM(1), "vals");
	if (call.keys.num_items < 2)
	{
		array_source_load(&call.keys);
		array_source_load(&call.vals);
		keys = call.keys.array;
		vals = call.vals.array;
	}
	else
	{
		element_type_fill(&key_type, call.keys.element_type);
		element_type_fill(&val_type, call.vals.element_type);
		call.key_type = &key_type;
		call.val_type = &val_type;
		call.order = sort_order_args(fcinfo, 2);
		call.collation = PG_GET_COLLATION();
		sort_pairs(&call, &keys, &vals);
		close_pairs(&call);
	}
	state->keys = array_create_iterator(keys, 0, NULL);
	state->vals = array_create_iterator(vals, 0, NULL);
	return state;
}

/*
 * mgpu_sort_rows(keys anyarray, vals anycompatiblearray [, descending bool
 * [, nulls_first bool]]) → SETOF (key, val): sorted once, then a row a call, so
 * that a LIMIT above it ends the work
 */
Datum
mgpu_sort_rows(PG_FUNCTION_ARGS)
{
	FuncCallContext *funcctx;
	rows_state *state;
	Datum		values[2];
	bool		nulls[2];

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		TupleDesc	tupdesc;

		funcctx = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		funcctx->tuple_desc = BlessTupleDesc(tupdesc);
		funcctx->user_fctx = start_rows(fcinfo);
		MemoryContextSwitchTo(caller);
	}
	funcctx = SRF_PERCALL_SETUP();
	state = funcctx->user_fctx;
	if (array_iterate(state->keys, &values[0], &nulls[0]) &&
		array_iterate(state->vals, &values[1], &nulls[1]))
		SRF_RETURN_NEXT(funcctx, HeapTupleGetDatum(heap_form_tuple(funcctx->tuple_desc, values, nulls)));
	SRF_RETURN_DONE(funcctx);
}
