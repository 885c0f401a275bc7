/*
 * agg_sorted.c
 *		Aggregates of each group's sorted values: arrays, percentiles, modes, distinct counts.
 *
 * One sort puts the values of all groups in order (agg/batch.h), when the first result is
 * asked for.  Aggregates of the same values share it.  A GPU returns the two values that a percentile lies between, the number of
 * different values, or the sorted values of all groups; of modes, a job returns each group's different values and how often they are there.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "agg/batch.h"
#include "exec/aggregate.h"

typedef struct sorted_aggregate
{
	group_aggregate base;
	sort_spec	spec;
	const column_type *type;	/* of the values */
	agg_batch  *batch;
	struct sorted_aggregate *leader;	/* an earlier aggregate whose batch serves this one too, or NULL */
	agg_percentile asked;		/* see percentile_asked */
	ExprState  *fraction;		/* NULL: known, or no percentile */
	ExprContext *context;		/* to evaluate it in */
	const device_query *answer; /* NULL: values are sorted here */
	const table_output *output; /* of the answer */
	const group_input *values;	/* of a mode, that a job has found, or NULL */
} sorted_aggregate;

/* Its fraction is the same in all groups, and without groups nobody evaluates it here. */
static const agg_percentile *
percentile_asked(sorted_aggregate *aggregate)
{
	agg_percentile *percentile = &aggregate->asked;
	MemoryContext caller;

	if (aggregate->fraction)
	{
		caller = MemoryContextSwitchTo(aggregate->context->ecxt_per_query_memory);
		percentile->fraction.value = ExecEvalExpr(aggregate->fraction, aggregate->context, &percentile->fraction.isnull);
		MemoryContextSwitchTo(caller);
		aggregate->fraction = NULL;
	}
	return percentile;
}

/* ---- what a GPU has computed */

int
group_sorted_fractions(group_aggregate *aggregate, double *fractions, int most)
{
	return agg_percentile_fractions(percentile_asked((sorted_aggregate *) aggregate), fractions, most);
}

/* The batch of the sorted values of all groups. */
static agg_batch *
batch_of(const sorted_aggregate *aggregate, const device_query *query)
{
	const group_input *input = aggregate->base.input;
	uint32		num_groups = query->num_groups;
	uint32		word = query->request.record.sorts[aggregate->output->sort];
	row_groups	items = {num_groups, NULL, large_alloc(input->context, ((Size) num_groups + 1) * sizeof(uint32))};
	row_groups	nulls = {num_groups, NULL, large_alloc(input->context, ((Size) num_groups + 1) * sizeof(uint32))};

	items.starts[0] = nulls.starts[0] = 0;
	for (uint32 group = 0; group < num_groups; group++)
	{
		const uint64 *record = device_query_record(query, group);

		items.starts[group + 1] = items.starts[group] + record[word];
		nulls.starts[group + 1] = nulls.starts[group] + (record[0] - record[word]);
	}
	return agg_batch_of_sorted(input->context, &aggregate->spec, aggregate->type, query->values[aggregate->output->sort],
							   &items, &nulls);
}

static void
take_device(group_aggregate *base, const device_query *query, int number)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;

	if (aggregate->values)
		return;
	aggregate->answer = query;
	aggregate->output = &query->job.outputs[number];
	aggregate->batch = NULL;
	if (query->request.spec.sorts[aggregate->output->sort].returns & MGPU_SORT_VALUES)
		aggregate->batch = batch_of(aggregate, query);
}

static void
take_values(group_aggregate *base, group_input *values)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	row_order	order = group_order_of(base->aggref, base->columns);

	aggregate->values = values;
	base->rows = group_rows_in_order(values, base->filter, &order);
}

/* The value that most rows have, of several the first in order. */
static Datum
mode_of(const sorted_aggregate *aggregate, uint32 group, bool *is_null)
{
	const group_input *values = aggregate->values;
	const row_groups *rows = aggregate->base.rows;
	const column *col = &values->rows->columns[aggregate->base.columns[0]];
	uint32		number = values->numbers ? values->numbers[group] : group;
	uint64		most = 0;
	Datum		mode = (Datum) 0;

	for (uint64 i = rows->starts[number]; i < rows->starts[number + 1]; i++)
	{
		uint64		row = row_groups_row(rows, i);

		if (values->counts[row] <= most || column_is_null(col, row))
			continue;
		most = values->counts[row];
		mode = cell_datum(col->type, col->cells, row);
	}
	*is_null = most == 0;
	return mode;
}

