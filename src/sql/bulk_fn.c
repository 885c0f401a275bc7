/*
 * bulk_fn.c
 *		mgpu_bulk_remove, mgpu_bulk_insert: remove or insert many elements of an array at once.
 *
 * The executor moves large arrays of fixed-width elements without NULLs.  Other arrays are copied
 * here, in runs of the elements between two positions.  A run of elements is a run of bytes for
 * every element type.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "array/element_cursor.h"
#include "array/array_gather.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "order/position_list.h"
#include "pgerror.h"
#include "run/run_job.h"
#include "sql/sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_bulk_remove);
PG_FUNCTION_INFO_V1(mgpu_bulk_insert);

/* For fewer bytes, the executor's set-up costs more than it saves. */
#define MOVE_MIN_BYTES (256 * 1024)

/* Runs moved between checks for interrupts. */
#define STEP_RUNS (64 * 1024)

/* The change that one call makes to an array. */
typedef struct bulk_change
{
	const char *function;
	array_source *source;
	array_source *inserted;		/* NULL: elements are removed */
	const element_type *type;
	position_list list;			/* ascending */
	run_record	record;			/* of the sort of positions, then of the move */
	int			lower_bound;	/* of the result */
	int64		num_items;		/* of the result */
} bulk_change;

/* A result that is filled from the front: data and bitmap. */
typedef struct run_writer
{
	ArrayType  *array;
	char	   *data;
	int64		position;
} run_writer;

/* Copy the elements from the cursor to end, and move the cursor there. */
static void
copy_run(run_writer *writer, element_cursor *cursor, int64 end)
{
	Size		begin_offset = cursor->offset;
	int64		begin = cursor->position;

	if (begin == end)
		return;
	element_cursor_seek(cursor, end);
	memcpy(writer->data, array_source_data(cursor->source) + begin_offset, cursor->offset - begin_offset);
	writer->data += cursor->offset - begin_offset;
	if (ARR_HASNULL(writer->array))
		array_bitmap_copy(ARR_NULLBITMAP(writer->array), writer->position,
						  cursor->source->null_bitmap, begin, end - begin);
	writer->position += end - begin;
}

static bool
executor_moves(const bulk_change *change)
{
	const array_source *source = change->source;

	return source->num_nulls == 0 && (change->inserted == NULL || change->inserted->num_nulls == 0) &&
		source->num_items > 0 && element_type_is_movable(change->type) &&
		(source->data_bytes >= MOVE_MIN_BYTES || run_is_forced(source->num_items, false));
}

static ArrayType *
move_by_executor(bulk_change *change)
{
	int			width = change->type->stride;
	ArrayType  *result = array_result_create(change->source->element_type, change->lower_bound, change->num_items,
											 0, false, (Size) change->num_items * width);
	run_request request;

	array_source_require(change->source, (Size) change->source->num_items * width);
	memset(&request, 0, sizeof(request));
	request.function = change->function;
	request.record = &change->record;
	request.job.op = change->inserted ? MGPU_OP_INSERT : MGPU_OP_REMOVE;
	request.job.value_width = width;
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.num_items = change->source->num_items;
	request.job.num_b_items = change->list.num_positions;
	request.sources[MGPU_CHANNEL_VALUES] = change->source;
	request.binding.in_values = array_source_bound(change->source, width);
	if (change->inserted)
	{
		array_source_require(change->inserted, (Size) change->inserted->num_items * width);
		request.sources[MGPU_CHANNEL_B_VALUES] = change->inserted;
		request.binding.in_b_values = array_source_bound(change->inserted, width);
	}
	request.binding.in_positions = change->list.positions;
	request.binding.out_values = ARR_DATA_PTR(result);
	if (change->record.gpu_gave_up)
		request.cpu_reason = change->record.reason;
	run_job(&request);
	return result;
}

