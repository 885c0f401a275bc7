/*
 * input.c
 *		The two sorted key arrays of a merge.
 *
 * Keys that executors know are merged by them, with ranks out, and so are codes of
 * others (merge_keys.c).  All other types, ICU's text among them, are merged here,
 * through their comparison.  All merges check their inputs as they go.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "array/null_map.h"
#include "array/result.h"
#include "merge/input.h"
#include "merge/keys.h"
#include "pgerror.h"
#include "run/run.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

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

void
sorted_input_describe(run_request *request, sorted_input *input, mgpu_op op)
{
	const element_type *type = input->type;

	memset(request, 0, sizeof(*request));
	request->function = input->function;
	request->job.op = op;
	request->job.descending = input->order.descending;
	request->job.num_items = sorted_input_present(&input->a);
	request->job.num_b_items = sorted_input_present(&input->b);
	request->first_subscripts[0] = sorted_input_first_subscript(&input->a, &input->order);
	request->first_subscripts[1] = sorted_input_first_subscript(&input->b, &input->order);
	if (type->key_kind == 0)
		return;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->sources[MGPU_CHANNEL_KEYS] = &input->a;
	request->sources[MGPU_CHANNEL_B_KEYS] = &input->b;
	request->binding.in_keys = array_source_bound(&input->a, type->key_width);
	request->binding.in_b_keys = array_source_bound(&input->b, type->key_width);
}

/* Both arrays side by side, once each is known to be sorted. */
static void
merge_by_comparison(sorted_input *input, bool *sides)
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
	for (int64 i = 0; left[0] + left[1] > 0; i++)
	{
		bool		side = left[0] == 0 ||
			(left[1] > 0 && ApplySortComparator(values[0], false, values[1], false, &support) > 0);

		sides[i] = side;
		if (--left[side] > 0)
			values[side] = next_value(&walks[side]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	run_note_cpu(input->function, "compare", input->a.num_items + input->b.num_items,
				 input->a.data_bytes + input->b.data_bytes,
				 "the type is merged by its comparison function, on the CPU");
}

/* By keys that are elements' bytes, which go to sorted_keys if that is not NULL. */
static void
merge_by_keys(sorted_input *input, void *sorted_keys, bool *sides)
{
	run_request request;
	int64		num_items;
	uint32	   *ranks;

	sorted_input_describe(&request, input, MGPU_OP_MERGE_PAIRS);
	num_items = request.job.num_items + request.job.num_b_items;
	ranks = array_result_scratch(num_items * sizeof(uint32));
	request.job.outputs = sorted_keys ? MGPU_OUT_INDICES | MGPU_OUT_KEYS : MGPU_OUT_INDICES;
	request.binding.out_indices = ranks;
	request.binding.out_keys = sorted_keys;
	run_job(&request);
	merge_sides_of_ranks(ranks, num_items, request.job.num_items, sides);
	pfree(ranks);
}

bool *
sorted_input_sides(sorted_input *input, void *sorted_keys, bool *has_keys)
{
	int64		num_nulls = input->a.num_nulls + input->b.num_nulls;
	int64		num_present = input->a.num_items + input->b.num_items - num_nulls;
	bool	   *sides = array_result_scratch(num_present + num_nulls);
	bool	   *present = sides + (input->order.nulls_first ? num_nulls : 0);
	bool	   *nulls = sides + (input->order.nulls_first ? 0 : num_present);
	bool		is_direct = input->type->key_kind != 0;

	*has_keys = is_direct && sorted_keys != NULL;
	if (num_present > 0 && is_direct)
		merge_by_keys(input, sorted_keys, present);
	else if (num_present > 0 && !merge_by_codes(input, present))
		merge_by_comparison(input, present);
	/* a's NULL elements, then b's */
	memset(nulls, false, input->a.num_nulls);
	memset(nulls + input->a.num_nulls, true, input->b.num_nulls);
	return sides;
}
