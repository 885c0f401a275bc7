/*
 * merge_input.c
 *		The two sorted key arrays of a merge, and their merged order.
 *
 * A job merges keys that are words.  For strings, a job merges codes, and ties are merged
 * afterwards (merge_codes.c).  Values are merged by comparison.  Every merge checks that its inputs are
 * sorted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/sortsupport.h"

#include "array/null_map.h"
#include "array/array_result.h"
#include "merge/merge_codes.h"
#include "merge/merge_input.h"
#include "pgerror.h"
#include "run/run_job.h"

/* Elements handled between checks for interrupts. */
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

/* Raise an error for the first value that belongs before its predecessor, if any. */
static void
check_sorted(SortSupport support, const Datum *values, int64 num_values, int which, int64 first_subscript)
{
	for (int64 i = 1; i < num_values; i++)
	{
		if (ApplySortComparator(values[i - 1], false, values[i], false, support) > 0)
			mgpu_raise_not_sorted(which, first_subscript + i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Subscript of the first present element.  NULLs must be known to be in place. */
static int64
first_subscript(const array_source *source, const sort_order *order)
{
	if (source->num_items == 0)
		return 1;
	return source->lower_bounds[0] + (order->nulls_first ? source->num_nulls : 0);
}

int64
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
	sort_keys	keys;

	if (misplaced < 0)
		return;
	/* the error names the first bad position: values before the NULL may be out of order */
	sort_keys_as_values(&keys, source, input->type, input->collation);
	num_values = null_bitmap_count(source->null_bitmap, 0, misplaced);
	prepare_comparison(&support, input);
	check_sorted(&support, keys.values, num_values, which,
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
	request->record = &input->record;
	request->job.op = op;
	request->job.descending = input->order.descending;
	request->job.num_items = sorted_input_present(&input->a);
	request->job.num_b_items = sorted_input_present(&input->b);
	request->first_subscripts[0] = first_subscript(&input->a, &input->order);
	request->first_subscripts[1] = first_subscript(&input->b, &input->order);
	if (type->key_kind == 0)
		return;
	request->job.key_kind = type->key_kind;
	request->job.key_width = type->key_width;
	request->sources[MGPU_CHANNEL_KEYS] = &input->a;
	request->sources[MGPU_CHANNEL_B_KEYS] = &input->b;
	request->binding.in_keys = array_source_bound(&input->a, type->key_width);
	request->binding.in_b_keys = array_source_bound(&input->b, type->key_width);
}

/*
 * Merge by words.  If sorted_keys is not NULL, it gets the merged words, which are the elements'
 * own bytes.
 */
static void
merge_words(sorted_input *input, const sort_keys keys[2], void *sorted_keys, bool *sides)
{
	int64		num_a = keys[0].num_items;
	int64		num_items = num_a + keys[1].num_items;
	uint32	   *ranks = array_result_scratch(num_items * sizeof(uint32));
	run_request request;

	sorted_input_describe(&request, input, MGPU_OP_MERGE_PAIRS);
	request.job.key_kind = keys[0].kind;
	request.job.key_width = keys[0].width;
	request.job.outputs = MGPU_OUT_INDICES | (sorted_keys ? MGPU_OUT_KEYS : 0);
	request.binding.in_keys = keys[0].words;
	request.binding.in_b_keys = keys[1].words;
	request.binding.out_indices = ranks;
	request.binding.out_keys = sorted_keys;
	run_job(&request);
	for (int64 i = 0; i < num_items; i++)
		sides[i] = ranks[i] >= num_a;
	pfree(ranks);
}

/* Merge strings by codes, then strings with equal codes by the bytes that follow. */
static void
merge_strings(sorted_input *input, const sort_keys keys[2], bool *sides)
{
	sort_keys	words[2] = {keys[0], keys[1]};
	int64		first_subscripts[] = {
		first_subscript(&input->a, &input->order),
		first_subscript(&input->b, &input->order)
	};
	merge_codes codes;
	instr_time	start;
	instr_time	end;

	INSTR_TIME_SET_CURRENT(start);
	merge_codes_make(&codes, keys, input->order.descending, first_subscripts);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	for (int i = 0; i < 2; i++)
	{
		words[i].words = codes.codes[i];
		words[i].kind = MGPU_KEY_UNSIGNED;
		words[i].width = sizeof(uint64);
	}
	merge_words(input, words, NULL, sides);
	input->record.marshal_ms += INSTR_TIME_GET_MILLISEC(end);
	merge_codes_ties(&codes, sides);
	merge_codes_free(&codes);
}

/* Merge by comparison, after a check that each array is sorted. */
static void
merge_values(sorted_input *input, const sort_keys keys[2], bool *sides)
{
	const array_source *sources[] = {&input->a, &input->b};
	const Datum *next[2] = {keys[0].values, keys[1].values};
	const Datum *end[2];
	SortSupportData support;

	prepare_comparison(&support, input);
	for (int i = 0; i < 2; i++)
	{
		end[i] = next[i] + keys[i].num_items;
		check_sorted(&support, next[i], keys[i].num_items, i,
					 first_subscript(sources[i], &input->order));
	}
	for (int64 i = 0; next[0] < end[0] || next[1] < end[1]; i++)
	{
		sides[i] = next[0] == end[0] ||
			(next[1] < end[1] && ApplySortComparator(*next[0], false, *next[1], false, &support) > 0);
		next[sides[i]]++;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	run_record_cpu(&input->record, input->function, "compare", input->a.num_items + input->b.num_items,
				   input->a.data_bytes + input->b.data_bytes,
				   "only the CPU can call the comparison function of this type");
}

static void
merge_present(sorted_input *input, void *sorted_keys, bool *sides)
{
	array_source *sources[] = {&input->a, &input->b};
	sort_keys	keys[2];

	sort_keys_of_arrays(keys, sources, input->type, input->collation);
	if (keys[0].form == KEY_STRINGS)
		merge_strings(input, keys, sides);
	else if (keys[0].form == KEY_VALUES)
		merge_values(input, keys, sides);
	else
		merge_words(input, keys, sort_keys_are_elements(&keys[0]) ? sorted_keys : NULL, sides);
	for (int i = 0; i < 2; i++)
		sort_keys_free(&keys[i]);
}

bool *
sorted_input_sides(sorted_input *input, void *sorted_keys)
{
	int64		num_nulls = input->a.num_nulls + input->b.num_nulls;
	int64		num_present = input->a.num_items + input->b.num_items - num_nulls;
	bool	   *sides = array_result_scratch(num_present + num_nulls);
	bool	   *nulls = sides + (input->order.nulls_first ? 0 : num_present);

	if (num_present > 0)
		merge_present(input, sorted_keys, sides + (input->order.nulls_first ? num_nulls : 0));
	/* a's NULL elements, then b's */
	memset(nulls, false, input->a.num_nulls);
	memset(nulls + input->a.num_nulls, true, input->b.num_nulls);
	return sides;
}