/* Copy all elements except those at the listed positions. */
static void
copy_others(run_writer *writer, element_cursor *cursor, const position_list *list)
{
	for (int64 i = 0; i < list->num_positions; i++)
	{
		copy_run(writer, cursor, list->positions[i]);
		element_cursor_seek(cursor, (int64) list->positions[i] + 1);
		if (i % STEP_RUNS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Copy the elements of both arrays, each inserted one before the element at its position. */
static void
copy_both(run_writer *writer, element_cursor *cursor, element_cursor *inserted, const position_list *list)
{
	int64		end;

	for (int64 i = 0; i < list->num_positions; i = end)
	{
		for (end = i + 1; end < list->num_positions && list->positions[end] == list->positions[i];)
			end++;
		copy_run(writer, cursor, list->positions[i]);
		copy_run(writer, inserted, end);
		CHECK_FOR_INTERRUPTS();
	}
}

static int64
count_nulls_left(const bulk_change *change)
{
	const array_source *source = change->source;
	int64		num_nulls = source->num_nulls;

	if (change->inserted)
		return num_nulls + change->inserted->num_nulls;
	for (int64 i = 0; num_nulls > 0 && i < change->list.num_positions; i++)
		num_nulls -= !null_bitmap_present(source->null_bitmap, change->list.positions[i]);
	return num_nulls;
}

static ArrayType *
move_here(bulk_change *change)
{
	array_source *source = change->source;
	array_source *inserted = change->inserted;
	int64		num_moved = source->num_items + (inserted ? inserted->num_items : 0);
	Size		data_bytes = source->data_bytes + (inserted ? inserted->data_bytes : 0);
	element_cursor cursor;
	element_cursor inserted_cursor;
	run_writer	writer;

	array_source_load(source);
	/* data_bytes is an upper bound: the size of removed elements is known only after the walk */
	writer.array = array_result_create(source->element_type, change->lower_bound, change->num_items,
									   count_nulls_left(change), false, data_bytes);
	writer.data = ARR_DATA_PTR(writer.array);
	writer.position = 0;
	element_cursor_start(&cursor, source, change->type);
	if (inserted)
	{
		array_source_load(inserted);
		element_cursor_start(&inserted_cursor, inserted, change->type);
		copy_both(&writer, &cursor, &inserted_cursor, &change->list);
	}
	else
		copy_others(&writer, &cursor, &change->list);
	copy_run(&writer, &cursor, source->num_items);
	SET_VARSIZE(writer.array, writer.data - (char *) writer.array);
	run_record_cpu(&change->record, change->function, "merge", num_moved, data_bytes,
				   change->type->stride > 0 ? run_reason("few items") : "elements of variable width move on the CPU");
	return writer.array;
}

static ArrayType *
changed_array(bulk_change *change)
{
	ArrayType  *result = executor_moves(change) ? move_by_executor(change) : move_here(change);

	array_source_close(change->source);
	if (change->inserted)
		array_source_close(change->inserted);
	run_report(&change->record);
	return result;
}

/*
 * mgpu_bulk_remove(arr anyarray, positions int[]) → anyarray: arr without the elements at these
 * subscripts.  Positions may come in any order and repeat.
 */
Datum
mgpu_bulk_remove(PG_FUNCTION_ARGS)
{
	array_source source;
	bulk_change change = {.function = "mgpu_bulk_remove",.source = &source};
	position_list *list = &change.list;
	int64		first;

	run_call_start();
	array_source_open_vector(&source, PG_GETARG_DATUM(0));
	first = source.num_items > 0 ? source.lower_bounds[0] : 1;
	position_list_open(list, PG_GETARG_DATUM(1), "positions", first, first + source.num_items - 1);
	position_list_read(list);
	if (!position_list_is_ascending(list, true))
		position_list_make_unique(list, change.function, &change.record);
	if (list->num_positions == 0 || list->num_positions == source.num_items)
	{
		array_source_close(&source);
		run_report(&change.record);
		if (list->num_positions == 0)
			PG_RETURN_DATUM(source.datum);
		PG_RETURN_ARRAYTYPE_P(array_result_as(construct_empty_array(source.element_type),
											  get_fn_expr_argtype(fcinfo->flinfo, 0)));
	}
	change.type = element_type_lookup(fcinfo, 0, source.element_type);
	change.lower_bound = (int) first;
	change.num_items = source.num_items - list->num_positions;
	PG_RETURN_ARRAYTYPE_P(changed_array(&change));
}

/* PostgreSQL refuses to read an array whose bounds do not fit an int. */
static void
check_last_subscript(int lower_bound, int64 num_items)
{
	if (lower_bound + num_items > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array lower bound is too large: %d", lower_bound),
				 errdetail("The result would have %lld elements.", (long long) num_items),
				 errhint("Give the array a smaller lower bound.")));
}

/* Sort the inserted values by their positions. */
static void
order_insertions(bulk_change *change)
{
	position_list *list = &change->list;
	array_source *inserted = change->inserted;
	const element_type *type = change->type;
	Size		data_bytes = inserted->data_bytes;
	ArrayType  *ordered;
	int32	   *order;

	if (position_list_is_ascending(list, false))
		return;
	order = palloc_extended(list->num_positions * sizeof(int32), MCXT_ALLOC_HUGE);
	position_list_sort(list, change->function, order, &change->record);
	array_source_load(inserted);
	if (type->stride > 0)
		data_bytes = (Size) (inserted->num_items - inserted->num_nulls) * type->stride;
	array_source_require(inserted, data_bytes);
	ordered = array_result_create(inserted->element_type, inserted->lower_bounds[0], inserted->num_items,
								  inserted->num_nulls, false, data_bytes);
	array_gather(ordered, inserted, type, order);
	pfree(order);
	array_source_open(inserted, PointerGetDatum(ordered));
}

/*
 * mgpu_bulk_insert(arr anyarray, positions int[], vals anyarray) → anyarray: arr with vals[i]
 * inserted before arr[positions[i]].  The last subscript + 1 appends.  Positions may come in any
 * order.  Values for equal positions keep their order.
 */
Datum
mgpu_bulk_insert(PG_FUNCTION_ARGS)
{
	array_source source;
	array_source inserted;
	bulk_change change = {.function = "mgpu_bulk_insert",.source = &source,.inserted = &inserted};
	position_list *list = &change.list;
	int64		first;

	run_call_start();
	array_source_open_vector(&source, PG_GETARG_DATUM(0));
	array_source_open_vector(&inserted, PG_GETARG_DATUM(2));
	first = source.num_items > 0 ? source.lower_bounds[0] : 1;
	position_list_open(list, PG_GETARG_DATUM(1), "positions", first, first + source.num_items);
	if (list->num_positions != inserted.num_items)
		mgpu_raise_length_mismatch("positions", list->num_positions, "vals", inserted.num_items);
	if (inserted.num_items == 0)
	{
		array_source_close(&source);
		PG_RETURN_DATUM(source.datum);
	}
	change.type = element_type_lookup(fcinfo, 0, inserted.element_type);
	change.lower_bound = (int) first;
	change.num_items = source.num_items + inserted.num_items;
	position_list_read(list);
	order_insertions(&change);
	if (change.num_items > (int64) MaxArraySize)
		mgpu_raise_too_large(change.num_items);
	check_last_subscript(change.lower_bound, change.num_items);
	PG_RETURN_ARRAYTYPE_P(array_result_as(changed_array(&change), get_fn_expr_argtype(fcinfo->flinfo, 0)));
}
