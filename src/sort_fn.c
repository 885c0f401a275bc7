/*
 * sort_fn.c
 *		mgpu_sort, mgpu_argsort: SQL functions that sort one array.
 *
 * Each has three overloads, all behind one C function: (arr),
 * (arr, descending), (arr, descending, nulls_first).  All are strict.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/cpu_sort.h"
#include "core/float_ties.h"

#include "array_result.h"
#include "datum_sort.h"
#include "pgerror.h"
#include "run.h"
#include "sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_sort);
PG_FUNCTION_INFO_V1(mgpu_argsort);

/* Small enough to be sorted at once, with nothing set up for it. */
#define SORT_NOW_BYTES (64 * 1024)

/* Sort a small array's keys where they will be returned. */
static void
sort_now(const array_source *source, const element_type *type, int64 num_items,
		 bool descending, void *out)
{
	run_note_cpu("mgpu_sort", "quick", num_items, num_items * type->key_width, "few items");
	memcpy(out, array_source_data(source), num_items * type->key_width);
	if (type->key_kind == MGPU_KEY_FLOAT)
	{
		mgpu_float_ties ties;
		mgpu_error	error;

		mgpu_float_ties_init(&ties, type->key_width);
		if (mgpu_float_ties_scan(&ties, out, num_items, &error) != MGPU_OK)
		{
			mgpu_float_ties_release(&ties);
			mgpu_raise(&error);
		}
		mgpu_cpu_sort_keys_now(out, num_items, type->key_kind, type->key_width, descending);
		mgpu_float_ties_restore(&ties, out, num_items, descending);
		mgpu_float_ties_release(&ties);
	}
	else
		mgpu_cpu_sort_keys_now(out, num_items, type->key_kind, type->key_width, descending);
}

static void
sort_run(array_source *source, const element_type *type, int64 num_items,
		 bool descending, void *out)
{
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = "mgpu_sort";
	request.job.op = MGPU_OP_SORT;
	request.job.key_kind = type->key_kind;
	request.job.key_width = type->key_width;
	request.job.outputs = MGPU_OUT_KEYS;
	request.job.descending = descending;
	request.job.num_items = num_items;
	request.sources[MGPU_CHANNEL_KEYS] = source;
	request.binding.in_keys = array_source_bound(source, type->key_width);
	request.binding.out_keys = out;
	run_job(&request);
}

/* Elements whose bytes are keys: sorted by themselves, without an index. */
static ArrayType *
sort_direct(array_source *source, const element_type *type, const sort_order *order)
{
	int64		num_present = source->num_items - source->num_nulls;
	Size		key_bytes = (Size) num_present * type->key_width;
	ArrayType  *result;

	array_source_require(source, key_bytes);
	result = array_result_create(source->element_type, source->lower_bounds[0], source->num_items,
								 source->num_nulls, order->nulls_first, key_bytes);
	if (num_present == 0)
		return result;
	if (key_bytes <= SORT_NOW_BYTES && !array_source_is_streamed(source) && !run_is_forced(num_present))
		sort_now(source, type, num_present, order->descending, ARR_DATA_PTR(result));
	else
		sort_run(source, type, num_present, order->descending, ARR_DATA_PTR(result));
	return result;
}

/* Any other elements: gathered in the order of their positions. */
static ArrayType *
sort_gathered(array_source *source, const element_type *type, const sort_order *order, Oid collation)
{
	int32	   *positions = palloc_extended(source->num_items * sizeof(int32), MCXT_ALLOC_HUGE);
	ArrayType  *result;

	sorted_positions("mgpu_sort", source, type, order, collation, 0, positions);
	array_source_load(source);
	result = array_result_gather(source, type, positions);
	pfree(positions);
	return result;
}

/* Rebuild a multi-dimensional array from slices in the order of ranks. */
static ArrayType *
join_slices(const array_source *source, Oid array_type, const Datum *slices, const uint32 *ranks)
{
	ArrayBuildStateArr *build = initArrayResultArr(array_type, source->element_type,
												   CurrentMemoryContext, false);
	ArrayType  *result;

	for (int i = 0; i < source->dims[0]; i++)
		accumArrayResultArr(build, slices[ranks[i]], false, array_type, CurrentMemoryContext);
	result = DatumGetArrayTypeP(makeArrayResultArr(build, CurrentMemoryContext, false));
	ARR_LBOUND(result)[0] = source->lower_bounds[0];
	return result;
}

/* Multi-dimensional: the slices of the first dimension, ordered as arrays. */
static ArrayType *
sort_slices(array_source *source, const sort_order *order, Oid collation)
{
	Oid			array_type = get_array_type(source->element_type);
	int			num_slices = source->dims[0];
	Datum	   *slices = palloc(num_slices * sizeof(Datum));
	uint32	   *ranks = palloc(num_slices * sizeof(uint32));
	element_type type;
	ArrayIterator iterator;
	bool		isnull;

	element_type_fill(&type, source->element_type);
	element_type_check_sortable(&type);
	element_type_fill(&type, array_type);
	array_source_load(source);
	iterator = array_create_iterator(source->array, source->ndim - 1, NULL);
	for (int i = 0; i < num_slices; i++)
		if (!array_iterate(iterator, &slices[i], &isnull))
			elog(ERROR, "array has fewer slices than its dimensions say");
	array_free_iterator(iterator);
	run_note_cpu("mgpu_sort", "compare", num_slices, source->data_bytes,
				 "slices of a multi-dimensional array are compared, on the CPU");
	datum_sort(slices, num_slices, &type, order->descending, collation, ranks);
	return join_slices(source, array_type, slices, ranks);
}

/*
 * mgpu_sort(arr anyarray [, descending bool [, nulls_first bool]]) → anyarray
 */
Datum
mgpu_sort(PG_FUNCTION_ARGS)
{
	array_source source;
	sort_order	order = sort_order_args(fcinfo, 1);
	const element_type *type;
	ArrayType  *result;

	array_source_open(&source, PG_GETARG_DATUM(0));
	if (source.ndim < 1 || source.dims[0] < 2 || source.num_items < 2)
	{
		array_source_close(&source);
		PG_RETURN_DATUM(source.datum);
	}
	type = element_type_lookup(fcinfo, 0, source.element_type);
	if (source.ndim > 1)
		result = sort_slices(&source, &order, PG_GET_COLLATION());
	else
	{
		element_type_check_sortable(type);
		if (type->key_kind != 0)
			result = sort_direct(&source, type, &order);
		else
			result = sort_gathered(&source, type, &order, PG_GET_COLLATION());
	}
	array_source_close(&source);
	PG_RETURN_ARRAYTYPE_P(result);
}

/*
 * mgpu_argsort(arr anyarray [, descending bool [, nulls_first bool]]) → int[]:
 * the subscripts of arr's elements in sorted order
 */
Datum
mgpu_argsort(PG_FUNCTION_ARGS)
{
	array_source source;
	sort_order	order = sort_order_args(fcinfo, 1);
	const element_type *type;
	ArrayType  *result;
	int32	   *subscripts;

	array_source_open(&source, PG_GETARG_DATUM(0));
	check_one_dimensional(&source);
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
		sorted_positions("mgpu_argsort", &source, type, &order, PG_GET_COLLATION(),
						 source.lower_bounds[0], subscripts);
	}
	array_source_close(&source);
	PG_RETURN_ARRAYTYPE_P(result);
}
