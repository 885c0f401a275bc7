/*
 * array_sort.c
 *		Sorts one array, or one array and a second one along with it, or finds the order alone.
 *
 * Elements whose bytes are keys are sorted directly in the result.  Values of a width that
 * executors know are moved by an executor together with the keys, on a GPU at the speed of its
 * memory.  Everything else is sorted by position and then gathered.
 *
 * Present elements are ordered by rank, their number among the present elements.  Then ranks become
 * positions, which also count NULL elements, and NULL elements go before or after the others of
 * their segment.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "compat.h"
#include "array/array_gather.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "array/array_segments.h"
#include "order/array_sort.h"
#include "order/order.h"
#include "run/run_job.h"

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

/* For pairs of fewer items, positions and a gather are as fast and simpler. */
#define MOVE_MIN_ITEMS 1024

static void
describe_sort(run_request *request, const sort_spec *spec, array_source *source,
			  const element_type *type, const segment_list *segments)
{
	run_request_start(request, spec->function, spec->record);
	request->job.op = spec->op;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->job.outputs = MGPU_OUT_KEYS;
	request->job.descending = spec->order.descending;
	request->job.algorithm = spec->algorithm;
	request->job.num_items = source->num_items - source->num_nulls;
	request->binding.in_keys = array_source_bound(source, type->key_width);
	request->sources[MGPU_CHANNEL_KEYS] = source;
	if (segments)
	{
		request->job.num_segments = segments->num_segments;
		request->binding.in_segment_heads = segments->heads;
	}
}

/* Set the bitmap: each segment's NULL elements stand before or after its others. */
static void
place_nulls(ArrayType *result, const sort_spec *spec, const array_source *source)
{
	const segment_list *segments = spec->segments;
	uint8	   *bitmap = ARR_NULLBITMAP(result);

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

	if (!spec->record->on_gpu)
		again.cpu_reason = spec->record->reason;
	return again;
}

/* ---- positions */

/*
 * ranks[i] = rank of the i-th present element in order, segment by segment.  The source may be loaded
 * on return.  keys is open on return if an element is present.  sorted_words and the return value
 * are those of order_ranks.
 */
static bool
present_ranks(const sort_spec *spec, array_source *source, const element_type *type,
			  sort_keys *keys, uint32 *ranks, void *sorted_words)
{
	const segment_list *segments = spec->segments;
	segment_list present;

	if (source->num_items == source->num_nulls)
		return false;
	if (segments && source->num_nulls > 0)
	{
		segments_of_present(&present, segments, source);
		segments = &present;
	}
	if (spec->op == MGPU_OP_ODD_EVEN_SORT)
	{
		sort_keys_as_values(keys, source, type, spec->collation);
		order_by_network(spec, keys, ranks);
		return false;
	}
	sort_keys_of_array(keys, source, type, spec->collation);
	return order_ranks(spec, segments, keys, ranks, sorted_words);
}

/* Write the first num_nulls NULL elements from begin on.  Returns the end of the output. */
static int32 *
put_nulls(const array_source *source, int64 begin, int64 num_nulls, int32 base, int32 *next)
{
	for (; num_nulls > 0; begin++)
		if (!null_bitmap_present(source->null_bitmap, begin))
		{
			*next++ = base + (int32) begin;
			num_nulls--;
		}
	return next;
}

/* Turn ranks into positions in place.  The output never overtakes the ranks still to be read. */
static void
positions_with_nulls(const sort_spec *spec, const array_source *source, int32 base, int32 *positions)
{
	segment_list whole = {.heads = (uint32[]) {0},.num_segments = 1,.num_items = source->num_items};
	const segment_list *segments = spec->segments ? spec->segments : &whole;
	const uint32 *ranks = (const uint32 *) positions + source->num_nulls;
	int32	   *next = positions;
	int64		moved = 0;
	null_map	map;

	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);
		int64		num_nulls = end - begin - null_bitmap_count(source->null_bitmap, begin, end);

		if (spec->order.nulls_first)
			next = put_nulls(source, begin, num_nulls, base, next);
		for (int64 j = end - begin - num_nulls; j > 0; j--)
		{
			*next++ = base + (int32) null_map_select(&map, *ranks++);
			if (++moved % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (!spec->order.nulls_first)
			next = put_nulls(source, begin, num_nulls, base, next);
	}
	null_map_free(&map);
}

