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
	ExprState  *fraction_expr;	/* of a percentile, else NULL, as is the next */
	ExprContext *fraction_context;
	chunk	   *fraction;		/* one row; NULL until a group asks for it */
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

/* A percentile's fraction as one row.  It is the same in all groups, and without groups nobody evaluates it. */
static chunk *
fraction_of(sorted_aggregate *aggregate)
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
			return agg_batch_percentile(batch, group, &(chunk_slice) {fraction_of(aggregate), 1, 0, NULL, 1},
										base->plan.result == SORTED_PERCENTILE_CONT, is_null);
	}
}

static void
prepare(group_aggregate *base, group_input *input)
{
	static const row_order arrival = {0, NULL};
	sorted_aggregate *aggregate = (sorted_aggregate *) base;

	base->input = input;
	base->rows = group_rows_in_order(input, base->filter, &arrival);
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
	return &aggregate->base;
}
