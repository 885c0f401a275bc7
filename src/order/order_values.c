/*
 * order_values.c
 *		Orders values by their type's abbreviated keys, if any, and by its comparison.
 *
 * The server's sort template (a quicksort that detects sorted input) sorts values, with their
 * indices as the last tie-break.  That makes the order total and the sort stable.  tuplesort was
 * rejected: it is stable only with the ordinal as a second column of a heap tuple, at several
 * times the cost.
 *
 * The network is Batcher's odd-even mergesort (1968) in iterative form.  For size = 2, 4, … and
 * stride = size/2, …, 1 it orders the pairs (i, i + stride).  At the first stride, i runs over
 * the lower half of each group of size items.  At smaller strides, i runs over every odd stretch
 * of stride items except the last.  Pairs that reach past the end are skipped, so any length
 * works.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "array/array_result.h"
#include "keys/value_order.h"
#include "order/order.h"
#include "run/record.h"

/* For fewer values, making codes costs more than comparing. */
#define CODES_MIN_ITEMS 32

/* Items handled between checks for interrupts. */
#define STEP_ITEMS (16 * 1024)

typedef struct sort_item
{
	Datum		value;
	uint32		index;
} sort_item;

typedef struct value_sort
{
	const sort_spec *spec;
	const Datum *values;
	value_order order;
	uint32	   *ranks;
	sort_item  *items;			/* buffer for the longest stretch so far */
	int64		capacity;
	const uint64 *sorted;		/* codes in order, or NULL */
} value_sort;

static inline int
compare_items(const sort_item *a, const sort_item *b, value_sort *sort)
{
	int			order = value_order_compare(&sort->order, a->value, b->value);

	if (sort->spec->order.descending)
		INVERT_COMPARE_RESULT(order);
	if (order == 0)
		order = a->index < b->index ? -1 : 1;
	return order;
}

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE sort_item
#define ST_COMPARE(a, b, sort) compare_items(a, b, sort)
#define ST_COMPARE_ARG_TYPE value_sort
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
reserve_items(value_sort *sort, int64 num_items)
{
	if (num_items <= sort->capacity)
		return;
	if (sort->items)
		pfree(sort->items);
	sort->capacity = Max(num_items, 2 * sort->capacity);
	sort->items = array_result_scratch(sort->capacity * sizeof(sort_item));
}

/* Sort ranks[begin, end) by comparing their values. */
static void
sort_stretch(value_sort *sort, int64 begin, int64 end)
{
	uint32	   *ranks = sort->ranks + begin;
	int64		num_items = end - begin;

	reserve_items(sort, num_items);
	for (int64 i = 0; i < num_items; i++)
		sort->items[i] = (sort_item) {sort->values[ranks[i]], ranks[i]};
	sort_items(sort->items, num_items, sort);
	for (int64 i = 0; i < num_items; i++)
		ranks[i] = sort->items[i].index;
}

/* Sort the values with equal codes in a segment whose codes are in order. */
static void
sort_ties(void *context, int64 begin, int64 end)
{
	value_sort *sort = context;

	for (int64 next; begin < end; begin = next)
	{
		for (next = begin + 1; next < end && sort->sorted[next] == sort->sorted[begin];)
			next++;
		if (next - begin > 1)
			sort_stretch(sort, begin, next);
		else if (begin % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
sort_segment(void *context, int64 begin, int64 end)
{
	sort_stretch(context, begin, end);
}

static void
number_items(uint32 *ranks, int64 num_items)
{
	for (int64 i = 0; i < num_items; i++)
		ranks[i] = (uint32) i;
}

/* False: the type has no codes for these values. */
static bool
sort_by_codes(value_sort *sort, const segment_list *segments, int64 num_items)
{
	uint64	   *codes;
	uint64	   *sorted;
	word_sort	words = {
		.spec = sort->spec,
		.segments = segments,
		.num_items = num_items,
		.kind = MGPU_KEY_UNSIGNED,
		.width = sizeof(uint64),
		.ranks = sort->ranks
	};

	if (!sort->order.has_codes)
		return false;
	codes = array_result_scratch(num_items * sizeof(uint64));
	if (!value_order_codes(&sort->order, sort->values, num_items, codes))
	{
		pfree(codes);
		return false;
	}
	sorted = array_result_scratch(num_items * sizeof(uint64));
	words.words = codes;
	words.sorted = sorted;
	(void) order_words(&words);
	pfree(codes);
	sort->sorted = sorted;
	order_each_segment(segments, num_items, sort_ties, sort);
	pfree(sorted);
	return true;
}

static void
record_comparison(const sort_spec *spec, const sort_keys *keys, const char *algorithm)
{
	run_record_cpu(spec->record, spec->function, algorithm, keys->num_items, keys->data_bytes,
				   "only the CPU can call the comparison function of this type");
}

void
order_values(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks)
{
	value_sort	sort = {.spec = spec,.values = keys->values,.ranks = ranks};

	value_order_prepare(&sort.order, keys->type, keys->collation, keys->num_items >= CODES_MIN_ITEMS);
	if (!sort_by_codes(&sort, segments, keys->num_items))
	{
		number_items(ranks, keys->num_items);
		order_each_segment(segments, keys->num_items, sort_segment, &sort);
		record_comparison(spec, keys, "compare");
		spec->record->num_segments = segments ? segments->num_segments : 0;
	}
	if (sort.items)
		pfree(sort.items);
}

/* ---- the network */

/* Orders the pairs (i, i + stride) for i in begin … begin + stride - 1. */
static void
order_pairs(value_sort *sort, int64 num_items, int64 begin, int64 stride)
{
	int64		end = Min(begin + stride, num_items - stride);
	uint32	   *ranks = sort->ranks;

	for (int64 i = begin; i < end; i++)
	{
		uint32		left = ranks[i];
		uint32		right = ranks[i + stride];
		int			order = value_order_compare(&sort->order, sort->values[left], sort->values[right]);

		if (sort->spec->order.descending ? order < 0 : order > 0)
		{
			ranks[i] = right;
			ranks[i + stride] = left;
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	CHECK_FOR_INTERRUPTS();
}

void
order_by_network(const sort_spec *spec, const sort_keys *keys, uint32 *ranks)
{
	value_sort	sort = {.spec = spec,.values = keys->values,.ranks = ranks};
	int64		num_items = keys->num_items;

	value_order_prepare(&sort.order, keys->type, keys->collation, false);
	number_items(ranks, num_items);
	for (int64 size = 2; size / 2 < num_items; size *= 2)
		for (int64 stride = size / 2; stride >= 1; stride /= 2)
			for (int64 group = 0; group < num_items; group += size)
				for (int64 begin = stride == size / 2 ? 0 : stride; begin + stride < size; begin += 2 * stride)
				{
					if (group + begin >= num_items)
						break;
					order_pairs(&sort, num_items, group + begin, stride);
				}
	record_comparison(spec, keys, "network");
}