/*
 * positions[i] = base + 0-based position of the i-th element in order.  On entry, the ranks of
 * the present elements are in positions from num_nulls on.  They are overwritten.
 */
static void
ranks_to_positions(const sort_spec *spec, const array_source *source, int32 base, int32 *positions)
{
	if (source->num_nulls > 0)
		positions_with_nulls(spec, source, base, positions);
	else if (base != 0)
		for (int64 i = 0; i < source->num_items; i++)
			positions[i] += base;
}

void
sorted_positions(const sort_spec *spec, array_source *source, const element_type *type,
				 int32 base, int32 *positions)
{
	sort_keys	keys;

	(void) present_ranks(spec, source, type, &keys, (uint32 *) positions + source->num_nulls, NULL);
	if (source->num_items > source->num_nulls)
		sort_keys_free(&keys);
	ranks_to_positions(spec, source, base, positions);
}

/* ---- one array */

/* Sort elements whose bytes are keys.  False: some floats lost their own bits (-0, unusual NaNs). */
static bool
sort_in_place(const sort_spec *spec, array_source *source, const element_type *type, ArrayType *result)
{
	const segment_list *segments = spec->segments;
	segment_list present;
	run_request request;

	if (segments && source->num_nulls > 0)
	{
		segments_of_present(&present, segments, source);
		segments = &present;
		place_nulls(result, spec, source);
	}
	describe_sort(&request, spec, source, type, segments);
	request.binding.out_keys = ARR_DATA_PTR(result);
	run_job(&request);
	return !request.float_bits_lost;
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

static ArrayType *
sort_direct(const sort_spec *spec, array_source *source, const element_type *type)
{
	int64		num_present = source->num_items - source->num_nulls;
	Size		key_bytes = (Size) num_present * type->key_width;
	ArrayType  *result;
	sort_spec	again;

	array_source_require(source, key_bytes);
	result = array_result_create(source->element_type, source->lower_bounds[0], source->num_items,
								 source->num_nulls, spec->order.nulls_first, key_bytes);
	if (num_present == 0 || sort_in_place(spec, source, type, result))
		return result;
	pfree(result);
	again = spec_again(spec);
	return sort_gathered(&again, source, type);
}

ArrayType *
sorted_array(const sort_spec *spec, array_source *source, const element_type *type)
{
	run_record	record;
	sort_spec	recorded = *spec;
	ArrayType  *result;

	record.function = NULL;		/* nothing runs if all elements are NULL */
	recorded.record = &record;
	element_type_check_sortable(type);
	if (type->key_kind != 0)
		result = sort_direct(&recorded, source, type);
	else
		result = sort_gathered(&recorded, source, type);
	run_report(&record);
	return result;
}

/* ---- two arrays */

/* Whether the executor can move the values (and keys) itself. */
static bool
executor_moves(const array_pair *pair)
{
	return pair->key_type->key_kind != 0 && element_type_is_movable(pair->val_type) &&
		pair->keys.num_nulls == 0 && pair->vals.num_nulls == 0 &&
		(pair->keys.num_items >= MOVE_MIN_ITEMS || run_is_forced(pair->keys.num_items, false));
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
	run_record	record;
	sort_spec	recorded = *spec;
	array_shape key_shape;
	array_shape val_shape;

	recorded.record = &record;
	element_type_check_sortable(pair->key_type);
	key_shape = permuted_shape(spec, &pair->keys, pair->key_type);
	val_shape = permuted_shape(spec, &pair->vals, pair->val_type);
	pair_result_create(result, want_keys ? &key_shape : NULL, &val_shape);
	record.function = NULL;		/* nothing runs if all keys are NULL */
	if (!executor_moves(pair))
		sort_by_positions(&recorded, pair, result);
	else if (!sort_by_executor(&recorded, pair, result))
	{
		recorded = spec_again(&recorded);
		sort_by_positions(&recorded, pair, result);
	}
	run_report(&record);
}
