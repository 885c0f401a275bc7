/*
 * agg_order.c
 *		Order of grouped rows whose keys are not what executors sort.
 *
 * Keys that map to a 64-bit code (element_type.h) are sorted by it, labels of
 * enums by their OIDs or ranks (enum_keys.h), what makes byte strings as those
 * (agg_strings.c).  So are keys that the type can abbreviate to an unsigned
 * number, which makes an executor's integer sort of what would be calls of a
 * comparison function; runs of equal codes are then put in order by the full
 * comparison.  All other types are compared from the start.
 *
 * One comparison is prepared for all groups.  datum_sort.c prepares one a call,
 * which is right for one array and too much for a hundred thousand groups.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_job.h"
#include "agg_order.h"
#include "keys/enum_keys.h"

/* Rows handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

/* The same where each may cost a microsecond or more. */
#define ABBREVIATE_STEP_ITEMS 4096

/* Batches up to here are ordered at once, if no group is too large for that. */
#define ORDER_NOW_ITEMS (16 * 1024)

/* Batches from here on ask whether abbreviating pays. */
#define ASK_ABBREVIATION_ITEMS 10240

typedef int (*comparator) (Datum a, Datum b, SortSupport support);

/* key is abbreviated under sort_abbreviated, else the value itself. */
typedef struct order_item
{
	Datum		key;
	uint32		index;
} order_item;

typedef struct order_context
{
	const agg_batch *batch;
	SortSupport support;
	comparator	full;			/* of values themselves, ascending */
} order_context;

static inline int
compare_values(const order_item *a, const order_item *b, order_context *context)
{
	int			order = context->full(a->key, b->key, context->support);

	if (context->support->ssup_reverse)
		INVERT_COMPARE_RESULT(order);
	if (order == 0)
		order = a->index < b->index ? -1 : 1;
	return order;
}

static inline Datum
key_datum(const agg_batch *batch, uint32 index)
{
	return agg_column_datum(&batch->call->key, batch->keys, index);
}

static inline int
compare_abbreviated(const order_item *a, const order_item *b, order_context *context)
{
	SortSupport support = context->support;
	int			order = ApplySortComparator(a->key, false, b->key, false, support);

	if (order == 0)
		order = ApplySortAbbrevFullComparator(key_datum(context->batch, a->index), false,
											  key_datum(context->batch, b->index), false, support);
	if (order == 0)
		order = a->index < b->index ? -1 : 1;
	return order;
}

#define ST_SORT sort_values
#define ST_ELEMENT_TYPE order_item
#define ST_COMPARE(a, b, context) compare_values(a, b, context)
#define ST_COMPARE_ARG_TYPE order_context
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_abbreviated
#define ST_ELEMENT_TYPE order_item
#define ST_COMPARE(a, b, context) compare_abbreviated(a, b, context)
#define ST_COMPARE_ARG_TYPE order_context
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static uint64
largest_group(const agg_batch *batch)
{
	uint64		largest = 0;

	for (uint64 i = 0; i < batch->num_heads; i++)
		largest = Max(largest, agg_order_end(batch, i) - batch->heads[i]);
	return largest;
}

/* Whether codes are sorted at once, without a job. */
static bool
is_small(const agg_batch *batch)
{
	return batch->num_items <= ORDER_NOW_ITEMS && largest_group(batch) <= MGPU_CPU_NOW_PAIRS &&
		!agg_job_is_forced(batch);
}

/* Keys that executors sort, one for each grouped row. */
typedef struct order_codes
{
	const void *keys;
	uint32		kind;
	uint32		width;
} order_codes;

/* Each group by itself, while it is hot. */
static void
order_codes_now(agg_batch *batch, const order_codes *codes, uint64 *sorted)
{
	uint32	   *positions = batch->positions;

	for (uint64 i = 0; i < batch->num_heads; i++)
	{
		uint64		begin = batch->heads[i];
		uint64		end = agg_order_end(batch, i);

		mgpu_cpu_argsort_now((const char *) codes->keys + begin * codes->width, positions + begin, end - begin,
							 codes->kind, codes->width, batch->order.descending);
		for (uint64 j = begin; j < end; j++)
		{
			positions[j] += begin;
			if (sorted)
				sorted[j] = ((const uint64 *) codes->keys)[positions[j]];
		}
	}
	agg_job_note(batch, "quick", "few items");
}

/*
 * Stable positions of grouped rows, each group by itself, and, unless sorted is
 * NULL, the codes in order, which are 64-bit numbers then.
 */
static void
order_by_codes(agg_batch *batch, const order_codes *codes, uint64 *sorted)
{
	run_request request;

	if (is_small(batch))
	{
		order_codes_now(batch, codes, sorted);
		return;
	}
	agg_job_describe(&request, batch, MGPU_OP_SORT_PAIRS, codes->kind, codes->width);
	request.job.outputs = sorted ? MGPU_OUT_INDICES | MGPU_OUT_KEYS : MGPU_OUT_INDICES;
	request.binding.in_keys = codes->keys;
	request.binding.out_keys = sorted;
	request.binding.out_indices = batch->positions;
	run_job(&request);
}

