/*
 * agg_sorted.c
 *		Aggregates of each group's sorted values: arrays, percentiles, modes, distinct counts.
 *
 * One sort puts the values of all groups in order (agg/batch.h), when the first result is
 * asked for.  Aggregates of the same values share it.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "exec/sorted_aggregate.h"

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

/* Its fraction is the same in all groups, and without groups nobody evaluates it here. */
const agg_percentile *
sorted_percentile(sorted_aggregate *aggregate)
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

static Datum
result(group_aggregate *base, uint32 group, bool *is_null)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	agg_batch  *batch = aggregate->batch;
	Datum		value;

	if (sorted_device_result(aggregate, group, &value, is_null))
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
			return agg_batch_percentile(batch, group, sorted_percentile(aggregate), is_null);
	}
}

static void
prepare(group_aggregate *base)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) base;
	group_input *input = base->input;

	group_prepare_rows(base);
	aggregate->answer = NULL;
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
	aggregate->base.take_device = sorted_take_device;
	return &aggregate->base;
}
