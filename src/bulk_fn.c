/*
 * bulk_fn.c
 *		mgpu_bulk_remove, mgpu_bulk_insert: many elements out of or into an
 *		array at once.
 *
 * Large arrays of one width without NULLs are moved by the executor.  Others
 * are moved here, run by run between positions: a run of elements is a run of
 * bytes, whatever the element type.  Positions that come in blocks cut the array
 * into slices, each a job of its own.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "array_gather.h"
#include "array_result.h"
#include "bulk_move.h"
#include "compat.h"
#include "element_cursor.h"
#include "null_map.h"
#include "pgerror.h"
#include "position_args.h"
#include "run.h"
#include "sort_args.h"

PG_FUNCTION_INFO_V1(mgpu_bulk_remove);
PG_FUNCTION_INFO_V1(mgpu_bulk_insert);

/* Under this many bytes the executor's set-up costs more than it saves. */
#define MOVE_MIN_BYTES (256 * 1024)

/* Runs moved between looks at interrupts. */
#define STEP_RUNS (64 * 1024)

/* Where moved runs go: a result's data and bitmap, filled from the front. */
typedef struct run_writer
{
	ArrayType  *array;
	char	   *data;
	int64		position;
} run_writer;

static void
start_writing(run_writer *writer, ArrayType *array)
{
	writer->array = array;
	writer->data = ARR_DATA_PTR(array);
	writer->position = 0;
}

/* Move the cursor to end, copying what it passes. */
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
executor_moves(const array_source *source, const element_type *type)
{
	return source->num_nulls == 0 && element_type_is_movable(type) &&
		(source->data_bytes >= MOVE_MIN_BYTES || run_is_forced(source->num_items));
}

static int64
count_nulls_at(const array_source *source, position_blocks *blocks)
{
	int64		num_nulls = 0;

	if (source->num_nulls == 0)
		return 0;
	while (position_blocks_next(blocks))
		for (int64 i = 0; i < blocks->num_positions; i++)
			num_nulls += !null_bitmap_present(source->null_bitmap, blocks->positions[i]);
	position_blocks_rewind(blocks);
	return num_nulls;
}

static ArrayType *
remove_here(array_source *source, const element_type *type, position_blocks *blocks)
{
	int64		num_nulls = source->num_nulls - count_nulls_at(source, blocks);
	element_cursor cursor;
	run_writer	writer;
	ArrayType  *result;

	array_source_load(source);
	/* an upper bound: what is removed is known only when walked over */
	result = array_result_create(source->element_type, source->lower_bounds[0],
								 source->num_items - blocks->total, num_nulls, false,
								 source->data_bytes);
	element_cursor_start(&cursor, source, type);
	start_writing(&writer, result);
	while (position_blocks_next(blocks))
		for (int64 i = 0; i < blocks->num_positions; i++)
		{
			copy_run(&writer, &cursor, blocks->positions[i]);
			element_cursor_seek(&cursor, (int64) blocks->positions[i] + 1);
			if (i % STEP_RUNS == 0)
				CHECK_FOR_INTERRUPTS();
		}
	copy_run(&writer, &cursor, source->num_items);
	SET_VARSIZE(result, writer.data - (char *) result);
	run_note_cpu("mgpu_bulk_remove", "merge", source->num_items, source->data_bytes,
				 type->stride > 0 ? "few items" : "elements of variable width move on the CPU");
	return result;
}

static ArrayType *
remove_positions(array_source *source, const element_type *type, position_blocks *blocks)
{
	bulk_move	move = {"mgpu_bulk_remove", MGPU_OP_REMOVE, source, NULL, type, NULL};
	int64		num_items = source->num_items - blocks->total;

	if (!executor_moves(source, type))
		return remove_here(source, type, blocks);
	move.result = array_result_create(source->element_type, source->lower_bounds[0], num_items, 0, false,
									  (Size) num_items * type->stride);
	bulk_move_run(&move, blocks);
	return move.result;
}

/* Positions to remove, each once, as a list or as bits. */
static void
read_removed(position_list *list, position_bits *bits)
{
	bits->words = NULL;
	if (list->is_large)
		position_list_to_bits(list, bits, false);
	else
	{
		position_list_read(list);
		if (list->num_positions > 0 && !position_list_is_ascending(list, true))
			position_list_make_unique(list, "mgpu_bulk_remove");
	}
	position_list_close(list);
}

/*
 * mgpu_bulk_remove(arr anyarray, positions int[]) → anyarray: arr without the
 * elements at those subscripts, which may come in any order and repeat
 */
Datum
mgpu_bulk_remove(PG_FUNCTION_ARGS)
{
	array_source source;
	position_list list;
	position_bits bits;
	position_blocks blocks;
	ArrayType  *result;
	int64		first;

	array_source_open(&source, PG_GETARG_DATUM(0));
	check_one_dimensional(&source);
	first = source.num_items > 0 ? source.lower_bounds[0] : 1;
	position_list_open(&list, PG_GETARG_DATUM(1), "positions", first, first + source.num_items - 1);
	read_removed(&list, &bits);
	position_blocks_start(&blocks, &list, bits.words ? &bits : NULL);
	if (blocks.total == 0)
	{
		array_source_close(&source);
		PG_RETURN_DATUM(source.datum);
	}
	if (blocks.total == source.num_items)
		result = construct_empty_array(source.element_type);
	else
		result = remove_positions(&source, element_type_lookup(fcinfo, 0, source.element_type), &blocks);
	position_blocks_end(&blocks);
	position_bits_free(&bits);
	array_source_close(&source);
	PG_RETURN_ARRAYTYPE_P(result);
}

