/*
 * array_sort.c
 *		Sorts one array, or one array and a second one along with it.
 *
 * Elements whose bytes are keys are sorted directly in the result.  Values of a width that
 * executors know are moved by an executor together with the keys, on a GPU at the speed of its
 * memory.  Everything else is sorted by position and then gathered.
 */
#include "postgres.h"

#include "utils/array.h"

#include "core/cpu_sort.h"
#include "core/float_ties.h"

#include "compat.h"
#include "array/array_gather.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "array/array_segments.h"
#include "order/array_sort.h"
#include "order/positions.h"
#include "pgerror.h"
#include "run/run_job.h"

/* Arrays up to this size are sorted at once, without setting up a job. */
#define SORT_NOW_BYTES (64 * 1024)

/* For pairs of fewer items, positions and a gather are as fast and simpler. */
#define MOVE_MIN_ITEMS 1024

void
sort_elements_now(const element_type *type, bool descending, void *keys, int64 num_items)
{
	bool		is_float = type->key_kind == MGPU_KEY_FLOAT;
	mgpu_float_ties ties;
	mgpu_error	error;

	if (is_float)
	{
		mgpu_float_ties_init(&ties, type->key_width);
		if (mgpu_float_ties_scan(&ties, keys, num_items, &error) != MGPU_OK)
		{
			mgpu_float_ties_release(&ties);
			mgpu_raise(&error);
		}
	}
	mgpu_cpu_sort_keys_now(keys, num_items, type->key_kind, type->key_width, descending);
	if (is_float)
	{
		mgpu_float_ties_restore(&ties, keys, num_items, descending);
		mgpu_float_ties_release(&ties);
	}
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

/* Set the bitmap: each segment's NULL elements stand before or after its others. */
static void
place_nulls(ArrayType *result, const sort_spec *spec, const array_source *source)
{
	const segment_list *segments = spec->segments;
	bits8	   *bitmap = ARR_NULLBITMAP(result);

	memset(bitmap, 0, (source->num_items + 7) / 8);
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);
		int64		num_present = null_bitmap_count(source->null_bitmap, begin, end);

		array_bitmap_copy(bitmap, spec->order.nulls_first ? end - num_present : begin,
						  NULL, 0, num_present);
	}
}

/* The shape of an array with source's elements in another order. */
static array_shape
permuted_shape(const sort_spec *spec, const array_source *source, const element_type *type)
{
	array_shape shape = {
		.element_type = source->element_type,
		.lower_bound = source->lower_bounds[0],
		.num_items = source->num_items,
		.num_nulls = source->num_nulls,
		.nulls_first = spec->order.nulls_first,
		/* sizes include padding and do not depend on an element's position */
		.data_bytes = source->data_bytes
	};

	if (type->stride > 0)
		shape.data_bytes = (Size) (source->num_items - source->num_nulls) * type->stride;
	array_source_require(source, shape.data_bytes);
	return shape;
}

/*
 * The spec of a second job, after a first one whose result could not be used.  If the first ran
 * on the CPU, for example because a GPU failed, the second does too.
 */
static sort_spec
spec_again(const sort_spec *spec)
{
	sort_spec	again = *spec;

	if (strcmp(run_last.executor, mgpu_cpu_executor.name) == 0)
		again.cpu_reason = pstrdup(run_last.reason);
	return again;
}

/* ---- one array */

static void
sort_in_place(const sort_spec *spec, array_source *source, const element_type *type, ArrayType *result,
			  run_request *request)
{
	const segment_list *segments = spec->segments;
	segment_list present;

	if (segments && source->num_nulls > 0)
	{
		segments_of_present(&present, segments, source);
		segments = &present;
		place_nulls(result, spec, source);
	}
	describe_sort(request, spec, source, type, segments);
	request->binding.out_keys = ARR_DATA_PTR(result);
	run_job(request);
}

/* Spans of string keys that lie in the array itself, else NULL. */
static const mgpu_span *
element_spans(const sort_keys *keys)
{
	return keys->form == KEY_STRINGS && keys->strings.arena == NULL ? keys->strings.spans : NULL;
}

static ArrayType *
sort_gathered(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	array_shape shape = permuted_shape(spec, source, type);
	ArrayType  *result = array_result_start(palloc(array_shape_bytes(&shape)), &shape);
	uint32	   *ranks;
	sort_keys	keys;

	if (num_present > 0)
	{
		ranks = array_result_scratch(num_present * sizeof(uint32));
		(void) present_ranks(spec, source, type, &keys, ranks, NULL);
		array_source_load(source);
		array_gather_present(result, source, type, ranks, element_spans(&keys));
		sort_keys_free(&keys);
		pfree(ranks);
	}
	if (spec->segments && source->num_nulls > 0)
		place_nulls(result, spec, source);
	return result;
}