/* False: some key has no code. */
static bool
order_encoded(agg_batch *batch)
{
	const agg_column *column = &batch->call->key;
	int64	   *codes = agg_batch_alloc(batch, batch->num_items * sizeof(int64));
	bool		fits = true;

	for (uint64 i = 0; fits && i < batch->num_items; i++)
	{
		fits = column->type.encode(agg_column_element(column, batch->keys, i), &codes[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (fits)
		order_by_codes(batch, &(order_codes) {codes, MGPU_KEY_SIGNED, sizeof(int64)}, NULL);
	pfree(codes);
	return fits;
}

static void
order_enum(agg_batch *batch)
{
	MemoryContext caller_context = MemoryContextSwitchTo(batch->work_context);
	const Oid  *values = (const Oid *) batch->keys;
	const uint32 *keys = enum_keys(values, batch->num_items, &batch->call->key.type);

	MemoryContextSwitchTo(caller_context);
	order_by_codes(batch, &(order_codes) {keys, MGPU_KEY_UNSIGNED, sizeof(uint32)}, NULL);
	if (keys != values)
		pfree((void *) keys);
}

static void
stop_abbreviating(agg_call *call)
{
	SortSupport support = &call->support;

	support->comparator = support->abbrev_full_comparator;
	support->abbrev_converter = NULL;
	support->abbrev_abort = NULL;
	support->abbrev_full_comparator = NULL;
	call->abbreviates = false;
}

/* False: the type finds that it does not pay for these keys. */
static bool
abbreviate(agg_batch *batch, Datum *codes)
{
	SortSupport support = &batch->call->support;
	bool		is_variable = agg_column_is_variable(&batch->call->key);
	uint64		next_question = ASK_ABBREVIATION_ITEMS;

	for (uint64 i = 0; i < batch->num_items; i++)
	{
		if (is_variable && i + AGG_PREFETCH_ROWS < batch->num_items)
			__builtin_prefetch(((char *const *) batch->keys)[i + AGG_PREFETCH_ROWS]);
		if (i % ABBREVIATE_STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
		if (i == next_question)
		{
			next_question *= 2;
			if (support->abbrev_abort(i, support))
			{
				stop_abbreviating(batch->call);
				return false;
			}
		}
		codes[i] = support->abbrev_converter(key_datum(batch, i), support);
	}
	return true;
}

/* Whether abbreviated keys order as unsigned numbers. */
static bool
abbreviates_to_numbers(const agg_call *call)
{
#ifdef MGPU_HAS_DATUM_COMPARATORS
	return sizeof(Datum) == sizeof(uint64) && call->support.comparator == ssup_datum_unsigned_cmp;
#else
	return false;
#endif
}

/* Rows with equal codes, by the values themselves; items has room for them. */
static void
order_run(agg_batch *batch, uint64 begin, uint64 num_rows, order_item *items)
{
	uint32	   *positions = batch->positions + begin;
	SortSupport support = &batch->call->support;
	order_context context = {batch, support, support->abbrev_full_comparator};

	for (uint64 i = 0; i < num_rows; i++)
		items[i] = (order_item) {key_datum(batch, positions[i]), positions[i]};
	sort_values(items, num_rows, &context);
	for (uint64 i = 0; i < num_rows; i++)
		positions[i] = items[i].index;
}

/* Runs of equal codes, two rows or more, inside a group. */
static void
order_runs(agg_batch *batch, const uint64 *sorted)
{
	order_item *buffer = NULL;
	uint64		capacity = 0;

	for (uint64 i = 0; i < batch->num_heads; i++)
	{
		uint64		end = agg_order_end(batch, i);

		for (uint64 begin = batch->heads[i], next; begin < end; begin = next)
		{
			for (next = begin + 1; next < end && sorted[next] == sorted[begin];)
				next++;
			if (next - begin < 2)
				continue;
			if (next - begin > capacity)
			{
				if (buffer)
					pfree(buffer);
				capacity = Max(next - begin, capacity * 2);
				buffer = agg_batch_alloc(batch, capacity * sizeof(order_item));
			}
			order_run(batch, begin, next - begin, buffer);
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (buffer)
		pfree(buffer);
}

static void
order_by_comparison(agg_batch *batch, const Datum *codes)
{
	uint32	   *positions = batch->positions;
	SortSupport support = &batch->call->support;
	order_context context = {batch, support, support->comparator};
	order_item *items = agg_batch_alloc(batch, largest_group(batch) * sizeof(order_item));

	for (uint64 i = 0; i < batch->num_heads; i++)
	{
		uint64		begin = batch->heads[i];
		uint64		end = agg_order_end(batch, i);

		for (uint64 j = begin; j < end; j++)
			items[j - begin] = (order_item) {codes ? codes[j] : key_datum(batch, j), j};
		if (codes)
			sort_abbreviated(items, end - begin, &context);
		else
			sort_values(items, end - begin, &context);
		for (uint64 j = begin; j < end; j++)
			positions[j] = items[j - begin].index;
	}
	pfree(items);
	agg_job_note(batch, "compare", "the type is sorted by its comparison function, on the CPU");
}

static void
order_compared(agg_batch *batch)
{
	agg_call   *call = batch->call;
	Datum	   *codes = NULL;

	agg_call_support(call, batch->order.descending);
	if (call->abbreviates)
	{
		codes = agg_batch_alloc(batch, batch->num_items * sizeof(Datum));
		if (!abbreviate(batch, codes))
		{
			pfree(codes);
			codes = NULL;
		}
	}
	if (codes && abbreviates_to_numbers(call))
	{
		uint64	   *sorted = agg_batch_alloc(batch, batch->num_items * sizeof(uint64));

		order_by_codes(batch, &(order_codes) {codes, MGPU_KEY_UNSIGNED, sizeof(uint64)}, sorted);
		order_runs(batch, sorted);
		pfree(sorted);
	}
	else
		order_by_comparison(batch, codes);
	if (codes)
		pfree(codes);
}

void
agg_order_keys(agg_batch *batch)
{
	const element_type *type = &batch->call->key.type;

	if (type->is_enum)
		order_enum(batch);
	else if ((type->encode == NULL || !order_encoded(batch)) && !agg_order_strings(batch))
		order_compared(batch);
}
