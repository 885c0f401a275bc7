/*
 * aggregate.c
 *		What the aggregates of MgpuGroup share: their columns, and the order of their rows.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "query/custom_plan.h"

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

/* ---- may it be run? */

static Oid
owner_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The checks are those of PostgreSQL's Agg node, which MgpuGroup replaces. */
static void
check_permissions(const Aggref *aggref)
{
	AclResult	result = mgpu_function_aclcheck(aggref->aggfnoid, GetUserId());
	aggregate_functions functions = group_functions_of(aggref->aggfnoid);
	Oid			owner;

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(aggref->aggfnoid));
	InvokeFunctionExecuteHook(aggref->aggfnoid);
	owner = owner_of(aggref->aggfnoid);
	for (size_t i = 0; i < lengthof(functions.functions); i++)
		if (OidIsValid(functions.functions[i]))
			custom_plan_check_function(functions.functions[i], owner);
}

group_aggregate *
group_aggregate_start(const group_aggregate_source *source)
{
	check_permissions(source->aggref);
	switch (source->plan.way)
	{
		case GROUP_WAY_REDUCE:
			return group_reduce_create(source);
		case GROUP_WAY_SORT:
			return group_sorted_create(source);
		case GROUP_WAY_ARRAY:
			return group_array_create(source);
		case GROUP_WAY_FEED:
			return group_feed_create(source);
		default:
			elog(ERROR, "aggregate %u is not what it was planned as", source->aggref->aggfnoid);
	}
}
