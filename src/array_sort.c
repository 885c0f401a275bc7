/*
 * array_sort.c
 *		Sorts arrays as a spec says: one alone, or one carrying another along.
 *
 * Elements whose bytes are keys are sorted by themselves, in the result; values
 * of a width that executors know are moved by them, on a GPU at the device's
 * memory speed.  Everything else goes by sorted positions and a gather.
 */
#include "postgres.h"

#include "utils/array.h"

#include "core/cpu_sort.h"
#include "core/float_ties.h"

#include "array_gather.h"
#include "array_result.h"
#include "array_sort.h"
#include "compat.h"
#include "null_map.h"
#include "pair_room.h"
#include "pgerror.h"
#include "positions.h"
#include "present_values.h"
#include "run_series.h"
#include "segments.h"
#include "string_sort.h"

/* Small enough to be sorted at once, with nothing set up for it. */
#define SORT_NOW_BYTES (64 * 1024)

/* Pairs of fewer items: positions and a gather are as fast and simpler. */
#define MOVE_MIN_ITEMS 1024

/* Sort a small array's keys where they will be returned. */
static void
sort_now(const sort_spec *spec, const array_source *source, const element_type *type,
		 int64 num_items, void *out)
{
	bool		descending = spec->order.descending;
	mgpu_float_ties ties;
	mgpu_error	error;

	run_note_cpu(spec->function, "quick", num_items, num_items * type->key_width, "few items");
	memcpy(out, array_source_data(source), num_items * type->key_width);
	if (type->key_kind != MGPU_KEY_FLOAT)
	{
		mgpu_cpu_sort_keys_now(out, num_items, type->key_kind, type->key_width, descending);
		return;
	}
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

static bool
sorts_now(const sort_spec *spec, const array_source *source, int64 num_items, Size key_bytes)
{
	return key_bytes <= SORT_NOW_BYTES && spec->op == MGPU_OP_SORT && spec->segments == NULL &&
		spec->algorithm == MGPU_ALGORITHM_AUTO &&
		!array_source_is_streamed(source) && !run_is_forced(num_items);
}

static void
describe_sort(run_request *request, const sort_spec *spec, array_source *source,
			  const element_type *type, const segment_list *segments)
{
	memset(request, 0, sizeof(*request));
	request->function = spec->function;
	request->job.op = spec->op;
	request->job.algorithm = spec->algorithm;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->job.outputs = MGPU_OUT_KEYS;
	request->job.descending = spec->order.descending;
	request->job.num_items = source->num_items - source->num_nulls;
	if (segments)
	{
		request->job.num_segments = segments->num_segments;
		request->binding.in_segment_heads = segments->heads;
	}
	request->binding.in_keys = array_source_bound(source, type->key_width);
	request->sources[MGPU_CHANNEL_KEYS] = source;
}

/* Each segment's NULL elements before or after its others. */
static void
place_nulls(ArrayType *result, const sort_spec *spec, const array_source *source)
{
	bits8	   *bitmap = ARR_NULLBITMAP(result);

	memset(bitmap, 0, (source->num_items + 7) / 8);
	for (int64 i = 0; i < spec->segments->num_segments; i++)
	{
		int64		begin = spec->segments->heads[i];
		int64		end = segment_end(spec->segments, i);
		int64		num_present = null_bitmap_count(source->null_bitmap, begin, end);

		array_bitmap_copy(bitmap, spec->order.nulls_first ? end - num_present : begin,
						  NULL, 0, num_present);
	}
}

/* False: floats with bits of their own need another way. */
static bool
sort_in_place(const sort_spec *spec, array_source *source, const element_type *type, ArrayType *result)
{
	int64		num_present = source->num_items - source->num_nulls;
	Size		key_bytes = (Size) num_present * type->key_width;
	segment_list present_segments;
	const segment_list *segments = spec->segments;
	run_request request;

	if (sorts_now(spec, source, num_present, key_bytes))
	{
		sort_now(spec, source, type, num_present, ARR_DATA_PTR(result));
		return true;
	}
	if (segments && source->num_nulls > 0)
	{
		segments_of_present(&present_segments, segments, source);
		segments = &present_segments;
		place_nulls(result, spec, source);
	}
	describe_sort(&request, spec, source, type, segments);
	request.binding.out_keys = ARR_DATA_PTR(result);
	run_job(&request);
	return !request.float_bits_lost;
}

/* An array of source's elements in another order. */
static void
describe_permuted(array_shape *shape, const sort_spec *spec, const array_source *source, const element_type *type)
{
	shape->element_type = source->element_type;
	shape->lower_bound = source->lower_bounds[0];
	shape->num_items = source->num_items;
	shape->num_nulls = source->num_nulls;
	shape->nulls_first = spec->order.nulls_first;
	/* sizes include padding and do not depend on where an element stands */
	shape->data_bytes = source->data_bytes;
	if (type->stride > 0)
		shape->data_bytes = (Size) (source->num_items - source->num_nulls) * type->stride;
	shape->room_bytes = 0;
	array_source_require(source, shape->data_bytes);
}

/* Room for positions by which it will be gathered. */
static void
add_room(array_shape *shape, const element_type *type)
{
	shape->room_bytes = array_gather_bytes(type, shape->num_items, shape->num_nulls, shape->data_bytes);
}

/* What a result has in front of positions that wait at its end. */
static spare_room
room_in_front(ArrayType *result, const int32 *positions)
{
	return (spare_room) {ARR_DATA_PTR(result), (char *) positions - ARR_DATA_PTR(result)};
}

static ArrayType *
sort_gathered(const sort_spec *spec, array_source *source, const element_type *type)
{
	array_shape shape;
	ArrayType  *result;
	int32	   *positions;
	spare_room	spare;

	describe_permuted(&shape, spec, source, type);
	add_room(&shape, type);
	result = array_result_start(array_result_allocate(&shape), &shape);
	positions = array_gather_room(result, shape.num_items, shape.room_bytes);
	spare = room_in_front(result, positions);
	sorted_positions(spec, source, type, 0, positions, NULL, &spare);
	array_source_load(source);
	array_gather(result, source, type, positions);
	return array_result_trim(result, VARSIZE(result), &shape);
}

/* The same once more, where the job that has been done was not enough: a GPU that failed at it is left alone. */
static sort_spec
spec_again(const sort_spec *spec, run_series *series)
{
	sort_spec	again = *spec;

	run_series_begin(series);
	run_series_note(series);
	again.cpu_reason = run_series_reason(series);
	return again;
}

ArrayType *
sorted_array(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	Size		key_bytes = (Size) num_present * type->key_width;
	ArrayType  *result;
	run_series	series;
	sort_spec	again;

	element_type_check_sortable(type);
	if (type->key_kind == 0)
	{
		result = string_sorted_array(spec, source, type);
		return result ? result : sort_gathered(spec, source, type);
	}
	array_source_require(source, key_bytes);
	result = array_result_create(source->element_type, source->lower_bounds[0], source->num_items,
								 source->num_nulls, spec->order.nulls_first, key_bytes);
	if (num_present == 0 || sort_in_place(spec, source, type, result))
		return result;
	pfree(result);
	again = spec_again(spec, &series);
	return sort_gathered(&again, source, type);
}

/* Whether the executor can move the values (and keys) itself. */
static bool
executor_moves(const array_source *keys, const element_type *key_type,
			   const array_source *vals, const element_type *val_type)
{
	return key_type->key_kind != 0 && element_type_is_movable(val_type) &&
		keys->num_nulls == 0 && vals->num_nulls == 0 &&
		(keys->num_items >= MOVE_MIN_ITEMS || run_is_forced(keys->num_items));
}

/* All but where values come from and go to; out_keys is NULL, or where keys go. */
static void
describe_pairs(run_request *request, const sort_spec *spec, array_source *keys, const element_type *key_type,
			   const element_type *val_type, ArrayType *out_keys)
{
	describe_sort(request, spec, keys, key_type, spec->segments);
	request->job.op = MGPU_OP_SORT_PAIRS;
	request->job.outputs = MGPU_OUT_VALUES;
	request->job.value_width = val_type->stride;
	if (out_keys)
	{
		request->job.outputs |= MGPU_OUT_KEYS;
		request->binding.out_keys = ARR_DATA_PTR(out_keys);
	}
}

/* False, and no results: floats with bits of their own need another way. */
static bool
pairs_by_executor(const sort_spec *spec, array_source *keys, const element_type *key_type,
				  array_source *vals, const element_type *val_type, pair_result *result)
{
	run_request request;

	describe_pairs(&request, spec, keys, key_type, val_type, result->keys);
	request.sources[MGPU_CHANNEL_VALUES] = vals;
	request.binding.in_values = array_source_bound(vals, val_type->stride);
	request.binding.out_values = ARR_DATA_PTR(result->vals);
	run_job(&request);
	return !request.float_bits_lost;
}

/*
 * The same of those whose keys are there, while the others' values are put at their
 * end of the result.  Wide values that lie in memory have room for positions, and
 * would be there twice.
 */
static bool
executor_moves_present(const sort_spec *spec, const array_source *keys, const element_type *key_type,
					   const array_source *vals, const element_type *val_type)
{
	return spec->segments == NULL && key_type->key_kind != 0 && element_type_is_movable(val_type) &&
		keys->num_nulls > 0 && vals->num_nulls == 0 && !pair_copy_takes_too_much(vals) &&
		(val_type->stride < (int) sizeof(int32) || array_source_is_streamed(vals)) &&
		(keys->num_items >= MOVE_MIN_ITEMS || run_is_forced(keys->num_items));
}

static void
present_pairs_by_executor(const sort_spec *spec, array_source *keys, const element_type *key_type,
						  array_source *vals, const element_type *val_type, pair_result *result)
{
	Size		null_bytes = (Size) keys->num_nulls * val_type->stride;
	Size		present_bytes = (Size) vals->num_items * val_type->stride - null_bytes;
	char	   *data = ARR_DATA_PTR(result->vals);
	bool		nulls_first = spec->order.nulls_first;
	present_values reader;
	run_request request;

	present_values_open(&reader, vals, keys->null_bitmap, val_type->stride, nulls_first ? data : data + present_bytes);
	if (present_bytes > 0)
	{
		describe_pairs(&request, spec, keys, key_type, val_type, result->keys);
		request.readers[MGPU_CHANNEL_VALUES].read = present_values_read;
		request.readers[MGPU_CHANNEL_VALUES].context = &reader;
		request.binding.out_values = nulls_first ? data + null_bytes : data;
		run_job(&request);
	}
	present_values_close(&reader);
}

/* By a copy of positions that values are gathered by as well: in the result, if it has room. */
static void
gather_keys(ArrayType *result, array_source *keys, const element_type *type, const array_shape *shape,
			const int32 *positions)
{
	Size		room_bytes = array_gather_bytes(type, shape->num_items, shape->num_nulls, shape->data_bytes);
	int32	   *own = NULL;
	int32	   *copy;

	if (room_bytes <= shape->data_bytes)
		copy = array_gather_room(result, shape->num_items, room_bytes);
	else
		copy = own = array_result_scratch(shape->num_items * sizeof(int32));
	memcpy(copy, positions, shape->num_items * sizeof(int32));
	array_source_load(keys);
	array_gather(result, keys, type, copy);
	if (own)
		pfree(own);
}

static void
pairs_by_positions(const sort_spec *spec, array_source *keys, const element_type *key_type,
				   array_source *vals, const element_type *val_type,
				   const array_shape *key_shape, const array_shape *val_shape, pair_result *result)
{
	int32	   *positions = array_gather_room(result->vals, val_shape->num_items, val_shape->room_bytes);
	void	   *key_data = result->keys ? ARR_DATA_PTR(result->keys) : NULL;
	spare_room	spare = room_in_front(result->vals, positions);
	bool		has_keys;

	if (key_data && key_shape->data_bytes > spare.bytes)
		spare = (spare_room) {key_data, key_shape->data_bytes};
	has_keys = sorted_positions(spec, keys, key_type, 0, positions, key_data, &spare);

	if (result->keys && !has_keys)
		gather_keys(result->keys, keys, key_type, key_shape, positions);
	else if (result->keys && spec->segments && keys->num_nulls > 0)
		place_nulls(result->keys, spec, keys);
	/* the call's memory has room for values only if keys take none any more */
	array_source_unload(keys);
	array_source_load(vals);
	array_gather(result->vals, vals, val_type, positions);
	/* taking a field of a row copies the row */
	array_source_unload(vals);
	pair_result_trim(result, val_shape);
}

void
sorted_arrays(const sort_spec *spec, array_source *keys, const element_type *key_type,
			  array_source *vals, const element_type *val_type,
			  bool want_keys, pair_result *result)
{
	array_shape key_shape;
	array_shape val_shape;
	run_series	series;
	sort_spec	again;

	element_type_check_sortable(key_type);
	describe_permuted(&key_shape, spec, keys, key_type);
	describe_permuted(&val_shape, spec, vals, val_type);
	if (executor_moves(keys, key_type, vals, val_type))
	{
		pair_result_create(result, want_keys ? &key_shape : NULL, &val_shape);
		if (pairs_by_executor(spec, keys, key_type, vals, val_type, result))
			return;
		pair_result_discard(result);
		again = spec_again(spec, &series);
		spec = &again;
	}
	if (executor_moves_present(spec, keys, key_type, vals, val_type))
	{
		pair_result_create(result, want_keys ? &key_shape : NULL, &val_shape);
		present_pairs_by_executor(spec, keys, key_type, vals, val_type, result);
		return;
	}
	add_room(&val_shape, val_type);
	if (pair_positions_take_too_much(keys, vals, &val_shape))
	{
		run_last.gpu_gave_up = false;
		if (sorted_arrays_without_room(spec, keys, key_type, vals, val_type, want_keys ? &key_shape : NULL, &val_shape, result))
			return;
		if (run_last.gpu_gave_up)
		{
			again = spec_again(spec, &series);
			spec = &again;
		}
	}
	pair_result_create(result, want_keys ? &key_shape : NULL, &val_shape);
	pairs_by_positions(spec, keys, key_type, vals, val_type, &key_shape, &val_shape, result);
}
