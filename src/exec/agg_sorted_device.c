/*
 * agg_sorted_device.c
 *		Aggregates of sorted values from what a GPU has computed.
 *
 * Of a percentile come the two values that it lies between, of a distinct count the number, and the sorted values of all
 * groups for arrays and modes.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/sorted_aggregate.h"

bool
group_sorted_fraction(group_aggregate *aggregate, double *fraction)
{
	const agg_percentile *asked = sorted_percentile((sorted_aggregate *) aggregate);

	if (asked->fraction.isnull)
		return false;
	*fraction = DatumGetFloat8(asked->fraction.value);
	return true;
}

/* The batch of the sorted values of all groups. */
static agg_batch *
batch_of(const sorted_aggregate *aggregate, const device_query *query)
{
	const group_input *input = aggregate->base.input;
	uint32		num_groups = query->num_groups;
	uint32		word = query->request.record.sorts[aggregate->sort];
	row_groups	items = {num_groups, NULL, large_alloc(input->context, ((Size) num_groups + 1) * sizeof(uint32))};
	row_groups	nulls = {num_groups, NULL, large_alloc(input->context, ((Size) num_groups + 1) * sizeof(uint32))};

	items.starts[0] = nulls.starts[0] = 0;
	for (uint32 group = 0; group < num_groups; group++)
	{
		const uint64 *record = device_query_record(query, group);

		items.starts[group + 1] = items.starts[group] + record[word];
		nulls.starts[group + 1] = nulls.starts[group] + (record[0] - record[word]);
	}
	return agg_batch_of_sorted(input->context, &aggregate->spec, aggregate->type, query->values[aggregate->sort],
							   &items, &nulls);
}

void
sorted_take_device(group_aggregate *base, const device_query *query, int number)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;

	aggregate->answer = query;
	aggregate->sort = list_nth_int(query->job.sorts, number);
	aggregate->percentile = list_nth_int(query->job.percentiles, number);
	aggregate->batch = NULL;
	if (query->request.spec.sorts[aggregate->sort].returns & MGPU_SORT_VALUES)
		aggregate->batch = batch_of(aggregate, query);
}

/* A percentile's result from the values that it lies between. */
static Datum
percentile_of(sorted_aggregate *aggregate, const uint64 *record, bool *is_null)
{
	const group_request *request = &aggregate->answer->request;
	uint64		num_items = record[request->record.sorts[aggregate->sort]];
	const uint64 *codes = &record[request->record.percentiles[aggregate->sort] + 2 * aggregate->percentile];
	const mgpu_group_sort *sort = &request->spec.sorts[aggregate->sort];
	Datum		picked[2];

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	for (int i = 0; i < 2; i++)
		picked[i] = device_query_datum(aggregate->answer, sort->column, codes[i]);
	return agg_percentile_between(&aggregate->asked, &aggregate->type->element, num_items, picked);
}

bool
sorted_device_result(sorted_aggregate *aggregate, uint32 group, Datum *result, bool *is_null)
{
	const uint64 *record;

	if (aggregate->answer == NULL)
		return false;
	record = device_query_record(aggregate->answer, group);
	*is_null = false;
	if (aggregate->percentile >= 0)
		*result = percentile_of(aggregate, record, is_null);
	else if (aggregate->base.plan.result == SORTED_COUNT_DISTINCT)
		*result = Int64GetDatum(record[aggregate->answer->request.record.sorts[aggregate->sort] + 1]);
	else
		return false;
	return true;
}
