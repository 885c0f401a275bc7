/*
 * sorted_input.c
 *		The two sorted key arrays of a merge.
 *
 * Keys that executors know are merged by them, as (key, index) pairs, and so
 * are codes of others: made for each element (sorted_keys.c), or those of byte
 * strings (sorted_strings.c).  Enums are merged by runs of labels (sorted_enums.c),
 * all other types, ICU's text among them, here, through their comparison.  All
 * merges check their inputs as they go.  What is kept of the merged order is which
 * array each element comes from, a bit each.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "core/cpu_merge_path.h"
#include "core/cpu_tuning.h"

#include "array_result.h"
#include "null_map.h"
#include "pgerror.h"
#include "run.h"
#include "run_series.h"
#include "sorted_enums.h"
#include "sorted_input.h"
#include "sorted_keys.h"
#include "sorted_strings.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

/* Keys merged at a time where their ranks are wanted. */
#define PIECE_ITEMS UINT64CONST(4194304)

static void
prepare_comparison(SortSupport support, const sorted_input *input)
{
	memset(support, 0, sizeof(*support));
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = input->collation;
	PrepareSortSupportFromOrderingOp(input->order.descending ? input->type->gt_operator : input->type->lt_operator,
									 support);
}

/* A walk over the elements of a loaded array that are there. */
typedef struct value_walk
{
	const array_source *source;
	const element_type *type;
	Size		offset;			/* of the next one, from the first one's start */
} value_walk;

static Datum
next_value(value_walk *walk)
{
	const element_type *type = walk->type;
	char	   *element = array_source_data(walk->source) + walk->offset;
	Size		end;

	array_source_require(walk->source, walk->offset + 1);
	end = att_addlength_pointer(walk->offset, type->typlen, element);
	array_source_require(walk->source, end);
	walk->offset = att_align_nominal(end, type->typalign);
	return fetch_att(element, type->typbyval, type->typlen);
}

