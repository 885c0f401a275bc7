/*
 * agg_sorted.c
 *		Aggregates of each group's sorted values: arrays, percentiles, modes, distinct counts.
 *
 * One sort puts the values of all groups in order (agg/batch.h), when the first result is
 * asked for.  Aggregates of the same values share it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "agg/runs.h"
#include "exec/sorted_aggregate.h"

/* It is the same in all groups, and without groups nobody evaluates it here. */
chunk *
sorted_fraction(sorted_aggregate *aggregate)
{
	MemoryContext caller;
	column_type *type;
	bool		is_null;
	Datum		value;

	if (aggregate->fraction)
		return aggregate->fraction;
	value = ExecEvalExprSwitchContext(aggregate->fraction_expr, aggregate->fraction_context, &is_null);
	caller = MemoryContextSwitchTo(aggregate->fraction_context->ecxt_per_query_memory);
	type = palloc0(sizeof(column_type));
	column_type_fill(type, exprType((const Node *) aggregate->base.plan.fraction));
	aggregate->fraction = chunk_create(CurrentMemoryContext, 1, (const column_type *[]) {type}, 1);
	chunk_put(aggregate->fraction, &aggregate->fraction->columns[0], chunk_add_rows(aggregate->fraction, 1), value, is_null);
	MemoryContextSwitchTo(caller);
	ResetExprContext(aggregate->fraction_context);
	return aggregate->fraction;
}

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
mode_of(agg_batch *batch, uint32 group, bool *is_null)
{
	*is_null = row_groups_size(&batch->items, group) == 0;
	if (*is_null)
		return (Datum) 0;
	return agg_batch_mode(batch, batch->items.starts[group], batch->items.starts[group + 1]);
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
			agg_batch_sort(batch);
			return mode_of(batch, group, is_null);
		case SORTED_COUNT_DISTINCT:
			agg_batch_sort(batch);
			if (row_groups_size(&batch->items, group) == 0)
				return Int64GetDatum(0);
			return Int64GetDatum(agg_batch_num_runs(batch, batch->items.starts[group], batch->items.starts[group + 1]));
		default:
			return agg_batch_percentile(batch, group, &(chunk_slice) {sorted_fraction(aggregate), 1, 0, NULL, 1},
										base->plan.result == SORTED_PERCENTILE_CONT, is_null);
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
		aggregate->batch = agg_batch_of_rows(aggregate->call, input->context, (chunk *) input->rows, base->columns[0],
											 base->rows);
}

static Oid
collation_of(const group_aggregate_source *source)
{
	const Expr *argument = agg_argument(source->aggref, 0);

	return source->aggref->aggorder || source->aggref->aggdistinct ? exprCollation((const Node *) argument) : source->aggref->inputcollid;
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
			other->call->collation == aggregate->call->collation &&
			other->call->order.descending == aggregate->call->order.descending)
			return other;
	}
	return NULL;
}

group_aggregate *
group_sorted_create(const group_aggregate_source *source)
{
	sorted_aggregate *aggregate = (sorted_aggregate *) group_aggregate_create(source, sizeof(sorted_aggregate));
	const column_type *type = source->rows->columns[aggregate->base.columns[0]].type;

	aggregate->call = agg_call_of_column(type->element.type_id, collation_of(source), source->plan.order);
	aggregate->leader = find_leader(source, aggregate);
	if (source->plan.fraction)
	{
		aggregate->fraction_expr = ExecInitExpr((Expr *) source->plan.fraction, source->node);
		aggregate->fraction_context = CreateExprContext(source->node->state);
	}
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	aggregate->base.take_device = sorted_take_device;
	return &aggregate->base;
}
