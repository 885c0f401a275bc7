/*
 * sorted_aggregate.c
 *		The fraction of a percentile, for agg_sorted.c and agg_sorted_device.c.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "compat.h"
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