/* Raise for the first of an array's first num_values elements that belongs before its predecessor, if any. */
static void
check_sorted(SortSupport support, const array_source *source, const element_type *type, int64 num_values,
			 int which, int64 first_subscript)
{
	value_walk	walk = {source, type, 0};
	Datum		last = (Datum) 0;

	for (int64 i = 0; i < num_values; i++)
	{
		Datum		value = next_value(&walk);

		if (i > 0 && ApplySortComparator(last, false, value, false, support) > 0)
			mgpu_raise_not_sorted(which, first_subscript + i);
		last = value;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

int64
sorted_input_first_subscript(const array_source *source, const sort_order *order)
{
	if (source->num_items == 0)
		return 1;
	return source->lower_bounds[0] + (order->nulls_first ? source->num_nulls : 0);
}

/* Position of the first element on the wrong side of a NULL, or -1. */
static int64
misplaced_null(const array_source *source, const sort_order *order)
{
	if (source->num_nulls == 0)
		return -1;
	for (int64 i = 1; i < source->num_items; i++)
	{
		bool		present = null_bitmap_present(source->null_bitmap, i);

		if (present != null_bitmap_present(source->null_bitmap, i - 1) &&
			present != order->nulls_first)
			return i;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return -1;
}

static void
check_nulls(sorted_input *input, array_source *source, int which)
{
	int64		misplaced = misplaced_null(source, &input->order);
	SortSupportData support;
	int64		num_values;

	if (misplaced < 0)
		return;
	/* the first bad position is wanted: elements before it may be out of order */
	array_source_load(source);
	num_values = null_bitmap_count(source->null_bitmap, 0, misplaced);
	prepare_comparison(&support, input);
	check_sorted(&support, source, input->type, num_values, which,
				 source->lower_bounds[0] + (input->order.nulls_first ? misplaced - num_values : 0));
	mgpu_raise_not_sorted(which, source->lower_bounds[0] + misplaced);
}

void
sorted_input_check_nulls(sorted_input *input)
{
	check_nulls(input, &input->a, 0);
	check_nulls(input, &input->b, 1);
}

static const void *
aligned_keys(array_source *source, int width)
{
	Size		bytes = (Size) sorted_input_present(source) * width;

	array_source_load(source);
	array_source_require(source, bytes);
	if (array_source_bound(source, width))
		return array_source_bound(source, width);
	return memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), array_source_data(source), bytes);
}

static void
describe_merge(run_request *request, const sorted_input *input, uint32 key_kind, uint32 key_width, uint32 *ranks)
{
	memset(request, 0, sizeof(*request));
	request->function = input->function;
	request->job.op = MGPU_OP_MERGE_PAIRS;
	request->job.key_kind = key_kind;
	request->job.key_width = key_width;
	request->job.outputs = MGPU_OUT_INDICES;
	request->job.descending = input->order.descending;
	request->job.num_items = sorted_input_present(&input->a);
	request->job.num_b_items = sorted_input_present(&input->b);
	request->binding.out_indices = ranks;
	request->first_subscripts[0] = sorted_input_first_subscript(&input->a, &input->order);
	request->first_subscripts[1] = sorted_input_first_subscript(&input->b, &input->order);
}

/* Both arrays side by side, once each is known to be sorted. */
static void
merge_by_comparison(sorted_input *input, uint8 *sides, int64 at)
{
	array_source *sources[] = {&input->a, &input->b};
	SortSupportData support;
	value_walk	walks[2];
	Datum		values[2] = {0};
	int64		left[2];

	prepare_comparison(&support, input);
	for (int i = 0; i < 2; i++)
	{
		array_source_load(sources[i]);
		walks[i] = (value_walk) {sources[i], input->type, 0};
		left[i] = sorted_input_present(sources[i]);
		check_sorted(&support, sources[i], input->type, left[i], i,
					 sorted_input_first_subscript(sources[i], &input->order));
		if (left[i] > 0)
			values[i] = next_value(&walks[i]);
	}
	for (; left[0] + left[1] > 0; at++)
	{
		int			side = left[0] == 0 ||
			(left[1] > 0 && ApplySortComparator(values[0], false, values[1], false, &support) > 0);

		sides[at / 8] |= side << (at % 8);
		if (--left[side] > 0)
			values[side] = next_value(&walks[side]);
		if (at % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	run_note_cpu(input->function, "compare", input->a.num_items + input->b.num_items,
				 input->a.data_bytes + input->b.data_bytes,
				 "the type is merged by its comparison function, on the CPU");
}

void
sorted_input_set_sides(uint8 *sides, int64 at, const uint32 *ranks, int64 num_ranks, uint32 num_a)
{
	for (int64 i = 0; i < num_ranks; i++)
	{
		sides[(at + i) / 8] |= (uint8) (ranks[i] >= num_a) << ((at + i) % 8);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* The first key that belongs before its predecessor is raised for, if there is one. */
static void
check_keys(const sorted_input *input, const mgpu_lists *lists, int which)
{
	const array_source *source = which == 0 ? &input->a : &input->b;
	const void *keys = which == 0 ? lists->a : lists->b;
	int64		num_keys = sorted_input_present(source);

	for (int64 begin = 0; begin < num_keys; begin += STEP_ITEMS)
	{
		int64		end = Min(num_keys, begin + STEP_ITEMS);
		int64		found = mgpu_first_unsorted(&lists->codec, lists->vectors, keys, begin, end);

		if (found < end)
			mgpu_raise_not_sorted(which, sorted_input_first_subscript(source, &input->order) + found);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Keys that are elements' bytes are merged piece by piece: ranks of all would take too much memory. */
static void
merge_pieces(sorted_input *input, uint8 *sides, int64 at, char *sorted_keys)
{
	const element_type *type = input->type;
	mgpu_lists	lists = {.vectors = mgpu_cpu_tunables.vectors != 0};
	uint64		num_items;
	uint32	   *ranks;
	run_series	series;
	run_request request;

	lists.a = aligned_keys(&input->a, type->key_width);
	lists.b = aligned_keys(&input->b, type->key_width);
	lists.num_a = sorted_input_present(&input->a);
	lists.num_b = sorted_input_present(&input->b);
	num_items = lists.num_a + lists.num_b;
	mgpu_codec_init(&lists.codec, type->key_kind, type->key_width, input->order.descending);
	ranks = array_result_scratch(Min(num_items, PIECE_ITEMS) * sizeof(uint32));
	/* a piece that is in order says nothing of its neighbours */
	if (num_items > PIECE_ITEMS)
	{
		check_keys(input, &lists, 0);
		check_keys(input, &lists, 1);
	}
	run_series_begin(&series);
	for (uint64 begin = 0; begin < num_items; begin += PIECE_ITEMS)
	{
		uint64		end = Min(num_items, begin + PIECE_ITEMS);
		uint64		a_begin = mgpu_merge_path(&lists, begin);
		uint64		a_end = mgpu_merge_path(&lists, end);

		describe_merge(&request, input, type->key_kind, type->key_width, ranks);
		request.job.num_items = a_end - a_begin;
		request.job.num_b_items = (end - a_end) - (begin - a_begin);
		request.binding.in_keys = (const char *) lists.a + a_begin * type->key_width;
		request.binding.in_b_keys = (const char *) lists.b + (begin - a_begin) * type->key_width;
		request.first_subscripts[0] += a_begin;
		request.first_subscripts[1] += begin - a_begin;
		if (sorted_keys)
		{
			request.job.outputs |= MGPU_OUT_KEYS;
			request.binding.out_keys = sorted_keys + begin * type->key_width;
		}
		run_series_job(&series, &request);
		sorted_input_set_sides(sides, at + begin, ranks, end - begin, request.job.num_items);
	}
	run_series_end(&series);
	pfree(ranks);
}

/* a's NULL elements, then b's. */
static void
set_null_sides(const sorted_input *input, uint8 *sides, int64 at)
{
	for (int64 i = at + input->a.num_nulls; i < at + input->a.num_nulls + input->b.num_nulls; i++)
		sides[i / 8] |= 1 << (i % 8);
}

/* Elements by keys or strings that are made as it goes.  False: some have none. */
static bool
merge_made(sorted_input *input, uint8 *sides, int64 at)
{
	int64		num_bytes = (input->a.num_items + input->b.num_items) / 8 + 1;
	run_series	series;

	run_series_begin(&series);
	if (sorted_keys_merge(input, sides, at, &series))
		return true;
	memset(sides, 0, num_bytes);
	if (sorted_strings_merge(input, sides, at, &series))
		return true;
	memset(sides, 0, num_bytes);
	return false;
}

uint8 *
sorted_input_sides(sorted_input *input, void *sorted_keys, bool *has_keys)
{
	int64		num_nulls = input->a.num_nulls + input->b.num_nulls;
	int64		num_items = input->a.num_items + input->b.num_items;
	int64		first = input->order.nulls_first ? num_nulls : 0;
	const element_type *type = input->type;
	uint8	   *sides = palloc0(num_items / 8 + 1);

	*has_keys = type->key_kind != 0 && sorted_keys != NULL;
	if (type->key_kind != 0 && num_items > num_nulls)
		merge_pieces(input, sides, first, sorted_keys);
	else if (num_items > num_nulls && type->is_enum)
		sorted_enums_merge(input, sides, first);
	else if (num_items > num_nulls && !merge_made(input, sides, first))
		merge_by_comparison(input, sides, first);
	set_null_sides(input, sides, input->order.nulls_first ? 0 : num_items - num_nulls);
	array_source_load(&input->a);
	array_source_load(&input->b);
	return sides;
}