/* The result of a percentile, or several, from the values that each lies between. */
static Datum
percentile_of(sorted_aggregate *aggregate, const uint64 *record, bool *is_null)
{
	const group_request *request = &aggregate->answer->request;
	uint64		num_items = record[request->record.sorts[aggregate->output->sort]];
	const uint64 *codes = &record[request->record.percentiles[aggregate->output->sort] + 2 * aggregate->output->percentile];
	Datum		picked[2 * MGPU_GROUP_MAX_PERCENTILES];

	*is_null = num_items == 0;
	if (*is_null)
		return (Datum) 0;
	for (int i = 0; i < 2 * aggregate->output->num_percentiles; i++)
		picked[i] = device_query_datum(aggregate->answer, &aggregate->output->cells, aggregate->output->column, &codes[i]);
	return agg_percentile_picked(&aggregate->asked, &aggregate->type->element, num_items, picked);
}

/* False: the batch has the result. */
static bool
result_of_device(sorted_aggregate *aggregate, uint32 group, Datum *result, bool *is_null)
{
	const uint64 *record;

	if (aggregate->answer == NULL)
		return false;
	record = device_query_record(aggregate->answer, group);
	*is_null = false;
	if (aggregate->output->percentile >= 0)
		*result = percentile_of(aggregate, record, is_null);
	else if (aggregate->base.plan.result == SORTED_COUNT_DISTINCT)
		*result = Int64GetDatum(record[aggregate->answer->request.record.sorts[aggregate->output->sort] + 1]);
	else
		return false;
	return true;
}

/* ---- results */

/* array_agg of no rows is NULL; the batch would return an empty array. */
static Datum
array_of(sorted_aggregate *aggregate, uint32 group, bool *is_null)
{
	agg_batch  *batch = aggregate->batch;

	*is_null = row_groups_size(&batch->items, group) + row_groups_size(&batch->nulls, group) == 0;
	if (*is_null)
		return (Datum) 0;
	return PointerGetDatum(agg_batch_array(batch, group, aggregate->base.plan.order.nulls_first));
}

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	agg_batch  *batch = aggregate->batch;
	Datum		value;

	if (aggregate->values)
		return mode_of(aggregate, group, is_null);
	if (result_of_device(aggregate, group, &value, is_null))
		return value;
	*is_null = false;
	switch (base->plan.result)
	{
		case SORTED_ARRAY:
			return array_of(aggregate, group, is_null);
		case SORTED_MODE:
			return agg_batch_mode(batch, group, is_null);
		case SORTED_COUNT_DISTINCT:
			return Int64GetDatum(agg_batch_num_runs(batch, group));
		default:
			return agg_batch_percentile(batch, group, percentile_asked(aggregate), is_null);
	}
}

static void
prepare(group_aggregate *base)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	group_input *input = base->input;

	group_prepare_rows(base);
	aggregate->answer = NULL;
	aggregate->values = NULL;
	if (aggregate->leader)
		aggregate->batch = aggregate->leader->batch;
	else
		aggregate->batch = agg_batch_of_rows(input->context, &aggregate->spec, (chunk *) input->rows, base->columns[0],
											 base->rows);
}

static Oid
collation_of(const group_aggregate_source *source)
{
	const Aggref *aggref = source->aggref;

	return aggref->aggorder || aggref->aggdistinct ? exprCollation((const Node *) agg_argument(aggref, 0)) : aggref->inputcollid;
}

static sorted_aggregate *
find_leader(const group_aggregate_source *source, const sorted_aggregate *aggregate)
{
	ListCell   *cell;

	foreach(cell, source->earlier)
	{
		sorted_aggregate *other = lfirst(cell);

		if (other->base.plan.way == GROUP_WAY_SORT && other->leader == NULL &&
			other->base.filter == aggregate->base.filter && other->base.columns[0] == aggregate->base.columns[0] &&
			other->spec.collation == aggregate->spec.collation &&
			other->spec.order.descending == aggregate->spec.order.descending)
			return other;
	}
	return NULL;
}

group_aggregate *
group_sorted_create(const group_aggregate_source *source)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) group_aggregate_create(source, sizeof(sorted_aggregate));
	const Expr *fraction = source->plan.fraction;

	aggregate->spec = (sort_spec) {.function = "MgpuGroup",.op = MGPU_OP_SORT,.order = source->plan.order,
	.collation = collation_of(source)};
	aggregate->type = source->rows->columns[aggregate->base.columns[0]].type;
	aggregate->leader = find_leader(source, aggregate);
	if (fraction)
	{
		aggregate->asked.continuous = source->plan.result == SORTED_PERCENTILE_CONT;
		aggregate->asked.is_array = type_is_array(exprType((const Node *) fraction));
		aggregate->fraction = ExecInitExpr((Expr *) fraction, source->node);
		aggregate->context = CreateExprContext(source->node->state);
	}
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	aggregate->base.take_device = take_device;
	aggregate->base.take_values = take_values;
	return &aggregate->base;
}
