/*
 * runs.c
 *		Runs of equal values in a sorted batch: the number of different values, and the most frequent one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "compat.h"
#include "agg/batch.h"

/* Values looked at between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

/* Whether a position's value differs from the one before. */
static bool
starts_run(const agg_batch *batch, value_order *comparison, uint64 position)
{
	return value_order_compare(comparison, agg_batch_sorted_datum(batch, position - 1),
							   agg_batch_sorted_datum(batch, position)) != 0;
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

/* Runs of values whose bytes are keys; 0: they are something else. */
static int64
count_runs_of_numbers(const agg_batch *batch, uint64 begin, uint64 end)
{
	const element_type *type = &batch->key_type->element;
	int64		num_runs = 1;

	if (batch->sorted_keys == NULL || (type->key_width != 4 && type->key_width != 8))
		return 0;
	if (type->key_kind == MGPU_KEY_FLOAT && type->key_width == 4)
		COUNT_CHANGES(float4, FLOATS_DIFFER);
	else if (type->key_kind == MGPU_KEY_FLOAT)
		COUNT_CHANGES(float8, FLOATS_DIFFER);
	else if (type->key_width == 4)
		COUNT_CHANGES(uint32, NUMBERS_DIFFER);
	else
		COUNT_CHANGES(uint64, NUMBERS_DIFFER);
	return num_runs;
}

int64
agg_batch_num_runs(agg_batch *batch, uint32 group)
{
	row_list	items = row_list_of(batch->key, &batch->items, group);
	value_order *comparison;
	int64		num_runs;

	CHECK_FOR_INTERRUPTS();
	if (row_list_size(&items) == 0)
		return 0;
	agg_batch_sort(batch);
	num_runs = count_runs_of_numbers(batch, items.begin, items.end);
	if (num_runs > 0)
		return num_runs;
	comparison = agg_batch_comparison(batch);
	num_runs = 1;
	for (uint64 i = items.begin + 1; i < items.end; i++)
	{
		num_runs += starts_run(batch, comparison, i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return num_runs;
}

Datum
agg_batch_mode(agg_batch *batch, uint32 group, bool *is_null)
{
	const element_type *type = &batch->key_type->element;
	row_list	items = row_list_of(batch->key, &batch->items, group);
	uint64		run = items.begin;
	uint64		best = items.begin;
	uint64		best_size = 0;
	value_order *comparison;

	*is_null = row_list_size(&items) == 0;
	if (*is_null)
		return (Datum) 0;
	agg_batch_sort(batch);
	comparison = agg_batch_comparison(batch);
	for (uint64 i = items.begin + 1; i <= items.end; i++)
	{
		if (i < items.end && !starts_run(batch, comparison, i))
			continue;
		if (i - run > best_size)
		{
			best = run;
			best_size = i - run;
		}
		run = i;
		CHECK_FOR_INTERRUPTS();
	}
	return datumCopy(agg_batch_sorted_datum(batch, best), type->typbyval, type->typlen);
}
