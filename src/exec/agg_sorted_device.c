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

/* Whether a percentile has one fraction that is known and valid; others are computed here, of all values. */
static bool
has_one_fraction(const chunk *fraction)
{
	const column *col = &fraction->columns[0];
	double		value;

	if (!col->type->element.typbyval || column_is_null(col, 0))
		return false;
	value = DatumGetFloat8(cell_datum(col->type, col->cells, 0));
	return value >= 0 && value <= 1;
}

static double
fraction_of(sorted_aggregate *aggregate)
{
	const column *col = &sorted_fraction(aggregate)->columns[0];

	return DatumGetFloat8(cell_datum(col->type, col->cells, 0));
}

static bool
is_percentile(const sorted_aggregate *aggregate)
{
	return aggregate->base.plan.result == SORTED_PERCENTILE_CONT || aggregate->base.plan.result == SORTED_PERCENTILE_DISC;
}

bool
sorted_ask_device(group_aggregate *base, device_query *query)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	int			column = device_query_column(query, base->columns[0]);
	bool		picks = is_percentile(aggregate) && has_one_fraction(sorted_fraction(aggregate));
	bool		counts = base->plan.result == SORTED_COUNT_DISTINCT;

	/* an interval's percentile, for instance, is no number */
	if (base->filter >= 0 || aggregate->call->key.element.key_kind == 0)
		return false;
	aggregate->sort = device_query_sort(query, column, aggregate->call->order.descending,
										counts ? MGPU_SORT_DISTINCT : picks ? 0 : MGPU_SORT_VALUES);
	aggregate->percentile = -1;
	if (aggregate->sort >= 0 && picks)
	{
		aggregate->percentile = device_query_percentile(query, aggregate->sort, fraction_of(aggregate),
														base->plan.result == SORTED_PERCENTILE_CONT);
		return aggregate->percentile >= 0;
	}
	return aggregate->sort >= 0;
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
	return agg_batch_of_sorted(aggregate->call, input->context, (chunk *) input->rows, query->values[aggregate->sort],
							   &items, &nulls);
}

void
sorted_take_device(group_aggregate *base, const device_query *query)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;

	aggregate->answer = query;
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
	int			column = request->spec.sorts[aggregate->sort].column;
	Datum		picked[2];

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	for (int i = 0; i < 2; i++)
		picked[i] = device_query_datum(aggregate->answer, column, codes[i]);
	return agg_percentile_between(aggregate->call, fraction_of(aggregate), aggregate->base.plan.result == SORTED_PERCENTILE_CONT,
								  num_items, picked);
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
