/*
 * runs.c
 *		Runs of equal values in a sorted batch.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "compat.h"
#include "agg/runs.h"

/* Values looked at between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

static Datum
sorted_datum(const agg_batch *batch, uint64 position)
{
	const element_type *type = &batch->call->key.element;

	return fetch_att(agg_batch_sorted_key(batch, position), type->typbyval, type->typlen);
}

/* Whether a position's value differs from the one before. */
static bool
starts_run(const agg_batch *batch, SortSupport support, uint64 position)
{
	return ApplySortComparator(sorted_datum(batch, position - 1), false, sorted_datum(batch, position), false, support) != 0;
}

/* Loops over sorted numbers, which the compiler makes fast.  Any NaN equals any other. */
#define COUNT_CHANGES(type, differ) \
	do { \
		const type *values = (const type *) batch->sorted_keys; \
		\
		for (uint64 i = begin + 1; i < end; i++) \
			num_runs += differ(values[i - 1], values[i]); \
	} while (0)
#define NUMBERS_DIFFER(a, b) ((a) != (b))
#define FLOATS_DIFFER(a, b) (((a) != (b)) & (((a) == (a)) | ((b) == (b))))

/* Runs of values whose bytes are keys; false: they are something else. */
static bool
count_runs_of_numbers(const agg_batch *batch, uint64 begin, uint64 end, uint64 *result)
{
	const element_type *type = &batch->call->key.element;
	uint64		num_runs = 1;

	if (batch->sorted_keys == NULL || (type->key_width != 4 && type->key_width != 8))
		return false;
	if (type->key_kind == MGPU_KEY_FLOAT && type->key_width == 4)
		COUNT_CHANGES(float4, FLOATS_DIFFER);
	else if (type->key_kind == MGPU_KEY_FLOAT)
		COUNT_CHANGES(float8, FLOATS_DIFFER);
	else if (type->key_width == 4)
		COUNT_CHANGES(uint32, NUMBERS_DIFFER);
	else
		COUNT_CHANGES(uint64, NUMBERS_DIFFER);
	*result = num_runs;
	return true;
}

uint64
agg_batch_num_runs(const agg_batch *batch, uint64 begin, uint64 end)
{
	SortSupport support;
	uint64		num_runs;

	CHECK_FOR_INTERRUPTS();
	if (count_runs_of_numbers(batch, begin, end, &num_runs))
		return num_runs;
	support = agg_call_support(batch->call, batch->order.descending);
	num_runs = 1;
	for (uint64 i = begin + 1; i < end; i++)
	{
		num_runs += starts_run(batch, support, i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return num_runs;
}

Datum
agg_batch_mode(const agg_batch *batch, uint64 begin, uint64 end)
{
	const element_type *type = &batch->call->key.element;
	SortSupport support = agg_call_support(batch->call, batch->order.descending);
	uint64		run = begin;
	uint64		best = begin;
	uint64		best_size = 0;

	for (uint64 i = begin + 1; i <= end; i++)
	{
		if (i < end && !starts_run(batch, support, i))
			continue;
		if (i - run > best_size)
		{
			best = run;
			best_size = i - run;
		}
		run = i;
		CHECK_FOR_INTERRUPTS();
	}
	return datumCopy(sorted_datum(batch, best), type->typbyval, type->typlen);
}
