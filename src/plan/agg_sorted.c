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
#include "plan/aggregate.h"

typedef struct sorted_aggregate
{
	group_aggregate base;
	agg_call   *call;
	agg_batch  *batch;
	struct sorted_aggregate *leader;	/* an earlier aggregate whose batch serves this one too, or NULL */
	PlanState  *node;
	chunk	   *fraction;		/* of a percentile: one row, once it has been computed */
} sorted_aggregate;

/* array_agg of no rows is NULL; the batch would return an empty array. */
static Datum
array_of(sorted_aggregate *aggregate, uint32 group, bool *is_null)
{
	*is_null = row_groups_size(aggregate->base.rows, group) == 0;
	if (*is_null)
		return (Datum) 0;
	return PointerGetDatum(agg_batch_array(aggregate->batch, group, aggregate->base.plan.order.nulls_first));
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
			return agg_batch_percentile(batch, group, &(chunk_slice) {aggregate->fraction, 1, 0, NULL, 1},
										base->plan.result == SORTED_PERCENTILE_CONT, is_null);
	}
}

/* Compute a percentile's fraction, which is the same in all groups, as one row. */
static chunk *
compute_fraction(const sorted_aggregate *aggregate)
{
	const Expr *expr = aggregate->base.plan.fraction;
	MemoryContext context = aggregate->node->state->es_query_cxt;
	column_type *type = MemoryContextAlloc(context, sizeof(column_type));
	const column_type *types[] = {type};
	chunk	   *rows;
	bool		is_null;
	Datum		value = ExecEvalExprSwitchContext(ExecInitExpr((Expr *) expr, aggregate->node),
												  aggregate->node->ps_ExprContext, &is_null);

	column_type_fill(type, exprType((const Node *) expr));
	rows = chunk_create(context, 1, types, 1);
	chunk_put(rows, &rows->columns[0], chunk_add_rows(rows, 1), value, is_null);
	return rows;
}

static void
prepare(group_aggregate *base, group_input *input)
{
	static const row_order arrival = {0, NULL};
	sorted_aggregate *aggregate = (sorted_aggregate *) base;

	base->input = input;
	base->rows = group_rows_in_order(input, base->filter, &arrival);
	/* not when the node starts: EXPLAIN must not raise its errors */
	if (base->plan.fraction && aggregate->fraction == NULL)
		aggregate->fraction = compute_fraction(aggregate);
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
	aggregate->node = source->node;
	aggregate->base.prepare = prepare;
	aggregate->base.result = result;
	return &aggregate->base;
}