ArrayType *
sorted_array(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	Size		key_bytes = (Size) num_present * type->key_width;
	ArrayType  *result;
	run_request request;
	sort_spec	again;

	element_type_check_sortable(type);
	if (type->key_kind == 0)
		return sort_gathered(spec, source, type);
	array_source_require(source, key_bytes);
	result = array_result_create(source->element_type, source->lower_bounds[0], source->num_items,
								 source->num_nulls, spec->order.nulls_first, key_bytes);
	if (num_present == 0)
		return result;
	if (sorts_now(spec, source, num_present, key_bytes))
	{
		run_record_cpu(spec->function, "quick", num_present, key_bytes, run_reason("few items"));
		memcpy(ARR_DATA_PTR(result), array_source_data(source), key_bytes);
		sort_elements_now(type, spec->order.descending, ARR_DATA_PTR(result), num_present);
		return result;
	}
	sort_in_place(spec, source, type, result, &request);
	if (!request.float_bits_lost)
		return result;
	pfree(result);
	again = spec_again(spec);
	return sort_gathered(&again, source, type);
}

/* ---- two arrays */

/* Whether the executor can move the values (and keys) itself. */
static bool
executor_moves(const array_pair *pair)
{
	return pair->key_type->key_kind != 0 && element_type_is_movable(pair->val_type) &&
		pair->keys.num_nulls == 0 && pair->vals.num_nulls == 0 &&
		(pair->keys.num_items >= MOVE_MIN_ITEMS || run_is_forced(pair->keys.num_items));
}

/* False: some floats lost their own bits (-0, unusual NaNs), so pairs must be sorted by position. */
static bool
sort_by_executor(const sort_spec *spec, array_pair *pair, pair_result *result)
{
	run_request request;

	describe_sort(&request, spec, &pair->keys, pair->key_type, spec->segments);
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.outputs = MGPU_OUT_VALUES;
	request.job.value_width = pair->val_type->stride;
	if (result->keys)
	{
		request.job.outputs |= MGPU_OUT_KEYS;
		request.binding.out_keys = ARR_DATA_PTR(result->keys);
	}
	request.sources[MGPU_CHANNEL_VALUES] = &pair->vals;
	request.binding.in_values = array_source_bound(&pair->vals, pair->val_type->stride);
	request.binding.out_values = ARR_DATA_PTR(result->vals);
	run_job(&request);
	return !request.float_bits_lost;
}

static void
sort_by_positions(const sort_spec *spec, array_pair *pair, pair_result *result)
{
	array_source *keys = &pair->keys;
	int32	   *positions = array_result_scratch(keys->num_items * sizeof(int32));
	uint32	   *ranks = (uint32 *) positions + keys->num_nulls;
	bool		has_keys;
	sort_keys	open_keys;

	has_keys = present_ranks(spec, keys, pair->key_type, &open_keys, ranks,
							 result->keys ? ARR_DATA_PTR(result->keys) : NULL);
	if (keys->num_items > keys->num_nulls)
	{
		if (result->keys && !has_keys)
		{
			array_source_load(keys);
			array_gather_present(result->keys, keys, pair->key_type, ranks, element_spans(&open_keys));
		}
		sort_keys_free(&open_keys);
	}
	if (result->keys && spec->segments && keys->num_nulls > 0)
		place_nulls(result->keys, spec, keys);
	ranks_to_positions(spec, keys, 0, positions);
	array_source_load(&pair->vals);
	array_gather(result->vals, &pair->vals, pair->val_type, positions);
	pfree(positions);
}

void
sorted_arrays(const sort_spec *spec, array_pair *pair, bool want_keys, pair_result *result)
{
	array_shape key_shape;
	array_shape val_shape;
	sort_spec	again;

	element_type_check_sortable(pair->key_type);
	key_shape = permuted_shape(spec, &pair->keys, pair->key_type);
	val_shape = permuted_shape(spec, &pair->vals, pair->val_type);
	pair_result_create(result, want_keys ? &key_shape : NULL, &val_shape);
	if (executor_moves(pair))
	{
		if (sort_by_executor(spec, pair, result))
			return;
		again = spec_again(spec);
		spec = &again;
	}
	sort_by_positions(spec, pair, result);
}