static ArrayType *
insert_here(array_source *source, array_source *inserted, const element_type *type,
			position_blocks *blocks, int lower_bound)
{
	element_cursor cursor;
	element_cursor inserted_cursor;
	run_writer	writer;
	ArrayType  *result;

	array_source_load(source);
	array_source_load(inserted);
	result = array_result_create(inserted->element_type, lower_bound,
								 source->num_items + inserted->num_items,
								 source->num_nulls + inserted->num_nulls, false,
								 source->data_bytes + inserted->data_bytes);
	element_cursor_start(&cursor, source, type);
	element_cursor_start(&inserted_cursor, inserted, type);
	start_writing(&writer, result);
	while (position_blocks_next(blocks))
	{
		const uint32 *positions = blocks->positions;
		int64		end;

		for (int64 i = 0; i < blocks->num_positions; i = end)
		{
			for (end = i + 1; end < blocks->num_positions && positions[end] == positions[i];)
				end++;
			copy_run(&writer, &cursor, positions[i]);
			copy_run(&writer, &inserted_cursor, blocks->num_before + end);
			CHECK_FOR_INTERRUPTS();
		}
	}
	copy_run(&writer, &cursor, source->num_items);
	SET_VARSIZE(result, writer.data - (char *) result);
	run_note_cpu("mgpu_bulk_insert", "merge", source->num_items + inserted->num_items,
				 source->data_bytes + inserted->data_bytes,
				 type->stride > 0 ? "few items" : "elements of variable width move on the CPU");
	return result;
}

/* PostgreSQL refuses to read an array whose bounds do not fit int. */
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

static ArrayType *
insert_positions(array_source *source, array_source *inserted, const element_type *type,
				 position_blocks *blocks, int lower_bound)
{
	bulk_move	move = {"mgpu_bulk_insert", MGPU_OP_INSERT, source, inserted, type, NULL};
	int64		num_items = source->num_items + inserted->num_items;

	if (num_items > (int64) MaxArraySize)
		mgpu_raise_too_large(num_items);
	check_last_subscript(lower_bound, num_items);
	if (source->num_items == 0 || inserted->num_nulls > 0 || !executor_moves(source, type))
		return insert_here(source, inserted, type, blocks, lower_bound);
	move.result = array_result_create(source->element_type, lower_bound, num_items, 0, false,
									  (Size) num_items * type->stride);
	bulk_move_run(&move, blocks);
	return move.result;
}

/* Bring inserted values into the order of their positions. */
static void
order_insertions(position_list *list, array_source *inserted, const element_type *type)
{
	Size		data_bytes = inserted->data_bytes;
	ArrayType  *ordered;
	int32	   *order;

	if (list->is_large && position_list_check(list))
		return;
	position_list_read(list);
	if (position_list_is_ascending(list, false))
		return;
	order = palloc_extended(list->num_positions * sizeof(int32), MCXT_ALLOC_HUGE);
	position_list_sort(list, "mgpu_bulk_insert", order);
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
 * mgpu_bulk_insert(arr anyarray, positions int[], vals anyarray) → anyarray: arr
 * with vals[i] before arr[positions[i]]; the last subscript + 1 appends.  Any
 * order of positions; values for equal positions keep theirs
 */
Datum
mgpu_bulk_insert(PG_FUNCTION_ARGS)
{
	array_source source;
	array_source inserted;
	const element_type *type;
	position_list list;
	position_blocks blocks;
	ArrayType  *result;
	int64		first;

	array_source_open(&source, PG_GETARG_DATUM(0));
	array_source_open(&inserted, PG_GETARG_DATUM(2));
	check_one_dimensional(&source);
	check_one_dimensional(&inserted);
	first = source.num_items > 0 ? source.lower_bounds[0] : 1;
	position_list_open(&list, PG_GETARG_DATUM(1), "positions", first, first + source.num_items);
	if (list.num_positions != inserted.num_items)
		mgpu_raise_length_mismatch("positions", list.num_positions, "vals", inserted.num_items);
	if (inserted.num_items == 0)
	{
		array_source_close(&source);
		PG_RETURN_DATUM(source.datum);
	}
	type = element_type_lookup(fcinfo, 0, inserted.element_type);
	order_insertions(&list, &inserted, type);
	position_list_close(&list);
	position_blocks_start(&blocks, &list, NULL);
	result = insert_positions(&source, &inserted, type, &blocks, (int) first);
	position_blocks_end(&blocks);
	array_source_close(&source);
	array_source_close(&inserted);
	PG_RETURN_ARRAYTYPE_P(result);
}
