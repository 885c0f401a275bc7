/*
 * aggregate.c
 *		What the aggregates of MgpuGroup share: their columns, and the order of their rows.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "exec/aggregate.h"

row_order
group_order_of(const Aggref *aggref, const int *columns)
{
	List	   *clauses = group_sort_clauses(aggref);
	row_order	order = {0, palloc0(list_length(clauses) * sizeof(row_key) + 1)};
	ListCell   *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		const TargetEntry *entry = get_sortgroupclause_tle(clause, aggref->args);
		int			column = columns[entry->resno - 1];
		sort_order	direction = group_order_of_clause(aggref, clause);

		if (column >= 0)
			order.keys[order.num_keys++] = (row_key) {column, direction.descending, direction.nulls_first,
				exprCollation((Node *) entry->expr)};
	}
	return order;
}

group_aggregate *
group_aggregate_create(const group_aggregate_source *source, Size bytes)
{
	group_aggregate *aggregate = palloc0(bytes);
	int			num_columns = list_length(source->columns);

	aggregate->aggref = source->aggref;
	aggregate->plan = source->plan;
	aggregate->input = source->input;
	aggregate->prepare = group_prepare_rows;
	aggregate->filter = linitial_int(source->columns);
	aggregate->columns = palloc(num_columns * sizeof(int));
	for (int i = 1; i < num_columns; i++)
		aggregate->columns[i - 1] = list_nth_int(source->columns, i);
	aggregate->columns[num_columns - 1] = -1;
	return aggregate;
}

void
group_prepare_rows(group_aggregate *aggregate)
{
	aggregate->rows = group_rows_in_order(aggregate->input, aggregate->filter, &aggregate->order);
}
